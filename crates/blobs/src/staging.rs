use std::{fs::File, io::Read, path::Path};

use bytes::Bytes;
use domain::ContentHash;
use futures_util::{Stream, StreamExt as _};
use ring::digest;
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt as _;

use crate::{StageError, local::UPLOAD_PREFIX};

/// How many of a file's first bytes are kept at hand, enough to tell its format.
const HEAD_BYTES: usize = 4096;

/// What is known of a file without opening it again.
#[derive(Debug, Clone)]
pub struct Fingerprint {
    /// Its address.
    pub hash: ContentHash,
    /// Its length.
    pub bytes: u64,
    /// Its first bytes, up to 4,096.
    pub head: Vec<u8>,
}

/// A file that arrived whole and is not stored yet. It is removed when this value is dropped.
#[derive(Debug)]
pub struct Staged {
    /// What it is.
    pub fingerprint: Fingerprint,
    file: NamedTempFile,
}

impl Staged {
    /// Where it stands for now.
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

/// Computes hash, length and head while bytes go by.
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
        let room = HEAD_BYTES.saturating_sub(self.head.len()).min(chunk.len());
        self.head.extend(chunk.iter().take(room));
    }

    pub(crate) fn finish(self) -> Fingerprint {
        let digest = self.context.finish();
        let mut hash = [0; 32];
        hash.iter_mut().zip(digest.as_ref()).for_each(|(to, from)| *to = *from);
        Fingerprint { hash: ContentHash::new(hash), bytes: self.bytes, head: self.head }
    }
}

/// Reads a whole file for its fingerprint. It blocks.
///
/// # Errors
/// What the system says when the file cannot be read.
pub fn fingerprint(path: &Path) -> std::io::Result<Fingerprint> {
    let mut file = File::open(path)?;
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

/// Writes arriving bytes into a file of their own, hashing as they come.
pub(crate) async fn stage<E: Into<std::io::Error>>(
    folder: &Path,
    source: impl Stream<Item = Result<Bytes, E>> + Send,
    max_bytes: u64,
) -> Result<Staged, StageError> {
    let file =
        tempfile::Builder::new().prefix(UPLOAD_PREFIX).tempfile_in(folder).map_err(StageError::Write)?;
    let mut writer = tokio::fs::File::from_std(file.reopen().map_err(StageError::Write)?);
    let mut hasher = Hasher::new();
    let mut source = std::pin::pin!(source);
    while let Some(chunk) = source.next().await {
        let chunk = chunk.map_err(|error| StageError::Source(error.into()))?;
        if hasher.bytes + chunk.len() as u64 > max_bytes {
            return Err(StageError::TooLarge { max_bytes });
        }
        hasher.update(&chunk);
        writer.write_all(&chunk).await.map_err(StageError::Write)?;
    }
    writer.flush().await.map_err(StageError::Write)?;
    Ok(Staged { fingerprint: hasher.finish(), file })
}
