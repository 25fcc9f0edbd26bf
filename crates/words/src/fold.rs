//! Folding: removes differences of letter case, accents, width and vowel points.

use unicode_normalization::{
    UnicodeNormalization as _,
    char::{canonical_combining_class, decompose_compatible},
};

use crate::chars::{Class, char_info, class, is_accent};

/// Folds a text and removes separators. Texts that differ only in letter case, accents, width, vowel points or separators
/// are equal after folding. Folding is idempotent.
///
/// ```
/// assert_eq!(words::fold("Ångström"), "angstrom");
/// assert_eq!(words::fold("STRASSE"), words::fold("straße"));
/// ```
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_word = false;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        let class = class(c);
        match class {
            Class::Gram => {
                length = cluster_length(rest);
                fold_cluster(rest.get(..length).unwrap_or_default(), &mut folded);
            }
            Class::Word => fold_char(c, &mut folded),
            // A mark without a letter is ignored, as in tokens.
            Class::Extend if in_word => fold_char(c, &mut folded),
            Class::Emoji => folded.push(c),
            Class::Extend | Class::Other => {}
        }
        in_word = class == Class::Word || class == Class::Extend && in_word;
        rest = rest.get(length..).unwrap_or_default();
    }
    folded
}

/// Appends a folded character of a script with spaces.
pub(crate) fn fold_char(c: char, folded: &mut String) {
    if c == '\u{306}' && folded.ends_with('и') {
        folded.pop();
        folded.push('й');
    } else if let Some(info) = char_info(c) {
        folded.push_str(info.folded());
    } else {
        compute_fold(c, folded);
    }
}

/// Folds a character without the table and without its context.
pub(crate) fn compute_fold(c: char, folded: &mut String) {
    // Independent letters, although Unicode decomposes them.
    match c {
        'й' | 'Й' => return folded.push('й'),
        '\u{E33}' | '\u{EB3}' | '\u{3131}'..='\u{318E}' => return folded.push(c),
        _ => {}
    }
    decompose_compatible(c, |part| {
        for lower in part.to_lowercase() {
            decompose_compatible(lower, |part| fold_letter(part, folded));
        }
    });
}

/// Appends a decomposed lower-case letter, or the letters that replace it.
fn fold_letter(c: char, folded: &mut String) {
    let replacement = match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'þ' => "th",
        'ð' | 'đ' => "d",
        'ł' => "l",
        'ħ' => "h",
        'ŧ' => "t",
        'ı' => "i",
        'ς' => "σ",
        // Arabic letters that people type interchangeably.
        'ى' | 'ی' => "ي",
        'ک' => "ك",
        'ة' => "ه",
        'ٱ' => "ا",
        'ـ' => "",
        _ => {
            if let Some(digit) = digit(c) {
                folded.push(digit);
            } else if !is_accent(c) && (c.is_alphanumeric() || canonical_combining_class(c) > 0) {
                folded.push(c);
            }
            return;
        }
    };
    folded.push_str(replacement);
}

/// The zeros of scripts with their own digits. The digits 1 to 9 follow each zero.
const ZEROS: [u32; 14] =
    [0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0, 0x17E0];

fn digit(c: char) -> Option<char> {
    let code = u32::from(c);
    ZEROS.iter().find_map(|zero| char::from_digit(code.checked_sub(*zero)?, 10))
}

/// The length in bytes of the first character with its marks.
pub(crate) fn cluster_length(text: &str) -> usize {
    let mut chars = text.char_indices();
    chars.next();
    chars.find(|(_, c)| class(*c) != Class::Extend).map_or(text.len(), |(at, _)| at)
}

/// The maximum number of characters in a cluster; further ones are ignored.
const MAX_CLUSTER: usize = 8;

/// Appends a folded character of a script without spaces, with its marks.
pub(crate) fn fold_cluster(cluster: &str, folded: &mut String) {
    let mut chars = cluster.chars();
    if let (Some(c), None) = (chars.next(), chars.next())
        && matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}')
    {
        folded.push(c);
        return;
    }
    let before = folded.len();
    for c in cluster.chars().take(MAX_CLUSTER) {
        fold_char(c, folded);
    }
    // Composes decomposed Hangul and marks of Kana.
    if folded
        .get(before..)
        .is_some_and(|added| added.starts_with(|c| c >= '\u{1100}') && added.chars().nth(1).is_some())
    {
        let parts = folded.split_off(before);
        folded.extend(parts.nfc());
    }
}
