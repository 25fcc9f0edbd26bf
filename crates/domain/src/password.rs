/// The fewest characters of a password that somebody chooses.
pub const MIN_PASSWORD_CHARS: usize = 10;

/// A password is too easy to guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("The password must have at least {MIN_PASSWORD_CHARS} characters.")]
pub struct PasswordTooShort;

/// Checks a password that somebody chooses. White space around it does not count.
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
    fn characters_count_and_white_space_around_them_does_not() {
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
