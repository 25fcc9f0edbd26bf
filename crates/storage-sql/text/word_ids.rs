//! The stored form of the ids of an image's words.

use words::Occurrence;

/// Encodes ids in ascending order: for each a varint (LEB128) of the difference to the previous id, shifted left by
/// two bits that hold the occurrence.
pub(crate) fn write(words: &[(i64, Occurrence)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(words.len() * 2);
    let mut previous = 0;
    for &(id, occurrence) in words {
        let difference = u64::try_from(id.saturating_sub(previous)).unwrap_or(0);
        previous = id;
        let flags = u64::from(occurrence.in_content) | u64::from(occurrence.in_context) << 1;
        let mut left = difference << 2 | flags;
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

/// Decodes the output of [`write`]. An incomplete last id is left out.
pub(super) fn read(bytes: &[u8]) -> impl Iterator<Item = (i64, Occurrence)> + '_ {
    let mut bytes = bytes.iter();
    let mut previous = 0_i64;
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
        previous = previous.checked_add_unsigned(value >> 2)?;
        Some((previous, Occurrence { in_content: value & 1 != 0, in_context: value & 2 != 0 }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_round_trip() {
        let occurrence = |in_content, in_context| Occurrence { in_content, in_context };
        let words = [
            (1, occurrence(true, false)),
            (2, occurrence(true, true)),
            (130, occurrence(false, true)),
            (99_999, occurrence(true, false)),
            (1 << 40, occurrence(false, true)),
        ];
        let bytes = write(&words);
        assert_eq!(read(&bytes).collect::<Vec<_>>(), words);
        assert_eq!(read(&bytes[..2]).collect::<Vec<_>>(), words[..2]);
        assert_eq!(read(&[0x80]).count(), 0);
        assert_eq!(read(&[0xFF; 30]).count(), 0);
        assert!(write(&[]).is_empty());
    }
}
