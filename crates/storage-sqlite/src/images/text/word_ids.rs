//! The numbers of an image's words as they are stored.

use words::Occurrence;

/// Writes the numbers of an image's words, which are in ascending order: of each the distance from the one before it
/// and two bits that say where it stands, seven bits a byte with the lowest first.
pub(super) fn write(numbers: &[(i64, Occurrence)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len() * 2);
    let mut before = 0;
    for &(number, stands) in numbers {
        let distance = u64::try_from(number.saturating_sub(before)).unwrap_or(0);
        before = number;
        let flags = u64::from(stands.in_content) | u64::from(stands.in_context) << 1;
        let mut left = distance << 2 | flags;
        loop {
            let [low, ..] = left.to_le_bytes();
            left >>= 7;
            if left == 0 {
                bytes.push(low & 0x7F);
                break;
            }
            bytes.push(low | 0x80);
        }
    }
    bytes
}

/// Reads what [`write`] wrote. What is cut off is left out.
pub(super) fn read(bytes: &[u8]) -> impl Iterator<Item = (i64, Occurrence)> + '_ {
    let mut bytes = bytes.iter();
    let mut before = 0_i64;
    std::iter::from_fn(move || {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = *bytes.next()?;
            value |= u64::from(byte & 0x7F).checked_shl(shift)?;
            if byte < 0x80 {
                break;
            }
            shift += 7;
        }
        before = before.checked_add_unsigned(value >> 2)?;
        Some((before, Occurrence { in_content: value & 1 != 0, in_context: value & 2 != 0 }))
    })
}

/// The names under which a word's postings are kept.
pub(super) fn posting(kind: char, number: i64) -> String {
    let mut digits = Vec::new();
    let mut left = number.unsigned_abs();
    loop {
        let digit = u32::try_from(left % 36).unwrap_or(0);
        digits.extend(char::from_digit(digit, 36));
        left /= 36;
        if left == 0 {
            break;
        }
    }
    digits.push(kind);
    digits.iter().rev().collect()
}

/// Of words in description and OCR text.
pub(super) const CONTENT: char = 'c';

/// Of words in place and file name.
pub(super) const CONTEXT: char = 'x';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let stands = |in_content, in_context| Occurrence { in_content, in_context };
        let numbers = [
            (1, stands(true, false)),
            (2, stands(true, true)),
            (130, stands(false, true)),
            (99_999, stands(true, false)),
            (1 << 40, stands(false, true)),
        ];
        let bytes = write(&numbers);
        assert_eq!(read(&bytes).collect::<Vec<_>>(), numbers);
        assert_eq!(read(&bytes[..2]).collect::<Vec<_>>(), numbers[..2]);
        assert_eq!(read(&[0x80]).count(), 0);
        assert_eq!(read(&[0xFF; 30]).count(), 0);
        assert!(write(&[]).is_empty());
    }

    #[test]
    fn postings_are_short_names() {
        assert_eq!(posting(CONTENT, 0), "c0");
        assert_eq!(posting(CONTEXT, 36), "x10");
        assert_eq!(posting(CONTENT, 1_000_000), "clfls");
    }
}
