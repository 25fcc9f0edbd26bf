use domain::{Checksum, ChecksumAlgorithm};
use md5::{Digest as _, Md5};
use ring::digest;
use sha3::Sha3_256;

/// Computes the checksums that an upload must match while its bytes arrive.
pub struct ChecksumVerifier {
    expected: Vec<Checksum>,
    /// One for each algorithm among the expected checksums.
    hashers: Vec<(ChecksumAlgorithm, Hasher)>,
}

enum Hasher {
    Ring(digest::Context),
    Sha3(Sha3_256),
    Md5(Md5),
    Adler32(simd_adler32::Adler32),
    Crc32(crc32fast::Hasher),
}

impl ChecksumVerifier {
    /// Expects these checksums; without any, all bytes match.
    pub fn new(expected: impl IntoIterator<Item = Checksum>) -> Self {
        let expected: Vec<Checksum> = expected.into_iter().collect();
        let is_expected = |algorithm: &ChecksumAlgorithm| {
            expected.iter().any(|checksum| checksum.algorithm() == *algorithm)
        };
        let algorithms = ChecksumAlgorithm::ALL.into_iter().filter(is_expected);
        let hashers = algorithms.map(|algorithm| (algorithm, Hasher::new(algorithm))).collect();
        Self { expected, hashers }
    }

    /// Appends bytes.
    pub fn update(&mut self, chunk: &[u8]) {
        self.hashers.iter_mut().for_each(|(_, hasher)| hasher.update(chunk));
    }

    /// Whether the bytes have all expected checksums.
    pub fn matches(self) -> bool {
        let Self { expected, hashers } = self;
        hashers.into_iter().all(|(algorithm, hasher)| {
            let value = hasher.finish();
            let mut of_algorithm = expected.iter().filter(|checksum| checksum.algorithm() == algorithm);
            of_algorithm.all(|checksum| checksum.value() == value)
        })
    }
}

impl Hasher {
    fn new(algorithm: ChecksumAlgorithm) -> Self {
        let ring = |algorithm| Self::Ring(digest::Context::new(algorithm));
        match algorithm {
            ChecksumAlgorithm::Sha1 => ring(&digest::SHA1_FOR_LEGACY_USE_ONLY),
            ChecksumAlgorithm::Sha256 => ring(&digest::SHA256),
            ChecksumAlgorithm::Sha512 => ring(&digest::SHA512),
            ChecksumAlgorithm::Sha3 => Self::Sha3(Sha3_256::new()),
            ChecksumAlgorithm::Md5 => Self::Md5(Md5::new()),
            ChecksumAlgorithm::Adler32 => Self::Adler32(simd_adler32::Adler32::new()),
            ChecksumAlgorithm::Crc32 => Self::Crc32(crc32fast::Hasher::new()),
        }
    }

    fn update(&mut self, chunk: &[u8]) {
        match self {
            Self::Ring(context) => context.update(chunk),
            Self::Sha3(hasher) => hasher.update(chunk),
            Self::Md5(hasher) => hasher.update(chunk),
            Self::Adler32(hasher) => hasher.write(chunk),
            Self::Crc32(hasher) => hasher.update(chunk),
        }
    }

    fn finish(self) -> Vec<u8> {
        match self {
            Self::Ring(context) => context.finish().as_ref().to_vec(),
            Self::Sha3(hasher) => hasher.finalize().to_vec(),
            Self::Md5(hasher) => hasher.finalize().to_vec(),
            Self::Adler32(hasher) => hasher.finish().to_be_bytes().to_vec(),
            Self::Crc32(hasher) => hasher.finalize().to_be_bytes().to_vec(),
        }
    }
}
