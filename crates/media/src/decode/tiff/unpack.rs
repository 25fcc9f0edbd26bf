//! Decompresses chunks as a stream: PackBits, LZW, Deflate.

use flate2::{Decompress, FlushDecompress, Status};
use weezl::BitOrder;
use weezl::decode::{Configuration, Decoder};

use crate::container::tiff::Compression;
use crate::error::CUT_OFF;

/// Decompresses chunks and reuses its tables.
pub(super) enum Decompressor {
    Plain,
    PackBits(Run),
    Lzw(Box<Lzw>),
    Deflate(Decompress),
}

/// The rest of a run of PackBits (TIFF 6.0, section 9).
#[derive(Debug, Clone, Copy)]
pub(super) enum Run {
    Literal(usize),
    Repeat(usize, u8),
}

/// LZW as in TIFF 6.0 (section 13), and the variant before TIFF 5.0.
pub(super) struct Lzw {
    current: Decoder,
    /// The variant: least significant bit first, and codes become longer one step later.
    old: Decoder,
    is_old: bool,
}

impl Decompressor {
    pub(super) fn new(compression: Compression) -> Self {
        match compression {
            Compression::PackBits => Self::PackBits(Run::Literal(0)),
            Compression::Lzw => Self::Lzw(Box::new(Lzw {
                current: Configuration::with_tiff_size_switch(BitOrder::Msb, 8)
                    .with_yield_on_full_buffer(true)
                    .build(),
                old: Configuration::new(BitOrder::Lsb, 8).with_yield_on_full_buffer(true).build(),
                is_old: false,
            })),
            Compression::Deflate => Self::Deflate(Decompress::new(true)),
            // JPEG and fax chunks are decoded as a whole by other modules.
            Compression::None | Compression::Jpeg | Compression::Fax3(_) | Compression::Fax4 => Self::Plain,
        }
    }

    /// Starts a chunk.
    pub(super) fn restart(&mut self, chunk: &[u8]) {
        match self {
            Self::Plain => {}
            Self::PackBits(run) => *run = Run::Literal(0),
            Self::Lzw(lzw) => {
                // Each chunk starts with the code 256 in 9 bits, which shows the order of the bits.
                lzw.is_old = matches!(chunk, [0, second, ..] if second & 1 == 1);
                lzw.decoder().reset();
            }
            Self::Deflate(decompress) => decompress.reset(true),
        }
    }

    /// Fills a row from the front of `rest`.
    pub(super) fn fill(&mut self, rest: &mut &[u8], row: &mut [u8]) -> Result<(), String> {
        match self {
            Self::Plain => copy(rest, row),
            Self::PackBits(run) => run.fill(rest, row),
            Self::Lzw(lzw) => lzw.fill(rest, row),
            Self::Deflate(decompress) => inflate(decompress, rest, row),
        }
    }
}

/// Fills a row with uncompressed bytes.
pub(super) fn copy(rest: &mut &[u8], row: &mut [u8]) -> Result<(), String> {
    let (head, tail) = rest.split_at_checked(row.len()).ok_or(CUT_OFF)?;
    row.copy_from_slice(head);
    *rest = tail;
    Ok(())
}

impl Run {
    fn fill(&mut self, rest: &mut &[u8], mut row: &mut [u8]) -> Result<(), String> {
        while !row.is_empty() {
            let left = match *self {
                Self::Literal(left) | Self::Repeat(left, _) => left,
            };
            if left == 0 {
                *self = Self::next(rest).ok_or(CUT_OFF)?;
                continue;
            }
            let length = left.min(row.len());
            let (now, later) = row.split_at_mut(length);
            match self {
                Self::Literal(left) => {
                    copy(rest, now)?;
                    *left -= length;
                }
                Self::Repeat(left, byte) => {
                    now.fill(*byte);
                    *left -= length;
                }
            }
            row = later;
        }
        Ok(())
    }

    fn next(rest: &mut &[u8]) -> Option<Self> {
        let (head, tail) = rest.split_first()?;
        *rest = tail;
        match head {
            0..=127 => Some(Self::Literal(usize::from(*head) + 1)),
            // No operation.
            128 => Some(Self::Literal(0)),
            129..=255 => {
                let (byte, tail) = rest.split_first()?;
                *rest = tail;
                Some(Self::Repeat(257 - usize::from(*head), *byte))
            }
        }
    }
}

impl Lzw {
    fn decoder(&mut self) -> &mut Decoder {
        if self.is_old { &mut self.old } else { &mut self.current }
    }

    fn fill(&mut self, rest: &mut &[u8], mut row: &mut [u8]) -> Result<(), String> {
        while !row.is_empty() {
            let result = self.decoder().decode_bytes(rest, row);
            *rest = rest.get(result.consumed_in..).unwrap_or_default();
            row = row.get_mut(result.consumed_out..).unwrap_or_default();
            result.status.map_err(|_| "the LZW data are damaged")?;
            if result.consumed_in == 0 && result.consumed_out == 0 {
                return Err(CUT_OFF.into());
            }
        }
        Ok(())
    }
}

fn inflate(decompress: &mut Decompress, rest: &mut &[u8], mut row: &mut [u8]) -> Result<(), String> {
    while !row.is_empty() {
        let (read, written) = (decompress.total_in(), decompress.total_out());
        let status = decompress.decompress(rest, row, FlushDecompress::None);
        let progress = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(usize::MAX);
        let read = progress(decompress.total_in(), read);
        let written = progress(decompress.total_out(), written);
        *rest = rest.get(read..).unwrap_or_default();
        row = row.get_mut(written..).unwrap_or_default();
        let status = status.map_err(|_| "the Deflate data are damaged")?;
        let is_stuck = status == Status::StreamEnd || (read == 0 && written == 0);
        if is_stuck && !row.is_empty() {
            return Err(CUT_OFF.into());
        }
    }
    Ok(())
}
