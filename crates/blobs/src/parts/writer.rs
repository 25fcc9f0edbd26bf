use std::{io, path::PathBuf};

use ring::digest;
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt as _;

use super::{PREFIX, Place, RANDOM_CHARS, check_name, folder, objects};
use crate::{Checksum, StagingError};

/// Writes a part to a local file. The file is deleted when this value is dropped.
pub struct PartWriter {
    folder: PathBuf,
    place: Place,
    file: NamedTempFile,
    writer: tokio::fs::File,
    bytes: u64,
    checksum: Option<Checksum>,
    /// Present when there is a checksum.
    hasher: Option<digest::Context>,
}

impl PartWriter {
    pub(super) async fn create(
        folder: PathBuf,
        place: Place,
        checksum: Option<Checksum>,
    ) -> io::Result<Self> {
        let path = folder.clone();
        let (file, writer) = folder::blocking(move || {
            let file = tempfile::Builder::new().prefix(PREFIX).rand_bytes(RANDOM_CHARS).tempfile_in(path)?;
            let writer = file.reopen()?;
            Ok((file, writer))
        })
        .await?;
        let hasher = checksum.as_ref().map(|checksum| digest::Context::new(algorithm(checksum)));
        let writer = tokio::fs::File::from_std(writer);
        Ok(Self { folder, place, file, writer, bytes: 0, checksum, hasher })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(chunk);
        }
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
        if let (Some(hasher), Some(checksum)) = (self.hasher.take(), &self.checksum)
            && hasher.finish().as_ref() != expected(checksum)
        {
            return Err(StagingError::ChecksumMismatch);
        }
        match &self.place {
            Place::Folder => folder::keep(self.file, self.folder, name.to_owned()).await?,
            Place::Objects(backend) => objects::store(&**backend, name, self.file.path()).await?,
        }
        Ok(())
    }
}

fn algorithm(checksum: &Checksum) -> &'static digest::Algorithm {
    match checksum {
        Checksum::Sha256(_) => &digest::SHA256,
        Checksum::Sha1(_) => &digest::SHA1_FOR_LEGACY_USE_ONLY,
    }
}

fn expected(checksum: &Checksum) -> &[u8] {
    match checksum {
        Checksum::Sha256(hash) => hash.as_bytes(),
        Checksum::Sha1(hash) => hash,
    }
}
