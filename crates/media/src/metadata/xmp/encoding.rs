//! Decodes the text of an XMP packet: UTF-8, UTF-16 or UTF-32 (XMP specification, part 3, section 1.1.1).

use std::borrow::Cow;

use crate::text;

/// Decodes the packet. The byte order mark decides the encoding, else the zero bytes in the first character. Text that
/// is not valid UTF-8 is read as Windows-1252; broken characters of the other encodings become U+FFFD.
pub(super) fn decode(packet: &[u8]) -> Cow<'_, str> {
    match packet {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8_or_windows_1252(rest),
        [0xFF, 0xFE, 0, 0, rest @ ..] => utf32(rest, u32::from_le_bytes),
        [0, 0, 0xFE, 0xFF, rest @ ..] => utf32(rest, u32::from_be_bytes),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [1..=0xFF, 0, 0, 0, ..] => utf32(packet, u32::from_le_bytes),
        [0, 0, 0, 1..=0xFF, ..] => utf32(packet, u32::from_be_bytes),
        [1..=0xFF, 0, ..] => utf16(packet, u16::from_le_bytes),
        [0, 1..=0xFF, ..] => utf16(packet, u16::from_be_bytes),
        _ => utf8_or_windows_1252(packet),
    }
}

fn utf8_or_windows_1252(text: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(text) {
        Ok(text) => text.into(),
        // Cut off within the last character.
        Err(error) if error.error_len().is_none() => String::from_utf8_lossy(text),
        Err(_) => text::decode(text).into(),
    }
}

fn utf16(text: &[u8], unit: fn([u8; 2]) -> u16) -> Cow<'_, str> {
    let (pairs, _) = text.as_chunks::<2>();
    let characters = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)));
    characters.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into()
}

fn utf32(text: &[u8], unit: fn([u8; 4]) -> u32) -> Cow<'_, str> {
    let (quads, _) = text.as_chunks::<4>();
    let character = |quad: &[u8; 4]| char::from_u32(unit(*quad)).unwrap_or(char::REPLACEMENT_CHARACTER);
    quads.iter().map(character).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "<x>Zürich 東京 🌊</x>";

    #[test]
    fn every_encoding_is_read_with_and_without_its_mark() {
        let sixteen =
            |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> { TEXT.encode_utf16().flat_map(bytes).collect() };
        let thirty_two =
            |bytes: fn(u32) -> [u8; 4]| -> Vec<u8> { TEXT.chars().map(u32::from).flat_map(bytes).collect() };
        for (mark, text) in [
            (&b"\xEF\xBB\xBF"[..], TEXT.as_bytes().to_vec()),
            (b"\xFF\xFE", sixteen(u16::to_le_bytes)),
            (b"\xFE\xFF", sixteen(u16::to_be_bytes)),
            (b"\xFF\xFE\0\0", thirty_two(u32::to_le_bytes)),
            (b"\0\0\xFE\xFF", thirty_two(u32::to_be_bytes)),
        ] {
            assert_eq!(decode(&text), TEXT, "without {mark:?}");
            assert_eq!(decode(&[mark, &text].concat()), TEXT, "with {mark:?}");
        }
    }

    #[test]
    fn broken_text_is_read_as_far_as_possible() {
        assert_eq!(decode(b"<x>Z\xFCrich"), "<x>Zürich");
        assert_eq!(decode(b"<x>Grandma\x92s house \x96 10 \x80"), "<x>Grandma’s house – 10 €");
        assert_eq!(decode(b"<x>Z\xC3"), "<x>Z\u{FFFD}");
        assert_eq!(decode(b"<\0x\0\0\xD8>\0y"), "<x\u{FFFD}>");
        assert_eq!(decode(b"<\0\0\0\0\0\x11\0"), "<\u{FFFD}");
        assert_eq!(decode(b""), "");
        assert_eq!(decode(b"\0"), "\0");
    }
}
