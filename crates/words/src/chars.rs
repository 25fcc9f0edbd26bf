//! Character classes of the tokenizer.

use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A letter or digit of a script with spaces between words.
    Word,
    /// A character of a script without spaces between words.
    Gram,
    /// A mark that belongs to the character before it.
    Extend,
    /// A token of its own.
    Emoji,
    Other,
}

/// The class of a character, without the table.
pub(crate) fn compute_class(c: char) -> Class {
    if matches!(c, '\u{FFA0}'..='\u{FFDC}') {
        // Half-width Hangul, which is not used in practice.
        Class::Other
    } else if is_combining_mark(c) || is_ignorable(c) || is_late_jamo(c) {
        Class::Extend
    } else if is_without_spaces(c) {
        if c.is_alphanumeric() { Class::Gram } else { Class::Other }
    } else if is_emoji(c) {
        Class::Emoji
    } else if c.is_alphanumeric() {
        Class::Word
    } else {
        Class::Other
    }
}

/// Invisible characters (soft hyphen, joiners, direction marks, variation selectors), skin tones, and the marks in Hebrew
/// abbreviations.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{5F3}' | '\u{5F4}' | '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{E0020}'..='\u{E007F}'
        | '\u{E0100}'..='\u{E01EF}')
}

/// Decomposed vowels and finals of Hangul, and the voicing marks of half-width Kana.
fn is_late_jamo(c: char) -> bool {
    matches!(c, '\u{1160}'..='\u{11FF}' | '\u{D7B0}'..='\u{D7FF}' | '\u{FF9E}' | '\u{FF9F}')
}

/// Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, Han, Kana, Bopomofo; and Hangul, because its words are
/// compounds.
fn is_without_spaces(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1100}'..='\u{11FF}' | '\u{1780}'..='\u{17FF}'
        | '\u{1950}'..='\u{1AAF}' | '\u{2E80}'..='\u{2FDF}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3031}'..='\u{303C}' | '\u{3040}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}' | '\u{A9E0}'..='\u{A9FF}' | '\u{AA60}'..='\u{AA7F}' | '\u{AC00}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}' | '\u{16FE0}'..='\u{18DFF}' | '\u{1AFF0}'..='\u{1B2FF}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// Emoji, and symbols that are displayed as emoji.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{2300}'..='\u{23FF}' | '\u{2600}'..='\u{27BF}' | '\u{2934}' | '\u{2935}' | '\u{2B05}'..='\u{2B07}'
        | '\u{2B1B}' | '\u{2B1C}' | '\u{2B50}' | '\u{2B55}' | '\u{3030}' | '\u{303D}'
        | '\u{1F000}'..='\u{1F0FF}' | '\u{1F18E}' | '\u{1F191}'..='\u{1F1FF}' | '\u{1F200}'..='\u{1FAFF}')
}

/// A regional indicator; two of them form a flag.
pub(crate) fn is_regional_indicator(c: char) -> bool {
    matches!(c, '\u{1F1E6}'..='\u{1F1FF}')
}

/// Whether a mark is ignored, because people leave it out when they search: accents of Latin, Greek and Cyrillic, points of
/// Hebrew and Arabic. Marks that change the word are kept: vowel signs, viramas, nuktas, tones of Thai, voicing of Kana.
/// Decided by the canonical combining class (UAX #44, section 5.7.4).
pub(crate) fn is_accent(c: char) -> bool {
    matches!(canonical_combining_class(c), 1..=6 | 10..=36 | 200..=240)
}

pub(crate) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2BC}' | '\u{FF07}')
}

pub(crate) fn has_hiragana(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3041}'..='\u{309F}'))
}

/// Whether a character can be part of a Hiragana word.
pub(crate) fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309F}' | '\u{30FC}')
}
