//! Parts on a backend.

use std::{
    io,
    path::Path,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt as _, path::Path as Key};

use super::{PartFile, check_name, wrong_length};
use crate::{PutError, StagingError, s3_failure::io_error, upload::put_file};

const UPLOADS: &str = "uploads";
/// How many parts are deleted at once.
const DELETIONS_AT_ONCE: usize = 8;

fn key(name: &str) -> Key {
    Key::from(format!("{UPLOADS}/{name}"))
}

/// Stores a complete part.
pub(super) async fn store(objects: &dyn ObjectStore, name: &str, path: &Path) -> Result<(), StagingError> {
    put_file(objects, &key(name), path, None).await.map_err(|error| match error {
        PutError::Blob(error) => StagingError::Blob(error),
        PutError::Read(error) => StagingError::Io(error),
        // Never happens, because no hash is expected.
        PutError::Changed => StagingError::Io(io::Error::other(PutError::Changed)),
    })
}

pub(super) async fn read(
    objects: &dyn ObjectStore,
    name: &str,
    bytes: u64,
) -> io::Result<impl Stream<Item = io::Result<Bytes>> + Send + 'static> {
    let part = objects.get(&key(name)).await.map_err(io_error)?;
    if part.meta.size != bytes {
        return Err(wrong_length());
    }
    Ok(part.into_stream().map_err(io_error))
}

pub(super) async fn length(objects: &dyn ObjectStore, name: &str) -> io::Result<Option<u64>> {
    match objects.head(&key(name)).await.map_err(io_error) {
        Ok(meta) => Ok(Some(meta.size)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) async fn delete(objects: &dyn ObjectStore, names: Vec<String>) -> io::Result<()> {
    let deletions = stream::iter(names).map(|name| async move {
        match objects.delete(&key(&name)).await.map_err(io_error) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    });
    // A failed deletion does not stop the others.
    let deleted: Vec<_> = deletions.buffer_unordered(DELETIONS_AT_ONCE).collect().await;
    deleted.into_iter().collect()
}

pub(super) async fn files(objects: &dyn ObjectStore) -> io::Result<Vec<PartFile>> {
    let listed = objects.list(Some(&Key::from(UPLOADS))).map_err(io_error);
    listed.try_filter_map(|meta| async move { Ok(part_file(&meta)) }).try_collect().await
}

fn part_file(meta: &ObjectMeta) -> Option<PartFile> {
    let name = meta.location.filename().filter(|name| check_name(name).is_ok())?;
    let since_epoch = u64::try_from(meta.last_modified.timestamp_millis()).ok()?;
    let modified = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(since_epoch))?;
    Some(PartFile { name: name.to_owned(), modified })
}
