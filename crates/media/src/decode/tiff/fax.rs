//! Decodes fax: ITU-T T.4 (Group 3, one dimension) and T.6 (Group 4). Black is 1.

use std::cell::Cell;
use std::convert::Infallible;
use std::iter;

use fax::decoder::{DecodeStatus, Group4Decoder};
use fax::maps::{black, white};
use fax::{BitReader, ByteReader};

use crate::error::CUT_OFF;

/// Zero bytes after the end, because the decoder looks up the last code among longer ones.
const PADDING: usize = 4;

const DAMAGED: &str = "the fax data are damaged";

/// The readable rows of bits, and the error after them.
type Unpacked = (Vec<u8>, Option<String>);

/// Decodes Group 4.
pub(super) fn group_4(chunk: &[u8], width: u32, height: u32) -> Unpacked {
    // The decoder accepts any number of changes in a row. A row of noise has less than a byte for each pixel.
    let most_in_row = usize::try_from(width).unwrap_or(usize::MAX).saturating_add(64);
    let left_in_row = Cell::new(most_in_row);
    let padding_used = Cell::new(0);
    let padding = iter::repeat_n(&0, PADDING).inspect(|_| padding_used.set(padding_used.get() + 1));
    let feed = chunk.iter().chain(padding).map_while(|byte| {
        left_in_row.set(left_in_row.get().checked_sub(1)?);
        Some(Ok::<_, Infallible>(*byte))
    });
    let Ok(mut decoder) = Group4Decoder::new(feed, width);
    let (mut rows, mut damaged) = (Vec::new(), None);
    for _ in 0..height {
        left_in_row.set(most_in_row);
        match decoder.advance() {
            Ok(DecodeStatus::Incomplete) => push_row(&mut rows, decoder.transition(), width),
            Ok(DecodeStatus::End) => {
                // The decoder accepts half of an end mark. If it read padding, the mark is not in the file.
                damaged = (padding_used.get() > 2).then(|| CUT_OFF.to_owned());
                break;
            }
            Err(_) => {
                damaged = Some(DAMAGED.to_owned());
                break;
            }
        }
    }
    fill_up(&mut rows, width, height);
    (rows, damaged)
}

/// Decodes Group 3 in one dimension. Each row starts after an end-of-line code, or at a byte.
pub(super) fn group_3(chunk: &[u8], width: u32, height: u32, byte_aligned: bool) -> Unpacked {
    let feed = chunk.iter().chain(iter::repeat_n(&0, PADDING)).map(|byte| Ok::<_, Infallible>(*byte));
    let Ok(mut reader) = ByteReader::new(feed);
    let (mut rows, mut changes, mut damaged) = (Vec::new(), Vec::new(), None);
    for _ in 0..height {
        let read = if byte_aligned { Some(()) } else { skip_end_of_line(&mut reader) };
        changes.clear();
        if read.and_then(|()| row_in_one_dimension(&mut reader, width, &mut changes)).is_none() {
            damaged = Some(if reader.peek(1).is_none() { CUT_OFF } else { DAMAGED }.to_owned());
            break;
        }
        push_row(&mut rows, &changes, width);
        if byte_aligned {
            let Ok(()) = reader.consume(reader.bits_to_byte_boundary());
        }
    }
    fill_up(&mut rows, width, height);
    (rows, damaged)
}

/// Skips the end-of-line code before a row, if there is one: at least eleven zeros and a one.
fn skip_end_of_line(reader: &mut impl BitReader<Error = Infallible>) -> Option<()> {
    if reader.peek(11) == Some(0) {
        while reader.peek(1)? == 0 {
            let Ok(()) = reader.consume(1);
        }
        let Ok(()) = reader.consume(1);
    }
    Some(())
}

/// Reads the positions of the colour changes in a row, which starts with white.
fn row_in_one_dimension(reader: &mut impl BitReader, width: u32, changes: &mut Vec<u32>) -> Option<()> {
    let (mut at, mut is_black) = (0_u32, false);
    while at < width {
        loop {
            let code = if is_black { black::decode(reader)? } else { white::decode(reader)? };
            at = at.checked_add(u32::from(code))?;
            // Longer runs consist of several codes.
            if code < 64 {
                break;
            }
        }
        changes.push(at.min(width));
        is_black = !is_black;
        // Two empty runs make no progress.
        if matches!(**changes, [.., a, b, c] if a == b && b == c) {
            return None;
        }
    }
    Some(())
}

fn row_bytes(width: u32) -> usize {
    usize::try_from(width.div_ceil(8)).unwrap_or(0)
}

/// Adds white rows for missing ones.
fn fill_up(rows: &mut Vec<u8>, width: u32, height: u32) {
    rows.resize(row_bytes(width).saturating_mul(usize::try_from(height).unwrap_or(0)), 0);
}

/// Adds a row of bits: white up to the first change, then black up to the next.
fn push_row(rows: &mut Vec<u8>, changes: &[u32], width: u32) {
    let start = rows.len();
    rows.resize(start + row_bytes(width), 0);
    let row = rows.get_mut(start..).unwrap_or_default();
    let mut done = 0;
    for ends in changes.chunks(2) {
        let (from, to) = match *ends {
            [from, to] => (from, to.min(width)),
            [from] => (from, width),
            _ => continue,
        };
        // In broken rows, changes may go backwards.
        set_bits(row, from.max(done), to);
        done = to.max(done);
    }
}

/// Sets the bits from `from` up to `to`, exclusive.
fn set_bits(row: &mut [u8], from: u32, to: u32) {
    let mut at = from;
    while at < to {
        let start = at / 8 * 8;
        let byte = usize::try_from(at / 8).ok().and_then(|place| row.get_mut(place));
        let Some(byte) = byte else { return };
        *byte |= (0xFF >> (at - start)) & 0xFF_u8.unbounded_shl(8_u32.saturating_sub(to - start));
        at = start + 8;
    }
}
