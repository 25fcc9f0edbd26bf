//! Random passwords for accounts that a task creates.

use std::fs::File;
use std::io::Read as _;

/// 32 letters and digits that look different from each other. Five bits select one.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// 24 characters of 5 bits each: 120 bits.
const CHARACTERS: usize = 24;

/// The system's randomness cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read /dev/urandom: {0}")]
pub(crate) struct PasswordError(#[from] std::io::Error);

/// A password from 120 bits of the system's randomness.
pub(crate) fn make() -> Result<String, PasswordError> {
    let mut bytes = [0; CHARACTERS];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(from_bytes(&bytes))
}

fn from_bytes(bytes: &[u8]) -> String {
    bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(byte & 31))).copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_becomes_a_character() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_bytes(&all).len(), 256);
    }

    #[test]
    fn passwords_differ() {
        let (one, other) = (make().unwrap(), make().unwrap());
        assert_eq!(one.len(), CHARACTERS);
        assert_ne!(one, other);
    }
}
