//! TIFF, row by row: however it is packed and however wide its samples are, only the finished 8-bit picture is ever
//! whole in memory, and whatever could be read before an error is kept.
//!
//! The strips and tiles are found here and their rows are put together here; LZW, Deflate, fax and JPEG are undone by
//! the crates that know them.

mod fax;
mod jpeg;
mod lab;
mod samples;
mod unpack;

use std::borrow::Cow;

use self::samples::Rows;
use self::unpack::Unpacker;
use super::{Decoded, blank, salvage};
use crate::MediaError;
use crate::container::Header;
use crate::container::tiff::{Compression, Picture};
use crate::render::Pixels;

/// How much may be read in all, in lengths of the file. A real file has each byte in one strip; a hostile one may
/// have a million strips that are all the same bytes.
const MAX_PASSES: usize = 4;

const CUT_OFF: &str = "it is cut off";

pub(super) fn decode(bytes: &[u8], header: &Header) -> Result<Decoded, MediaError> {
    let picture = Picture::read(bytes)?;
    if picture.size != header.size {
        return Err(MediaError::Corrupt("its headers disagree about its size".into()));
    }
    let layout = picture.layout();
    let mut pixels = Pixels { size: picture.size, layout, bytes: blank(picture.size, layout.channels())? };
    let mut reading = Reading {
        rows: Rows::new(&picture)?,
        unpacker: Unpacker::new(picture.compression),
        allowance: bytes.len().saturating_mul(MAX_PASSES),
        damaged: None,
        file: bytes,
        picture: &picture,
    };
    reading.all_chunks(&mut pixels.bytes);
    let damaged = reading.damaged;
    samples::divide_by_alpha(&picture, &mut pixels.bytes);
    match damaged {
        None => Ok(Decoded { pixels, damaged: None }),
        Some(reason) => salvage(pixels, reason),
    }
}

/// A picture on the way into memory.
struct Reading<'a> {
    file: &'a [u8],
    picture: &'a Picture<'a>,
    rows: Rows<'a>,
    unpacker: Unpacker,
    /// How many more bytes of the file may be read.
    allowance: usize,
    /// What was wrong first.
    damaged: Option<String>,
}

impl Reading<'_> {
    fn all_chunks(&mut self, pixels: &mut [u8]) {
        let chunks = self.picture.chunks;
        for plane in 0..self.rows.planes() {
            for row in 0..chunks.down {
                for column in 0..chunks.across {
                    let compressed = self.picture.compression != Compression::None;
                    let Some(chunk) = chunks.get(self.file, (plane, row, column), compressed) else {
                        self.note(CUT_OFF);
                        return;
                    };
                    let chunk = chunk.get(..self.allowance).unwrap_or(chunk);
                    if let Err(reason) = self.chunk(chunk, (plane, row, column), pixels) {
                        self.note(&reason);
                    }
                }
            }
        }
    }

    fn note(&mut self, reason: &str) {
        self.damaged.get_or_insert_with(|| reason.to_owned());
    }

    /// Unpacks one strip or tile into its place.
    fn chunk(
        &mut self,
        chunk: &[u8],
        (plane, row, column): (usize, u32, u32),
        pixels: &mut [u8],
    ) -> Result<(), String> {
        if chunk.is_empty() {
            return Err(CUT_OFF.into());
        }
        let (size, picture) = (self.picture.chunks.size, self.picture);
        let (left, top) = (column.saturating_mul(size.width), row.saturating_mul(size.height));
        let height = picture.size.height.saturating_sub(top).min(size.height);
        let stored = if picture.lowest_bit_first {
            Cow::Owned(chunk.iter().map(|byte| byte.reverse_bits()).collect())
        } else {
            Cow::Borrowed(chunk)
        };
        let (unpacked, problem) = match picture.compression {
            Compression::Jpeg => jpeg::unpack(&stored, picture)?,
            Compression::Fax3 { byte_aligned } => fax::group_3(&stored, size.width, height, byte_aligned),
            Compression::Fax4 => fax::group_4(&stored, size.width, height),
            _ => {
                self.unpacker.restart(&stored);
                let mut rest = &*stored;
                let unpacker = &mut self.unpacker;
                let read = self
                    .rows
                    .put_all(plane, (left, top, height), pixels, |row| unpacker.fill(&mut rest, row));
                let read_bytes =
                    if picture.lowest_bit_first { chunk.len() } else { chunk.len() - rest.len() };
                self.allowance = self.allowance.saturating_sub(read_bytes);
                return read;
            }
        };
        self.allowance = self.allowance.saturating_sub(chunk.len());
        let mut rest = unpacked.as_slice();
        let read = self.rows.put_all(plane, (left, top, height), pixels, |row| unpack::copy(&mut rest, row));
        problem.map_or(read, Err)
    }
}

#[cfg(test)]
mod tests;
