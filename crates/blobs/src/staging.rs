use std::{
    fs, io,
    path::{Path, PathBuf},
};

use domain::Checksum;
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt as _;

use crate::{
    BlobError, ChecksumVerifier, Fingerprint, StagingError, fingerprint::Hasher, listing::files_named, parts,
    permissions::create_private_folder,
};

/// The prefix of the names of staged files.
const PREFIX: &str = "upload-";

/// A local folder for uploads that are not complete yet.
#[derive(Debug, Clone)]
pub struct StagingFolder {
    path: PathBuf,
}

impl StagingFolder {
    /// Opens the folder, which is created if it does not exist.
    pub(crate) fn open(path: PathBuf) -> Result<Self, BlobError> {
        create_private_folder(&path).map_err(|error| BlobError::folder(&path, error))?;
        Ok(Self { path })
    }

    /// Creates a file for an upload, which must match the checksums. The file is deleted when the writer
    /// is dropped.
    pub async fn create(
        &self,
        checksums: impl IntoIterator<Item = Checksum>,
    ) -> Result<StagingWriter, StagingError> {
        let verifier = ChecksumVerifier::new(checksums);
        let folder = self.path.clone();
        let created = tokio::task::spawn_blocking(move || {
            let file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder)?;
            let writer = file.reopen()?;
            Ok::<_, io::Error>((file, writer))
        });
        let (file, writer) = created.await.map_err(io::Error::other).flatten()?;
        Ok(StagingWriter { file, writer: tokio::fs::File::from_std(writer), hasher: Hasher::new(), verifier })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The staged files of running uploads and of killed processes. Blocks.
    pub(crate) fn files(&self) -> io::Result<Vec<fs::DirEntry>> {
        files_named(&self.path, |name| name.starts_with(PREFIX) || name.starts_with(parts::PREFIX))
    }
}

/// Writes an upload to a staged file and hashes it. The file is deleted when this value is dropped.
pub struct StagingWriter {
    file: NamedTempFile,
    writer: tokio::fs::File,
    hasher: Hasher,
    verifier: ChecksumVerifier,
}

impl StagingWriter {
    /// Appends bytes.
    pub async fn write(&mut self, chunk: &[u8]) -> Result<(), StagingError> {
        self.hasher.update(chunk);
        self.verifier.update(chunk);
        Ok(self.writer.write_all(chunk).await?)
    }

    /// How many bytes were appended.
    pub fn bytes(&self) -> u64 {
        self.hasher.bytes()
    }

    /// The first bytes, at most [`HEAD_BYTES`](crate::HEAD_BYTES).
    pub fn head(&self) -> &[u8] {
        self.hasher.head()
    }

    /// Ends the upload.
    ///
    /// # Errors
    /// [`StagingError`]; the file is deleted.
    pub async fn finish(mut self) -> Result<StagedFile, StagingError> {
        self.writer.flush().await?;
        let fingerprint = self.hasher.finish();
        if !self.verifier.matches() {
            return Err(StagingError::ChecksumMismatch);
        }
        Ok(StagedFile { fingerprint, file: self.file })
    }
}

/// A complete upload that is not stored yet. The file is deleted when this value is dropped.
#[derive(Debug)]
pub struct StagedFile {
    fingerprint: Fingerprint,
    file: NamedTempFile,
}

impl StagedFile {
    /// Its hash, length and first bytes.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Syncs the file to disk.
    pub(crate) async fn sync(self) -> io::Result<Self> {
        let synced = tokio::task::spawn_blocking(move || {
            self.file.as_file().sync_all()?;
            Ok::<_, io::Error>(self)
        });
        synced.await.map_err(io::Error::other).flatten()
    }

    /// Drops this value after its file was renamed.
    pub(crate) fn forget(mut self) {
        self.file.disable_cleanup(true);
    }
}
