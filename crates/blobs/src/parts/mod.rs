//! The received parts of uploads.

mod folder;
mod objects;
mod writer;

use std::{io, path::PathBuf, sync::Arc, time::SystemTime};

use bytes::Bytes;
use domain::Checksum;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream, stream::BoxStream};
use object_store::ObjectStore;

use crate::{BlobError, ChecksumVerifier, permissions::create_private_folder};

pub use writer::PartWriter;

pub(crate) const PREFIX: &str = "part-";

/// Number of random characters in the name of a part.
const RANDOM_CHARS: usize = 20;

/// The received parts of uploads. They survive a restart: the metadata store knows which are needed.
///
/// A part is written to a local file and kept in a local folder, or on the backend of the blobs, where every process of
/// the service finds it.
#[derive(Debug, Clone)]
pub struct PartStore {
    /// The folder in which parts are written.
    folder: PathBuf,
    place: Place,
}

/// Where complete parts are kept.
#[derive(Debug, Clone)]
enum Place {
    /// In the folder in which they are written.
    Folder,
    /// On a backend.
    Objects(Arc<dyn ObjectStore>),
}

/// A stored part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFile {
    pub name: String,
    /// When it was last written to.
    pub modified: SystemTime,
}

impl PartStore {
    /// Parts in a local folder, which is created if it does not exist.
    pub(crate) fn in_folder(folder: PathBuf) -> Result<Self, BlobError> {
        create_private_folder(&folder).map_err(|error| BlobError::folder(&folder, error))?;
        Ok(Self { folder, place: Place::Folder })
    }

    /// Parts on a backend. They are written to an existing local folder before.
    pub(crate) fn on_backend(objects: Arc<dyn ObjectStore>, folder: PathBuf) -> Self {
        Self { folder, place: Place::Objects(objects) }
    }

    /// Creates a local file for a part, which must match the checksums. The file is deleted when the writer is dropped.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub async fn create(&self, checksums: impl IntoIterator<Item = Checksum>) -> io::Result<PartWriter> {
        let verifier = ChecksumVerifier::new(checksums);
        PartWriter::create(self.folder.clone(), self.place.clone(), verifier).await
    }

    /// The bytes of parts, one after the other. Each part is its name and length. A part that is missing or has another
    /// length is an error.
    pub fn read(&self, parts: Vec<(String, u64)>) -> impl Stream<Item = io::Result<Bytes>> + Send + use<> {
        let store = self.clone();
        stream::iter(parts)
            .then(move |(name, bytes)| {
                let store = store.clone();
                async move { store.read_part(&name, bytes).await }
            })
            .try_flatten()
    }

    async fn read_part(&self, name: &str, bytes: u64) -> io::Result<BoxStream<'static, io::Result<Bytes>>> {
        check_name(name)?;
        Ok(match &self.place {
            Place::Folder => folder::read(self.folder.join(name), bytes).await?.boxed(),
            Place::Objects(objects) => objects::read(&**objects, name, bytes).await?.boxed(),
        })
    }

    /// The length of a part in bytes; `None` if it does not exist or the name is not a name of parts.
    ///
    /// # Errors
    /// The parts cannot be read.
    pub async fn length(&self, name: &str) -> io::Result<Option<u64>> {
        if check_name(name).is_err() {
            return Ok(None);
        }
        match &self.place {
            Place::Folder => folder::length(self.folder.join(name)).await,
            Place::Objects(objects) => objects::length(&**objects, name).await,
        }
    }

    /// Deletes parts. It is no error if one does not exist.
    ///
    /// # Errors
    /// A part cannot be deleted; the others are deleted.
    pub async fn delete(&self, names: Vec<String>) -> io::Result<()> {
        let (parts, others): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| check_name(name).is_ok());
        let deleted = match &self.place {
            Place::Folder => folder::delete(self.folder.clone(), parts).await,
            Place::Objects(objects) => objects::delete(&**objects, parts).await,
        };
        deleted.and(if others.is_empty() { Ok(()) } else { Err(io::ErrorKind::InvalidFilename.into()) })
    }

    /// All parts; in a local folder also those that are being written.
    ///
    /// # Errors
    /// The parts cannot be listed.
    pub async fn files(&self) -> io::Result<Vec<PartFile>> {
        match &self.place {
            Place::Folder => folder::files(self.folder.clone()).await,
            Place::Objects(objects) => objects::files(&**objects).await,
        }
    }
}

/// Refuses names that this module does not give, such as paths.
fn check_name(name: &str) -> io::Result<()> {
    let random = name.strip_prefix(PREFIX).unwrap_or_default();
    let is_part = !random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_part { Ok(()) } else { Err(io::ErrorKind::InvalidFilename.into()) }
}

/// The error for a part whose length has changed since it was received.
fn wrong_length() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "a part of the upload has lost bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_not_names_of_parts() {
        assert!(check_name("part-aZ09").is_ok());
        for name in ["", "part-", "part-../x", "part-a/b", "other", "/etc/passwd", "part-a.b"] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
