//! Decodes fax: ITU-T T.4 (Group 3) and T.6 (Group 4). Black is 1.

use std::cell::Cell;
use std::convert::Infallible;
use std::{iter, mem};

use fax::decoder::{DecodeStatus, Group4Decoder};
use fax::maps::{Mode, black, mode, white};
use fax::{BitReader, ByteReader};

use crate::container::tiff::Fax3;
use crate::error::CUT_OFF;

/// Number of zero bytes that are added after the end, because the decoder looks ahead for longer codes at the last code.
const PADDING: usize = 4;

const DAMAGED: &str = "the fax data are damaged";

/// The readable rows of bits, and the error after them.
type Unpacked = (Vec<u8>, Option<String>);

/// Decodes Group 4.
pub(super) fn group_4(chunk: &[u8], width: u32, height: u32) -> Unpacked {
    // Limits the input of a row, because the decoder accepts any number of changes in a row. Even a row of noise has less than a
    // byte for each pixel.
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

/// Decodes Group 3. After a row that ends too early, decoding continues at the next end-of-line code. Also returns whether
/// any row was whole.
pub(super) fn group_3(chunk: &[u8], width: u32, height: u32, kind: Fax3) -> (Unpacked, bool) {
    let feed = chunk.iter().chain(iter::repeat_n(&0, PADDING)).map(|byte| Ok::<_, Infallible>(*byte));
    let Ok(mut reader) = ByteReader::new(feed);
    let (mut rows, mut damaged, mut has_whole_row) = (Vec::new(), None, false);
    let (mut before, mut changes) = (Vec::new(), Vec::new());
    for _ in 0..height {
        let is_at_row = match kind {
            Fax3::Plain => skip_end_of_line(&mut reader),
            Fax3::ByteAligned => Some(()),
            // The code is followed by the dimensions of the row.
            Fax3::TwoDimensional => skip_to_end_of_line(&mut reader),
        };
        if is_at_row.is_none() || reader.peek(1).is_none() {
            damaged = Some(CUT_OFF.to_owned());
            break;
        }
        mem::swap(&mut before, &mut changes);
        changes.clear();
        let is_two_dimensional = kind == Fax3::TwoDimensional && {
            let is_one_dimensional = reader.peek(1) == Some(1);
            let Ok(()) = reader.consume(1);
            !is_one_dimensional
        };
        let read = if is_two_dimensional {
            row_in_two_dimensions(&mut reader, width, &before, &mut changes)
        } else {
            row_in_one_dimension(&mut reader, width, &mut changes)
        };
        has_whole_row |= read.is_some();
        if read.is_none() {
            damaged.get_or_insert_with(|| DAMAGED.to_owned());
            // The rest of the row is white.
            changes.truncate(changes.len() / 2 * 2);
        }
        push_row(&mut rows, &changes, width);
        match (read, kind) {
            (None, Fax3::ByteAligned) => break,
            (None, Fax3::Plain) if seek_end_of_line(&mut reader).is_none() => break,
            (_, Fax3::ByteAligned) => {
                let Ok(()) = reader.consume(reader.bits_to_byte_boundary());
            }
            _ => {}
        }
    }
    fill_up(&mut rows, width, height);
    ((rows, damaged), has_whole_row)
}

/// Skips the end-of-line code before a row, if there is one: at least eleven zeros and a one.
fn skip_end_of_line(reader: &mut impl BitReader<Error = Infallible>) -> Option<()> {
    if is_at_end_of_line(reader) { skip_to_end_of_line(reader) } else { Some(()) }
}

/// Skips everything up to and including the next end-of-line code.
fn skip_to_end_of_line(reader: &mut impl BitReader<Error = Infallible>) -> Option<()> {
    seek_end_of_line(reader)?;
    while reader.peek(1)? == 0 {
        let Ok(()) = reader.consume(1);
    }
    let Ok(()) = reader.consume(1);
    Some(())
}

/// Skips everything before the next end-of-line code.
fn seek_end_of_line(reader: &mut impl BitReader<Error = Infallible>) -> Option<()> {
    while reader.peek(11)? != 0 {
        let Ok(()) = reader.consume(1);
    }
    Some(())
}

/// Whether an end-of-line code follows. This must be checked before each code, because decoding would consume a part of the
/// end-of-line code.
fn is_at_end_of_line(reader: &impl BitReader) -> bool {
    reader.peek(11) == Some(0)
}

/// Reads a run, of one or several codes.
fn run(reader: &mut impl BitReader, is_black: bool) -> Option<u32> {
    let mut length = 0_u32;
    loop {
        if is_at_end_of_line(reader) {
            return None;
        }
        let code = if is_black { black::decode(reader)? } else { white::decode(reader)? };
        length = length.checked_add(u32::from(code))?;
        if code < 64 {
            return Some(length);
        }
    }
}

/// Reads the positions of the colour changes in a row, which starts with white.
fn row_in_one_dimension(reader: &mut impl BitReader, width: u32, changes: &mut Vec<u32>) -> Option<()> {
    let (mut at, mut is_black) = (0_u32, false);
    while at < width {
        at = at.checked_add(run(reader, is_black)?)?;
        changes.push(at.min(width));
        is_black = !is_black;
        // Two empty runs make no progress.
        if matches!(**changes, [.., a, b, c] if a == b && b == c) {
            return None;
        }
    }
    Some(())
}

/// Reads the positions of the colour changes in a row that refers to the row before it (T.4, 4.2).
fn row_in_two_dimensions(
    reader: &mut impl BitReader,
    width: u32,
    before: &[u32],
    changes: &mut Vec<u32>,
) -> Option<()> {
    // `at` is `None` before the first pixel.
    let (mut at, mut is_black) = (None, false);
    let mut next_before = 0;
    while at.is_none_or(|at| at < width) {
        // Finds the next change in the row above. `opposite` is the next change to the colour opposite to the current one.
        while before.get(next_before).is_some_and(|change| at.is_some_and(|at| *change <= at)) {
            next_before += 1;
        }
        let opposite = next_before + usize::from((next_before % 2 == 1) != is_black);
        let change_before = |place: usize| before.get(place).copied().unwrap_or(width);
        if is_at_end_of_line(reader) {
            return None;
        }
        match mode::decode(reader)? {
            Mode::Pass => at = Some(change_before(opposite + 1)),
            Mode::Horizontal => {
                for is_black in [is_black, !is_black] {
                    let end = at.unwrap_or(0).checked_add(run(reader, is_black)?)?.min(width);
                    changes.push(end);
                    at = Some(end);
                }
            }
            Mode::Vertical(offset) => {
                let change = change_before(opposite).checked_add_signed(i32::from(offset))?.min(width);
                if at.is_some_and(|at| change <= at) {
                    return None;
                }
                changes.push(change);
                at = Some(change);
                is_black = !is_black;
            }
            Mode::Extension | Mode::EOF => return None,
        }
        // Empty runs make no progress.
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
