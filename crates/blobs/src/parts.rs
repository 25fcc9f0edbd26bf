use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use ring::digest;
use tempfile::NamedTempFile;
use tokio::{io::AsyncWriteExt as _, task::spawn_blocking};

use crate::{
    BlobError, Checksum, StagingError, content::files_named, permissions::create_private_folder,
    reading::file_stream, sync::sync_folder,
};

/// The prefix of the names of parts.
const PREFIX: &str = "part-";

/// Number of random characters in the name of a part.
const RANDOM_CHARS: usize = 20;

/// A local folder for the received parts of uploads. They survive a restart: the metadata store knows which are needed.
#[derive(Debug, Clone)]
pub struct PartsFolder {
    path: PathBuf,
}

/// A file of the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFile {
    /// Its name.
    pub name: String,
    /// When it was last written to.
    pub modified: SystemTime,
}

impl PartsFolder {
    /// Opens the folder, which is created if it does not exist.
    pub(crate) fn open(path: PathBuf) -> Result<Self, BlobError> {
        create_private_folder(&path).map_err(|error| BlobError::folder(&path, error))?;
        Ok(Self { path })
    }

    /// Creates a file for a part, which must match the checksum if there is one. The file is deleted when the writer is
    /// dropped.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub async fn create(&self, checksum: Option<Checksum>) -> io::Result<PartWriter> {
        let folder = self.path.clone();
        let (file, writer) = blocking(move || {
            let file =
                tempfile::Builder::new().prefix(PREFIX).rand_bytes(RANDOM_CHARS).tempfile_in(folder)?;
            let writer = file.reopen()?;
            Ok((file, writer))
        })
        .await?;
        let hasher = checksum.as_ref().map(|checksum| digest::Context::new(algorithm(checksum)));
        let writer = tokio::fs::File::from_std(writer);
        Ok(PartWriter { folder: self.path.clone(), file, writer, bytes: 0, checksum, hasher })
    }

    /// The bytes of parts, one after the other. Each part is its file's name and length. A file that is missing or has
    /// another length is an error.
    pub fn read(&self, parts: Vec<(String, u64)>) -> impl Stream<Item = io::Result<Bytes>> + Send + use<> {
        let folder = self.path.clone();
        stream::iter(parts)
            .then(move |(name, bytes)| {
                let folder = folder.clone();
                async move {
                    let file = blocking(move || open_part(&folder, &name, bytes)).await?;
                    Ok::<_, io::Error>(file_stream(file, 0..bytes).map_err(io::Error::other))
                }
            })
            .try_flatten()
    }

    /// The length of a part in bytes; `None` if its file does not exist or the name is that of no part.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub async fn length(&self, name: &str) -> io::Result<Option<u64>> {
        let Ok(path) = path_of(&self.path, name) else { return Ok(None) };
        blocking(move || match fs::metadata(path) {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    /// Deletes parts. It is no error if one does not exist.
    ///
    /// # Errors
    /// A file cannot be deleted; the others are deleted.
    pub async fn delete(&self, names: Vec<String>) -> io::Result<()> {
        let folder = self.path.clone();
        blocking(move || {
            let mut failure = Ok(());
            for name in names {
                match path_of(&folder, &name).and_then(fs::remove_file) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => failure = Err(error),
                    _ => {}
                }
            }
            failure
        })
        .await
    }

    /// All files of the folder, also those that are being written.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub async fn files(&self) -> io::Result<Vec<PartFile>> {
        let folder = self.path.clone();
        blocking(move || {
            let mut files = Vec::new();
            for entry in files_named(&folder, |name| name.starts_with(PREFIX))? {
                match entry.metadata() {
                    Ok(metadata) => files.push(PartFile {
                        name: entry.file_name().to_string_lossy().into_owned(),
                        modified: metadata.modified()?,
                    }),
                    // It was deleted in between.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(files)
        })
        .await
    }
}

/// Writes a part. The file is deleted when this value is dropped.
pub struct PartWriter {
    folder: PathBuf,
    file: NamedTempFile,
    writer: tokio::fs::File,
    bytes: u64,
    checksum: Option<Checksum>,
    /// Present when there is a checksum.
    hasher: Option<digest::Context>,
}

impl PartWriter {
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

    /// Syncs the file and the folder to disk and returns the name of the file, which is kept from now on.
    ///
    /// # Errors
    /// [`StagingError`]; the file is deleted.
    pub async fn finish(mut self) -> Result<String, StagingError> {
        self.writer.flush().await?;
        if let (Some(hasher), Some(checksum)) = (self.hasher.take(), &self.checksum)
            && hasher.finish().as_ref() != expected(checksum)
        {
            return Err(StagingError::ChecksumMismatch);
        }
        Ok(blocking(move || keep(self.file, &self.folder)).await?)
    }
}

/// Syncs a part and keeps it; returns its name.
fn keep(file: NamedTempFile, folder: &Path) -> io::Result<String> {
    file.as_file().sync_all()?;
    sync_folder(folder)?;
    let name = file.path().file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.ok_or(io::ErrorKind::InvalidFilename)?;
    let mut file = file;
    file.disable_cleanup(true);
    Ok(name)
}

fn open_part(folder: &Path, name: &str, bytes: u64) -> io::Result<File> {
    let file = File::open(path_of(folder, name)?)?;
    if file.metadata()?.len() != bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a part of the upload has lost bytes"));
    }
    Ok(file)
}

/// The path of a part; only names that this module gives are valid.
fn path_of(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let random = name.strip_prefix(PREFIX).unwrap_or_default();
    let is_part = !random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_part { Ok(folder.join(name)) } else { Err(io::ErrorKind::InvalidFilename.into()) }
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

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_parts_are_paths() {
        let folder = Path::new("/parts");
        assert_eq!(path_of(folder, "part-aZ09").unwrap(), folder.join("part-aZ09"));
        for name in ["", "part-", "part-../x", "part-a/b", "other", "/etc/passwd", "part-a.b"] {
            assert!(path_of(folder, name).is_err(), "{name}");
        }
    }
}
