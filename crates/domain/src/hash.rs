use std::fmt;

/// The SHA-256 of a file's bytes, which addresses an original or a rendition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Wraps a digest.
    pub const fn new(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// Reads a stored digest; `None` unless it is 32 bytes long.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// 64 lower-case hexadecimal digits.
impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        // All digits are written at once, for speed: every response with a rendition contains its hash.
        let digits = self.0.map(|byte| [byte >> 4, byte & 15].map(|half| DIGITS[usize::from(half)]));
        f.write_str(std::str::from_utf8(digits.as_flattened()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}
