/// An algorithm of checksums that clients send with their uploads. Several are weak: a checksum only detects a broken
/// transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumAlgorithm {
    Sha1,
    Sha256,
    Sha512,
    /// SHA3-256.
    Sha3,
    Md5,
    /// Adler-32 (RFC 1950).
    Adler32,
    /// CRC-32 (ISO 3309), as in ZIP archives.
    Crc32,
}

impl ChecksumAlgorithm {
    pub const ALL: [Self; 7] =
        [Self::Sha1, Self::Sha256, Self::Sha512, Self::Sha3, Self::Md5, Self::Adler32, Self::Crc32];

    /// Its name, and the length of its checksums in bytes.
    const fn description(self) -> (&'static str, usize) {
        match self {
            Self::Sha1 => ("sha1", 20),
            Self::Sha256 => ("sha256", 32),
            Self::Sha512 => ("sha512", 64),
            Self::Sha3 => ("sha3256", 32),
            Self::Md5 => ("md5", 16),
            Self::Adler32 => ("adler32", 4),
            Self::Crc32 => ("crc32", 4),
        }
    }

    /// The algorithm with this name. Protocols differ in case and hyphens: `SHA-256`, `sha256`. `SHA` is SHA-1 (RFC 3230),
    /// and `adler` is Adler-32 (RFC 9530).
    pub fn named(name: &str) -> Option<Self> {
        let name = name.replace('-', "").to_ascii_lowercase();
        match name.as_str() {
            "sha" => Some(Self::Sha1),
            "adler" => Some(Self::Adler32),
            _ => Self::ALL.into_iter().find(|algorithm| algorithm.description().0 == name),
        }
    }

    /// The length of its checksums in bytes.
    pub const fn bytes(self) -> usize {
        self.description().1
    }
}

/// A checksum that a client sent with its upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checksum {
    algorithm: ChecksumAlgorithm,
    value: Vec<u8>,
}

impl Checksum {
    /// `None` if the value does not have the length of the algorithm's checksums.
    pub fn new(algorithm: ChecksumAlgorithm, value: Vec<u8>) -> Option<Self> {
        (value.len() == algorithm.bytes()).then_some(Self { algorithm, value })
    }

    pub fn algorithm(&self) -> ChecksumAlgorithm {
        self.algorithm
    }

    /// Its bytes. A checksum that is a number is in big-endian order.
    pub fn value(&self) -> &[u8] {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_between_protocols() {
        use ChecksumAlgorithm::{Adler32, Crc32, Md5, Sha1, Sha3, Sha256, Sha512};
        for (name, expect) in [
            ("SHA1", Some(Sha1)),
            ("SHA", Some(Sha1)),
            ("sha-1", Some(Sha1)),
            ("sha-256", Some(Sha256)),
            ("SHA256", Some(Sha256)),
            ("SHA-512", Some(Sha512)),
            ("SHA3-256", Some(Sha3)),
            ("Adler32", Some(Adler32)),
            ("adler", Some(Adler32)),
            ("crc32", Some(Crc32)),
            ("MD5", Some(Md5)),
            ("crc32c", None),
            ("UNIXsum", None),
            ("", None),
        ] {
            assert_eq!(ChecksumAlgorithm::named(name), expect, "{name}");
        }
    }

    #[test]
    fn the_length_must_match_the_algorithm() {
        for algorithm in ChecksumAlgorithm::ALL {
            let checksum = |bytes| Checksum::new(algorithm, vec![7; bytes]);
            assert!(checksum(algorithm.bytes()).is_some(), "{algorithm:?}");
            assert_eq!(checksum(algorithm.bytes() - 1), None, "{algorithm:?}");
            assert_eq!(checksum(algorithm.bytes() + 1), None, "{algorithm:?}");
        }
    }
}
