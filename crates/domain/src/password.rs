/// Minimum length of a new password, in characters.
pub const MIN_PASSWORD_CHARS: usize = 10;

/// The password is shorter than [`MIN_PASSWORD_CHARS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("The password must have at least {MIN_PASSWORD_CHARS} characters.")]
pub struct PasswordTooShort;

/// Checks the length of a new password, without leading and trailing white space.
///
/// # Errors
/// [`PasswordTooShort`].
pub fn check_new_password(password: &str) -> Result<(), PasswordTooShort> {
    if password.trim().chars().count() < MIN_PASSWORD_CHARS { Err(PasswordTooShort) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_characters_without_surrounding_white_space() {
        for (password, expect) in [
            ("0123456789", true),
            ("äöüäöüäöüä", true),
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
