use std::borrow::Cow;

use crate::composed;

/// Minimum length of a new password, in characters.
pub const MIN_PASSWORD_CHARS: usize = 10;

/// The password is shorter than [`MIN_PASSWORD_CHARS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("The password must have at least {MIN_PASSWORD_CHARS} characters.")]
pub struct PasswordTooShort;

/// The form in which a password is hashed, the profile `OpaqueString` of RFC 8265: composed (NFC), and with plain spaces.
/// Keyboards and systems differ in how they compose the same characters.
pub fn normalized_password(password: &str) -> Cow<'_, str> {
    if !password.contains(is_other_space) {
        return composed(password);
    }
    Cow::Owned(composed(&password.replace(is_other_space, " ")).into_owned())
}

/// Whether a character is a space (Unicode's category Zs) other than the plain one.
fn is_other_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// Checks the length of a new password, without leading and trailing white space.
pub fn check_new_password(password: &str) -> Result<(), PasswordTooShort> {
    if normalized_password(password).trim().chars().count() < MIN_PASSWORD_CHARS {
        Err(PasswordTooShort)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_composed_with_plain_spaces() {
        for (password, expect) in [
            ("plain password", "plain password"),
            ("gru\u{308}n", "gr\u{fc}n"),
            ("gr\u{fc}n", "gr\u{fc}n"),
            ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"),
            ("\u{212b}", "\u{c5}"),
            ("a\u{a0}b\u{3000}c", "a b c"),
            // Compatible characters stay different.
            ("\u{fb01}", "\u{fb01}"),
            ("A\u{0}\u{1f511}", "A\u{0}\u{1f511}"),
        ] {
            assert_eq!(normalized_password(password), expect, "{password:?}");
        }
    }

    #[test]
    fn length_is_counted_in_characters_without_surrounding_white_space() {
        for (password, expect) in [
            ("0123456789", true),
            ("äöüäöüäöüä", true),
            ("a\u{308}o\u{308}u\u{308}a\u{308}o\u{308}", false),
            ("four short words", true),
            ("012345678", false),
            (" 012345678 ", false),
            ("             ", false),
            ("", false),
        ] {
            assert_eq!(check_new_password(password).is_ok(), expect, "{password:?}");
        }
    }
}
