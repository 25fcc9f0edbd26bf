use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use crate::Invalid;

/// Maximum length of a stored description, file name or OCR text, in characters; longer ones are cut.
pub const MAX_TEXT_CHARS: usize = 10_000;

/// Cleans text from a file for storage: trims it, replaces control characters other than line feeds with spaces
/// (Postgres cannot store NUL) and cuts it to [`MAX_TEXT_CHARS`]. `None` when nothing is left.
pub fn clean_text(text: &str) -> Option<String> {
    let cleaned: String = text
        .trim_matches(|c: char| c.is_whitespace() || c.is_control())
        .chars()
        .map(|c| if c.is_control() && c != '\n' { ' ' } else { c })
        .take(MAX_TEXT_CHARS)
        .collect();
    (!cleaned.is_empty()).then_some(cleaned)
}

/// A name in composed form (NFC), in which names are stored and compared. macOS decomposes letters.
pub fn composed(name: &str) -> Cow<'_, str> {
    match is_nfc_quick(name.chars()) {
        IsNormalized::Yes => Cow::Borrowed(name),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(name.nfc().collect()),
    }
}

/// Refuses NUL and other control characters in a parameter.
pub(crate) fn refuse_control(field: &'static str, text: &str) -> Result<(), Invalid> {
    if text.chars().any(char::is_control) {
        return Err(Invalid::new(field, "must not contain control characters"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cleaned_and_cut() {
        assert_eq!(clean_text("  a\0b\u{7}c \0"), Some("a b c".into()));
        assert_eq!(clean_text("\0 \t"), None);
        assert_eq!(clean_text(&"é".repeat(20_000)).map(|t| t.chars().count()), Some(MAX_TEXT_CHARS));
    }
}
