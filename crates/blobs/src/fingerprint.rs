use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use domain::ContentHash;
use ring::digest;

/// How many of a file's first bytes a [`Fingerprint`] keeps: enough to detect its format.
pub const HEAD_BYTES: usize = 4096;

/// The hash, length and first bytes of a file.
#[derive(Debug, Clone)]
pub struct Fingerprint {
    /// The SHA-256 of all bytes, which is the address of the blob.
    pub hash: ContentHash,
    /// The length in bytes.
    pub bytes: u64,
    /// The first bytes, at most [`HEAD_BYTES`].
    pub head: Vec<u8>,
}

/// Computes a fingerprint from chunks.
pub(crate) struct Hasher {
    context: digest::Context,
    bytes: u64,
    head: Vec<u8>,
}

impl Hasher {
    pub(crate) fn new() -> Self {
        Self { context: digest::Context::new(&digest::SHA256), bytes: 0, head: Vec::new() }
    }

    pub(crate) fn update(&mut self, chunk: &[u8]) {
        self.context.update(chunk);
        self.bytes += chunk.len() as u64;
        let missing = HEAD_BYTES.saturating_sub(self.head.len());
        self.head.extend(chunk.iter().take(missing));
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    pub(crate) fn finish(self) -> Fingerprint {
        let digest = self.context.finish();
        let mut hash = [0; 32];
        hash.iter_mut().zip(digest.as_ref()).for_each(|(to, from)| *to = *from);
        Fingerprint { hash: ContentHash::new(hash), bytes: self.bytes, head: self.head }
    }
}

/// The address of a blob with these bytes.
pub fn content_hash(bytes: &[u8]) -> ContentHash {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher.finish().hash
}

/// Reads a whole file and returns its fingerprint. Blocks.
///
/// # Errors
/// The file cannot be read.
pub fn fingerprint(path: &Path) -> io::Result<Fingerprint> {
    fingerprint_of(File::open(path)?)
}

/// Reads to the end and returns the fingerprint of what was read. Blocks.
///
/// # Errors
/// The input cannot be read.
pub fn fingerprint_of(mut file: impl Read) -> io::Result<Fingerprint> {
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hasher.finish());
        }
        hasher.update(buffer.get(..read).unwrap_or_default());
    }
}
