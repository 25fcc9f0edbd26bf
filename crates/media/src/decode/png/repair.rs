//! Turns a damaged PNG into a valid one, as a stream: the data that inflate, and zeros for those that are missing.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};

use flate2::{Decompress, FlushDecompress, Status};

use crate::container::png::{Chunks, passes};

/// Number of picture bytes in a chunk of the stream. Fits into a block without compression, whose length has 16 bits.
const CHUNK_BYTES: usize = 32 << 10;

/// The valid file. Its checksums are 0, and the decoder must ignore them.
pub(super) struct RepairedPng<'a> {
    /// What is read next.
    output: VecDeque<u8>,
    /// The rest of the compressed data in the current chunk, and the next chunks.
    input: &'a [u8],
    chunks: Chunks<'a>,
    inflate: Decompress,
    /// Rows of each pass that are not yet written, as their number and their length in bytes with the filter type.
    passes: VecDeque<(u32, usize)>,
    /// Number of bytes of the current row that are not yet written.
    left_in_row: usize,
    is_first: bool,
    /// Whether data are missing.
    pub(super) is_incomplete: bool,
    /// Whether a row had an unknown filter type.
    pub(super) had_unknown_filter: bool,
    /// Whether a palette or the list of its transparent colours was too long. That is no damage to the picture.
    pub(super) had_long_palette: bool,
}

impl<'a> RepairedPng<'a> {
    /// `None` if the header is missing or has unknown values.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let mut chunks = Chunks::new(bytes);
        let (b"IHDR", header) = chunks.next()? else { return None };
        let header = header.get(..13)?;
        let (depth, colour) = (*header.get(8)?, *header.get(9)?);
        let mut repaired = Self {
            output: b"\x89PNG\r\n\x1A\n".iter().copied().collect(),
            input: &[],
            chunks: chunks.clone(),
            inflate: Decompress::new(true),
            passes: passes(header)?.into(),
            left_in_row: 0,
            is_first: true,
            is_incomplete: false,
            had_unknown_filter: false,
            had_long_palette: false,
        };
        repaired.write_chunk(b"IHDR", header);
        let mut colours = 0;
        for (kind, data) in chunks.take_while(|(kind, _)| *kind != b"IDAT") {
            let lengths = match (kind, colour) {
                (b"PLTE", 3) => 3..=3 << depth.min(8),
                // A suggestion for other displays.
                (b"PLTE", _) => 3..=3 << 8,
                (b"tRNS", 3) => 1..=colours,
                (b"tRNS", 0) => 2..=2,
                (b"tRNS", 2) => 6..=6,
                _ => continue,
            };
            repaired.had_long_palette |= data.len() > *lengths.end();
            let data = data.get(..*lengths.end()).unwrap_or(data);
            if lengths.contains(&data.len()) {
                if kind == b"PLTE" {
                    colours = data.len() / 3;
                }
                let data = if kind == b"PLTE" { data.get(..colours * 3)? } else { data };
                repaired.write_chunk(kind.try_into().ok()?, data);
            }
        }
        Some(repaired)
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
        let is_last = self.left_in_row == 0 && self.passes.is_empty();
        let length = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        // RFC 1950: a window of 32 KiB. RFC 1951, 3.2.4: a block without compression.
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
                let Some((count, length)) = self.passes.front_mut() else { break };
                self.left_in_row = *length;
                *count -= 1;
                if *count == 0 {
                    self.passes.pop_front();
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
