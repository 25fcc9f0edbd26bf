//! Turns a damaged PNG into a valid one, as a stream: the data that inflate, and zeros for those that are missing.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::RangeInclusive;

use flate2::{Decompress, FlushDecompress, Status};

use crate::container::png::{Chunks, Pass, passes};
use crate::pixels::Pixels;

/// Number of picture bytes in a chunk of the stream. Fits into a block without compression, whose length has 16 bits.
const CHUNK_BYTES: usize = 32 << 10;

/// A stream of the valid file. All checksums are 0, and the decoder must ignore them.
pub(super) struct RepairedPng<'a> {
    /// What is read next.
    output: VecDeque<u8>,
    /// The rest of the compressed data in the current chunk, and the next chunks.
    input: &'a [u8],
    chunks: Chunks<'a>,
    inflate: Decompress,
    passes: Vec<Pass>,
    /// The passes with rows that are not yet written. `rows` counts only these.
    left: VecDeque<Pass>,
    /// Number of bytes of the current row that are not yet written.
    left_in_row: usize,
    is_first: bool,
    /// Number of bytes in the rows that inflated.
    inflated: usize,
    /// Whether data are missing.
    pub(super) is_incomplete: bool,
    /// Whether a row had an unknown filter type.
    pub(super) had_unknown_filter: bool,
    /// Whether a palette or the list of its transparent colours was too long. That is no damage to the picture.
    pub(super) had_long_palette: bool,
}

impl<'a> RepairedPng<'a> {
    /// Writes everything before the picture data. `None` if the header is missing or has unknown values.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let mut chunks = Chunks::new(bytes);
        let (b"IHDR", header) = chunks.next()? else { return None };
        let header = header.get(..13)?;
        let (depth, colour) = (*header.get(8)?, *header.get(9)?);
        let passes = passes(header)?;
        let mut repaired = Self {
            output: b"\x89PNG\r\n\x1A\n".iter().copied().collect(),
            input: &[],
            chunks: chunks.clone(),
            inflate: Decompress::new(true),
            left: passes.clone().into(),
            passes,
            left_in_row: 0,
            is_first: true,
            inflated: 0,
            is_incomplete: false,
            had_unknown_filter: false,
            had_long_palette: false,
        };
        repaired.write_chunk(b"IHDR", header);
        // Only colour type 3 uses the palette for pixels. In other pictures, it is a suggestion for displays.
        let most_colours = if colour == 3 { 1 << depth.min(8) } else { 1 << 8 };
        let palette = repaired.write_first(b"PLTE", chunks.clone(), 3..=3 * most_colours);
        match colour {
            3 => repaired.write_first(b"tRNS", chunks, 1..=palette / 3),
            0 => repaired.write_first(b"tRNS", chunks, 2..=2),
            2 => repaired.write_first(b"tRNS", chunks, 6..=6),
            _ => 0,
        };
        Some(repaired)
    }

    /// Writes the first chunk of a kind that is before the picture data and long enough. Data beyond the maximum length are cut
    /// off. Returns the length of the written data, 0 if there is no such chunk.
    fn write_first(&mut self, kind: &[u8; 4], chunks: Chunks<'_>, lengths: RangeInclusive<usize>) -> usize {
        let mut before_data = chunks.take_while(|(kind, _)| *kind != b"IDAT");
        let found = before_data.find(|(found, data)| found == kind && data.len() >= *lengths.start());
        let Some((_, data)) = found.filter(|_| !lengths.is_empty()) else { return 0 };
        self.had_long_palette |= data.len() > *lengths.end();
        let data = data.get(..*lengths.end()).unwrap_or(data);
        let whole_colours = data.len() / 3 * 3;
        let data = if kind == b"PLTE" { data.get(..whole_colours).unwrap_or(data) } else { data };
        self.write_chunk(kind, data);
        data.len()
    }

    /// Fills the pixels of an interlaced picture that did not inflate. Each pixel gets the colour of the pixel of an earlier pass
    /// that covers it. Pixels of the first pass stay as they are.
    pub(super) fn fill_gaps(&self, pixels: &mut Pixels) {
        let mut left = self.inflated;
        for pass in &self.passes {
            for row in 0..pass.rows {
                let in_row = left.min(pass.row_bytes);
                left -= in_row;
                if in_row == pass.row_bytes {
                    continue;
                }
                // One byte is the filter type.
                let known = in_row.saturating_sub(1) * 8 / pass.bits_per_pixel.max(1);
                let y = pass.top + row * pass.down;
                let columns =
                    (pass.left..pixels.size.width).step_by(usize::try_from(pass.across).unwrap_or(1));
                for x in columns.skip(known) {
                    copy_pixel(pixels, (x - pass.left, y - pass.top), (x, y));
                }
            }
        }
    }

    fn write_chunk(&mut self, kind: &[u8; 4], data: &[u8]) {
        self.output.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
        self.output.extend(kind);
        self.output.extend(data);
        self.output.extend([0; 4]);
    }

    /// Writes the next rows, or the end.
    fn write_next(&mut self) {
        let rows = self.next_rows();
        if rows.is_empty() {
            return self.write_chunk(b"IEND", &[]);
        }
        let is_last = self.left_in_row == 0 && self.left.is_empty();
        let length = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        // The head declares a window of 32 KiB (RFC 1950). The block is not compressed (RFC 1951, 3.2.4).
        let head: &[u8] = if self.is_first { &[0x78, 0x01] } else { &[] };
        let tail: &[u8] = if is_last { &[0; 4] } else { &[] };
        let [l0, l1] = length.to_le_bytes();
        let block = [u8::from(is_last), l0, l1, !l0, !l1];
        self.is_first = false;
        self.write_chunk(b"IDAT", &[head, &block, &rows, tail].concat());
    }

    /// The next bytes of the rows, with valid filter types; empty at the end.
    fn next_rows(&mut self) -> Vec<u8> {
        let mut rows = vec![0; CHUNK_BYTES];
        let inflated = self.fill(&mut rows);
        let mut at = 0;
        while at < rows.len() {
            if self.left_in_row == 0 {
                let Some(pass) = self.left.front_mut() else { break };
                self.left_in_row = pass.row_bytes;
                pass.rows -= 1;
                if pass.rows == 0 {
                    self.left.pop_front();
                }
                if let Some(filter @ 5..) = rows.get_mut(at) {
                    *filter = 0;
                    self.had_unknown_filter = true;
                }
            }
            let length = self.left_in_row.min(rows.len() - at);
            self.left_in_row -= length;
            at += length;
        }
        self.is_incomplete |= at > inflated;
        self.inflated += at.min(inflated);
        rows.truncate(at);
        rows
    }

    /// Inflates up to the end of the buffer or of the readable data. Returns the number of bytes.
    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            if self.input.is_empty() {
                match self.chunks.by_ref().find(|(kind, _)| *kind == b"IDAT") {
                    Some((_, data)) => self.input = data,
                    None => break,
                }
            }
            let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(self.input, rest, FlushDecompress::None);
            let progress = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(usize::MAX);
            let read = progress(self.inflate.total_in(), read);
            let written = progress(self.inflate.total_out(), written);
            filled += written;
            self.input = self.input.get(read..).unwrap_or_default();
            let is_stuck = read == 0 && written == 0 && !self.input.is_empty();
            if is_stuck || !matches!(status, Ok(Status::Ok | Status::BufError)) {
                // Nothing can be read after an error.
                (self.input, self.chunks) = (&[], Chunks::new(&[]));
                break;
            }
        }
        filled
    }
}

/// Whether transparent colours come before the palette to which they belong. The decoder ignores them there.
pub(super) fn has_early_transparency(bytes: &[u8]) -> bool {
    let mut chunks = Chunks::new(bytes);
    let has_palette = chunks.next().is_some_and(|(_, header)| header.get(9) == Some(&3));
    let mut kinds = chunks.map(|(kind, _)| kind);
    has_palette && kinds.find(|kind| matches!(*kind, b"PLTE" | b"tRNS" | b"IDAT")) == Some(b"tRNS")
}

/// Copies a pixel to another place.
fn copy_pixel(pixels: &mut Pixels, from: (u32, u32), to: (u32, u32)) {
    let channels = pixels.layout.channels();
    let offset = |(x, y): (u32, u32)| {
        let place = u64::from(y) * u64::from(pixels.size.width) + u64::from(x);
        usize::try_from(place).unwrap_or(usize::MAX).saturating_mul(channels)
    };
    let (from, to) = (offset(from), offset(to));
    for channel in 0..channels {
        let Some(value) = pixels.bytes.get(from.saturating_add(channel)).copied() else { return };
        if let Some(target) = pixels.bytes.get_mut(to.saturating_add(channel)) {
            *target = value;
        }
    }
}

impl Read for RepairedPng<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.output.is_empty() {
            self.write_next();
        }
        self.output.read(buffer)
    }
}

impl Seek for RepairedPng<'_> {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
