//! Decodes text in files that do not say how it is encoded.

/// Valid UTF-8 is read as such, other text as Windows-1252, which contains Latin-1.
pub(crate) fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().copied().map(windows_1252).collect(),
    }
}

fn windows_1252(byte: u8) -> char {
    /// The characters 0x80 to 0x9F. Unassigned ones are the control characters of Latin-1.
    const LETTERS: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
    ];
    let index = byte.checked_sub(0x80).map(usize::from);
    index.and_then(|index| LETTERS.get(index)).copied().unwrap_or(char::from(byte))
}
