//! Parts in a local folder.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt as _};
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;

use super::{PREFIX, PartFile, wrong_length};
use crate::{listing::files_named, reading::file_stream, sync::sync_folder};

/// Syncs a part and the folder to disk, and keeps the part under this name.
pub(super) async fn keep(file: NamedTempFile, folder: PathBuf, name: String) -> io::Result<()> {
    blocking(move || {
        file.as_file().sync_all()?;
        let mut file = file;
        let path = folder.join(name);
        if file.path() == path {
            sync_folder(&folder)?;
            file.disable_cleanup(true);
            return Ok(());
        }
        file.persist(path).map_err(|failed| failed.error)?;
        sync_folder(&folder)
    })
    .await
}

pub(super) async fn read(
    path: PathBuf,
    bytes: u64,
) -> io::Result<impl Stream<Item = io::Result<Bytes>> + Send + 'static> {
    let file = blocking(move || open(&path, bytes)).await?;
    Ok(file_stream(file, 0..bytes).map_err(io::Error::other))
}

fn open(path: &Path, bytes: u64) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.len() == bytes { Ok(file) } else { Err(wrong_length()) }
}

pub(super) async fn length(path: PathBuf) -> io::Result<Option<u64>> {
    blocking(move || match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    })
    .await
}

pub(super) async fn delete(folder: PathBuf, names: Vec<String>) -> io::Result<()> {
    blocking(move || {
        let mut failure = Ok(());
        for name in names {
            match fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => failure = Err(error),
                _ => {}
            }
        }
        failure
    })
    .await
}

pub(super) async fn files(folder: PathBuf) -> io::Result<Vec<PartFile>> {
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

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other).flatten()
}
