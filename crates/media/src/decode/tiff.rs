//! Decodes TIFF row by row. Only the final 8-bit picture is in memory as a whole, and the rows before an error are kept.
//!
//! This module finds the strips and tiles and assembles their rows. LZW, Deflate, fax and JPEG are decoded by other
//! crates.

mod fax;
mod jpeg;
mod lab;
mod samples;
mod unpack;

use std::borrow::Cow;

use self::samples::RowWriter;
use self::unpack::Decompressor;
use super::{Decoded, salvage};
use crate::MediaError;
use crate::container::tiff::{Compression, TiffImage};
use crate::error::CUT_OFF;
use crate::pixels::{Pixels, zeroed};

/// Maximum number of bytes to read, as a multiple of the file's length. Each byte of a real file belongs to one strip. A
/// hostile file may have a million strips with the same bytes.
const MAX_PASSES: usize = 4;

pub(super) fn decode(bytes: &[u8], picture: &TiffImage<'_>) -> Result<Decoded, MediaError> {
    let layout = picture.layout();
    let mut pixels = Pixels { size: picture.size, layout, bytes: zeroed(picture.size, layout.channels())? };
    let mut decoder = TiffDecoder {
        rows: RowWriter::new(picture)?,
        decompressor: Decompressor::new(picture.compression),
        allowance: bytes.len().saturating_mul(MAX_PASSES),
        damaged: None,
        has_fax_row: false,
        file: bytes,
        picture,
    };
    decoder.read_chunks(&mut pixels.bytes);
    let (damaged, has_fax_row) = (decoder.damaged, decoder.has_fax_row);
    samples::divide_by_alpha(picture, &mut pixels.bytes);
    match damaged {
        None => Ok(Decoded { pixels, damaged: None }),
        // A blank page has only one colour, so `salvage` would refuse it.
        Some(_) if has_fax_row => Ok(Decoded { pixels, damaged }),
        Some(reason) => salvage(pixels, reason),
    }
}

struct TiffDecoder<'a> {
    file: &'a [u8],
    picture: &'a TiffImage<'a>,
    rows: RowWriter<'a>,
    decompressor: Decompressor,
    /// Number of bytes that may still be read.
    allowance: usize,
    /// The first error.
    damaged: Option<String>,
    /// Whether a row of a Group 3 fax was whole.
    has_fax_row: bool,
}

impl TiffDecoder<'_> {
    fn read_chunks(&mut self, pixels: &mut [u8]) {
        let chunks = self.picture.chunks;
        for plane in 0..self.rows.planes() {
            for row in 0..chunks.down {
                for column in 0..chunks.across {
                    let compressed = self.picture.compression != Compression::None;
                    let Some(chunk) = chunks.get(self.file, (plane, row, column), compressed) else {
                        self.record_damage(CUT_OFF);
                        return;
                    };
                    let chunk = chunk.get(..self.allowance).unwrap_or(chunk);
                    if let Err(reason) = self.read_chunk(chunk, (plane, row, column), pixels) {
                        self.record_damage(&reason);
                    }
                }
            }
        }
    }

    fn record_damage(&mut self, reason: &str) {
        self.damaged.get_or_insert_with(|| reason.to_owned());
    }

    /// Decodes a strip or tile into its position.
    fn read_chunk(
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
        let (unpacked, damage) = match picture.compression {
            Compression::Jpeg => jpeg::unpack(&stored, picture, height)?,
            Compression::Fax3(kind) => {
                let (unpacked, has_whole_row) = fax::group_3(&stored, size.width, height, kind);
                self.has_fax_row |= has_whole_row;
                unpacked
            }
            Compression::Fax4 => fax::group_4(&stored, size.width, height),
            _ => {
                self.decompressor.restart(&stored);
                let mut rest = &*stored;
                let decompressor = &mut self.decompressor;
                let read = self
                    .rows
                    .write_chunk(plane, (left, top, height), pixels, |row| decompressor.fill(&mut rest, row));
                let read_bytes =
                    if picture.lowest_bit_first { chunk.len() } else { chunk.len() - rest.len() };
                self.allowance = self.allowance.saturating_sub(read_bytes);
                return read;
            }
        };
        self.allowance = self.allowance.saturating_sub(chunk.len());
        let mut rest = unpacked.as_slice();
        let read =
            self.rows.write_chunk(plane, (left, top, height), pixels, |row| unpack::copy(&mut rest, row));
        damage.map_or(read, Err)
    }
}

#[cfg(test)]
mod tests;
