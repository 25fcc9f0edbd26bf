use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use object_store::ObjectStore;

use crate::{BlobError, ContentStore, PartsFolder, ProcessLocks, StagingFolder};

/// The store of originals and renditions, with the staging folder and the locks of this machine. Clones share it.
#[derive(Debug, Clone)]
pub struct BlobStore {
    /// The blobs.
    pub content: ContentStore,
    /// Uploads that are not complete yet.
    pub staging: StagingFolder,
    /// The received parts of uploads.
    pub parts: PartsFolder,
    /// Locks between the processes of this machine.
    pub locks: ProcessLocks,
}

/// A temporary file of an upload or a write that is running or was killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// When it was last written to.
    pub modified: SystemTime,
}

impl BlobStore {
    /// Opens a store whose parts are all in one local folder, which is created if it does not exist. It may block.
    ///
    /// # Errors
    /// [`BlobError::Folder`], or [`BlobError::Locked`].
    pub fn open_folder(root: &Path) -> Result<Self, BlobError> {
        let locks = ProcessLocks::open(root)?;
        Ok(Self {
            content: ContentStore::in_folder(root)?,
            staging: staging(root)?,
            parts: parts(root)?,
            locks,
        })
    }

    /// Opens a store with its blobs on another backend. The local folder holds staged uploads, parts of uploads, and
    /// locks. It may block.
    ///
    /// # Errors
    /// [`BlobError::Folder`], or [`BlobError::Locked`].
    pub fn open_remote(objects: Arc<dyn ObjectStore>, folder: &Path) -> Result<Self, BlobError> {
        let locks = ProcessLocks::open(folder)?;
        let (staging, parts) = (staging(folder)?, parts(folder)?);
        Ok(Self { content: ContentStore::new(objects), staging, parts, locks })
    }

    /// Deletes the temporary files of killed processes and then runs `work`, while other processes that open the store
    /// wait. Returns `None`, and does nothing, if another process uses the store.
    ///
    /// # Errors
    /// [`BlobError::Folder`].
    pub async fn run_exclusively<T>(&self, work: impl Future<Output = T>) -> Result<Option<T>, BlobError> {
        let store = self.clone();
        let lock = run_blocking(move || {
            let lock = store.locks.try_exclusive()?;
            if lock.is_some()
                && let Err(error) = store.delete_temporary_files()
            {
                tracing::warn!(%error, "temporary files of a killed process could not be deleted");
            }
            Ok::<_, BlobError>(lock)
        });
        let Some(lock) = lock.await.flatten()? else { return Ok(None) };
        let output = work.await;
        run_blocking(move || drop(lock)).await?;
        Ok(Some(output))
    }

    fn delete_temporary_files(&self) -> io::Result<()> {
        for file in self.temporary_entries()? {
            fs::remove_file(file.path())?;
        }
        Ok(())
    }

    fn temporary_entries(&self) -> io::Result<Vec<fs::DirEntry>> {
        let mut files = self.staging.files()?;
        files.extend(self.content.temporary_files()?);
        Ok(files)
    }

    /// The temporary files of running uploads and writes, and of killed processes.
    ///
    /// # Errors
    /// [`BlobError::Folder`].
    pub async fn temporary_files(&self) -> Result<Vec<TemporaryFile>, BlobError> {
        let store = self.clone();
        let found = run_blocking(move || {
            let listed = store.temporary_entries().and_then(describe);
            listed.map_err(|source| store.locks.failed(source))
        });
        found.await.flatten()
    }

    /// Deletes a temporary file of a killed process. It is no error if the file does not exist.
    ///
    /// # Errors
    /// [`BlobError::Folder`].
    pub async fn delete_temporary_file(&self, file: &TemporaryFile) -> Result<(), BlobError> {
        let path = file.path.clone();
        let deleted = run_blocking(move || match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(BlobError::folder(&path, source)),
            _ => Ok(()),
        });
        deleted.await.flatten()
    }
}

fn staging(root: &Path) -> Result<StagingFolder, BlobError> {
    StagingFolder::open(root.join("staging"))
}

fn parts(root: &Path) -> Result<PartsFolder, BlobError> {
    PartsFolder::open(root.join("uploads"))
}

fn describe(entries: Vec<fs::DirEntry>) -> io::Result<Vec<TemporaryFile>> {
    let mut files = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry.metadata() {
            Ok(metadata) => {
                files.push(TemporaryFile {
                    path: entry.path(),
                    bytes: metadata.len(),
                    modified: metadata.modified()?,
                });
            }
            // A running process renamed or deleted it in between.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(files)
}

/// Runs blocking work.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, BlobError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| object_store::Error::JoinError { source: error }.into())
}
