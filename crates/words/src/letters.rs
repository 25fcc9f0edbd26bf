//! Folds single characters.

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};

use crate::chars::is_accent;

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
