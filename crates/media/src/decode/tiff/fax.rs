//! Fax: ITU-T T.4 (Group 3, in one dimension) and T.6 (Group 4). Black is 1.

use std::cell::Cell;
use std::convert::Infallible;
use std::iter;

use fax::decoder::{DecodeStatus, Group4Decoder};
use fax::maps::{black, white};
use fax::{BitReader, ByteReader};

use super::CUT_OFF;

/// Zeros behind the end, so that the last code can be looked up among longer ones.
const PADDING: usize = 4;

const DAMAGED: &str = "its fax data are damaged";

/// Rows of bits, as many as could be read, and what was wrong then.
type Unpacked = (Vec<u8>, Option<String>);

/// Unpacks Group 4.
pub(super) fn group_4(chunk: &[u8], width: u32, height: u32) -> Unpacked {
    // The decoder takes any number of changes in one row; a row of noise has less than a byte for each pixel.
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
                // The decoder takes half of the end mark for all of it, and looks no further ahead than the mark is
                // long; so what it took for one lies in the padding.
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

/// Unpacks Group 3 in one dimension. Each row begins behind a mark, or at a whole byte.
pub(super) fn group_3(chunk: &[u8], width: u32, height: u32, byte_aligned: bool) -> Unpacked {
    let feed = chunk.iter().chain(iter::repeat_n(&0, PADDING)).map(|byte| Ok::<_, Infallible>(*byte));
    let Ok(mut reader) = ByteReader::new(feed);
    let (mut rows, mut changes, mut damaged) = (Vec::new(), Vec::new(), None);
    for _ in 0..height {
        let read = if byte_aligned { Some(()) } else { pass_mark(&mut reader) };
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

/// Passes over the mark before a row, if there is one: at least eleven zeros and a one.
fn pass_mark(reader: &mut impl BitReader<Error = Infallible>) -> Option<()> {
    if reader.peek(11) == Some(0) {
        while reader.peek(1)? == 0 {
            let Ok(()) = reader.consume(1);
        }
        let Ok(()) = reader.consume(1);
    }
    Some(())
}

/// White and black in turns until the row is full. Gives where they change.
fn row_in_one_dimension(reader: &mut impl BitReader, width: u32, changes: &mut Vec<u32>) -> Option<()> {
    let (mut at, mut is_black) = (0_u32, false);
    while at < width {
        loop {
            let code = if is_black { black::decode(reader)? } else { white::decode(reader)? };
            at = at.checked_add(u32::from(code))?;
            // Longer runs come in several codes.
            if code < 64 {
                break;
            }
        }
        changes.push(at.min(width));
        is_black = !is_black;
        // Two empty runs in a row lead nowhere.
        if matches!(**changes, [.., a, b, c] if a == b && b == c) {
            return None;
        }
    }
    Some(())
}

fn row_bytes(width: u32) -> usize {
    usize::try_from(width.div_ceil(8)).unwrap_or(0)
}

/// Adds the white rows that some programs leave out, or that are lost.
fn fill_up(rows: &mut Vec<u8>, width: u32, height: u32) {
    rows.resize(row_bytes(width).saturating_mul(usize::try_from(height).unwrap_or(0)), 0);
}

/// Adds a row of bits, white to the first change, then black to the next.
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
        // Broken rows have changes that lead back.
        set_bits(row, from.max(done), to);
        done = to.max(done);
    }
}

/// Sets the bits from one place to before another.
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
