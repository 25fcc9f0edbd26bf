use std::{io, path::PathBuf};

use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt as _;

use super::{PREFIX, Place, RANDOM_CHARS, check_name, folder, objects};
use crate::{ChecksumVerifier, StagingError};

/// Writes a part to a local file. The file is deleted when this value is dropped.
pub struct PartWriter {
    folder: PathBuf,
    place: Place,
    file: NamedTempFile,
    writer: tokio::fs::File,
    bytes: u64,
    verifier: ChecksumVerifier,
}

impl PartWriter {
    pub(super) async fn create(
        folder: PathBuf,
        place: Place,
        verifier: ChecksumVerifier,
    ) -> io::Result<Self> {
        let path = folder.clone();
        let (file, writer) = folder::blocking(move || {
            let file = tempfile::Builder::new().prefix(PREFIX).rand_bytes(RANDOM_CHARS).tempfile_in(path)?;
            let writer = file.reopen()?;
            Ok((file, writer))
        })
        .await?;
        let writer = tokio::fs::File::from_std(writer);
        Ok(Self { folder, place, file, writer, bytes: 0, verifier })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.verifier.update(chunk);
        self.bytes += chunk.len() as u64;
        self.writer.write_all(chunk).await
    }

    /// How many bytes were appended.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Stores the part durably and returns its name. It is kept from now on.
    ///
    /// # Errors
    /// [`StagingError`]; the file is deleted.
    pub async fn finish(self) -> Result<String, StagingError> {
        let name = self.file.path().file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.ok_or(io::ErrorKind::InvalidFilename).map_err(io::Error::from)?;
        self.finish_as(&name).await?;
        Ok(name)
    }

    /// Stores the part durably under the name that it has in another store. A part of that name is replaced.
    ///
    /// # Errors
    /// [`StagingError`]; the file is deleted.
    pub async fn finish_as(mut self, name: &str) -> Result<(), StagingError> {
        check_name(name)?;
        self.writer.flush().await?;
        if !self.verifier.matches() {
            return Err(StagingError::ChecksumMismatch);
        }
        match &self.place {
            Place::Folder => folder::keep(self.file, self.folder, name.to_owned()).await?,
            Place::Objects(backend) => objects::store(&**backend, name, self.file.path()).await?,
        }
        Ok(())
    }
}
