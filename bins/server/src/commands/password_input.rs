use std::io::{self, BufRead, BufReader, Read};

use domain::{PasswordTooShort, check_new_password};

/// Maximum length of a password, in bytes.
const MAX_BYTES: u64 = 4096;

/// Why no password was read. No message quotes the input.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PasswordInputError {
    #[error("the password cannot be read from stdin: {0}")]
    Read(io::Error),
    #[error("the password on stdin is empty")]
    Empty,
    #[error("the password on stdin has more than {MAX_BYTES} bytes")]
    TooLong,
    #[error(transparent)]
    TooShort(#[from] PasswordTooShort),
}

/// Reads a new password from the first line of the input.
pub(super) fn read_password(input: impl Read) -> Result<String, PasswordInputError> {
    let mut line = String::new();
    // Room for the line ending, and one byte more to detect a line that is too long.
    let mut input = BufReader::new(input.take(MAX_BYTES + 3));
    input.read_line(&mut line).map_err(PasswordInputError::Read)?;
    let password = line.strip_suffix('\n').unwrap_or(&line);
    let password = password.strip_suffix('\r').unwrap_or(password);
    match password.len() as u64 {
        0 => Err(PasswordInputError::Empty),
        1..=MAX_BYTES => {
            check_new_password(password)?;
            Ok(password.to_owned())
        }
        _ => Err(PasswordInputError::TooLong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_line_ending_is_removed() {
        let read = |input: &str| read_password(input.as_bytes()).map_err(|error| error.to_string());
        for (input, expect) in [
            ("long secret\n", "long secret"),
            ("long secret", "long secret"),
            ("long secret\r\nmore\n", "long secret"),
            (" long pass word \n", " long pass word "),
        ] {
            assert_eq!(read(input).as_deref(), Ok(expect));
        }
        for input in ["", "\n", "\r\n"] {
            assert_eq!(read(input), Err("the password on stdin is empty".into()));
        }
        assert_eq!(read("nine char\n"), Err("The password must have at least 10 characters.".into()));
        assert!(read(&"x".repeat(4096)).is_ok());
        assert!(read(&format!("{}\r\n", "x".repeat(4096))).is_ok());
        assert!(read(&"x".repeat(4097)).unwrap_err().contains("4096"));
        assert!(read_password(&b"\xff\n"[..]).is_err());
    }
}
