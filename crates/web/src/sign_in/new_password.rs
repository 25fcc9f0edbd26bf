/// The fewest characters of a password that somebody chooses.
pub(crate) const MIN_PASSWORD_CHARS: usize = 10;

/// Whether a password can be chosen; else why not, in words.
pub(crate) fn check_new_password(password: &str) -> Result<(), String> {
    if password.trim().chars().count() < MIN_PASSWORD_CHARS {
        return Err(format!("The password must have at least {MIN_PASSWORD_CHARS} characters."));
    }
    Ok(())
}
