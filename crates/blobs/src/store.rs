use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use object_store::ObjectStore;

use crate::{
    BlobError, ContentStore, PartStore, ProcessLocks, S3Options, StagingFolder,
    blocking::run_blocking,
    s3::{self, IncompleteUpload, IncompleteUploads, S3},
};

/// The store of originals and renditions, with the staging folder and the locks of this machine. Clones share it.
#[derive(Debug, Clone)]
pub struct BlobStore {
    pub content: ContentStore,
    /// Uploads that are not complete yet.
    pub staging: StagingFolder,
    pub parts: PartStore,
    /// Locks between the processes of this machine.
    pub locks: ProcessLocks,
    /// The incomplete uploads of an S3 store.
    incomplete: Option<IncompleteUploads>,
}

/// What an upload or a write has stored so far, while it runs or after it was killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryFile {
    /// Where it is, for messages.
    pub location: String,
    /// Its length; `None` for an incomplete upload to S3, because S3 does not report it.
    pub bytes: Option<u64>,
    /// When it was last written to; for an incomplete upload to S3, when it began.
    pub modified: SystemTime,
    place: TemporaryPlace,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemporaryPlace {
    File(PathBuf),
    Upload(IncompleteUpload),
}

impl TemporaryFile {
    pub fn local(path: PathBuf, bytes: u64, modified: SystemTime) -> Self {
        let location = path.display().to_string();
        Self { location, bytes: Some(bytes), modified, place: TemporaryPlace::File(path) }
    }

    fn upload(upload: IncompleteUpload) -> Self {
        let location = format!("incomplete upload of {}", upload.key);
        Self { location, bytes: None, modified: upload.began, place: TemporaryPlace::Upload(upload) }
    }
}

impl BlobStore {
    /// Opens a store whose parts are all in one local folder, which is created if it does not exist. It may block.
    pub fn open_folder(root: &Path) -> Result<Self, BlobError> {
        let locks = ProcessLocks::open(root)?;
        let (content, staging) = (ContentStore::in_folder(root)?, staging(root)?);
        let parts = PartStore::in_folder(root.join("uploads"))?;
        Ok(Self { content, staging, parts, locks, incomplete: None })
    }

    /// A folder of a store, `root` or below it, that is a link or a file. Through a link, blobs would be written
    /// elsewhere. Blocks.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn linked_folder(root: &Path) -> io::Result<Option<PathBuf>> {
        let inner = ["staging", "uploads", "processes"].map(|name| root.join(name));
        for folder in [root.to_owned()].into_iter().chain(inner).chain(ContentStore::folders(root)) {
            match fs::symlink_metadata(&folder) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Ok(Some(folder)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Opens a store with its blobs and the parts of uploads on another backend. The local folder holds staged uploads
    /// and locks. It may block.
    pub fn open_remote(objects: Arc<dyn ObjectStore>, folder: &Path) -> Result<Self, BlobError> {
        let locks = ProcessLocks::open(folder)?;
        let staging = staging(folder)?;
        let parts = PartStore::on_backend(Arc::clone(&objects), staging.path().to_owned());
        Ok(Self { content: ContentStore::new(objects), staging, parts, locks, incomplete: None })
    }

    /// Opens a store with its blobs and the parts of uploads in an S3 bucket. The local folder holds staged uploads and
    /// locks. It may block, but sends nothing to the S3 server.
    ///
    /// # Errors
    /// [`BlobError::Folder`], [`BlobError::Locked`], or [`BlobError::Unavailable`] for invalid options.
    pub fn open_s3(options: &S3Options, folder: &Path) -> Result<Self, BlobError> {
        let S3 { objects, incomplete } = s3::open(options)?;
        Ok(Self { incomplete: Some(incomplete), ..Self::open_remote(objects, folder)? })
    }

    /// Deletes the temporary files of killed processes and then runs `work`, while other processes that open the store
    /// wait. Returns `None`, and does nothing, if another process uses the store.
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

    /// The temporary files of running uploads and writes, and of killed processes. In an S3 store also the incomplete
    /// uploads of all machines.
    pub async fn temporary_files(&self) -> Result<Vec<TemporaryFile>, BlobError> {
        let store = self.clone();
        let found = run_blocking(move || {
            let listed = store.temporary_entries().and_then(describe);
            listed.map_err(|source| store.locks.failed(source))
        });
        let mut files = found.await.flatten()?;
        if let Some(incomplete) = &self.incomplete {
            files.extend(incomplete.list().await?.into_iter().map(TemporaryFile::upload));
        }
        Ok(files)
    }

    /// Deletes a temporary file of a killed process. It is no error if the file does not exist.
    pub async fn delete_temporary_file(&self, file: &TemporaryFile) -> Result<(), BlobError> {
        match (&file.place, &self.incomplete) {
            (TemporaryPlace::File(path), _) => delete_file(path.clone()).await,
            (TemporaryPlace::Upload(upload), Some(incomplete)) => incomplete.abort(upload).await,
            (TemporaryPlace::Upload(_), None) => Ok(()),
        }
    }

    /// Aborts the uploads to S3 that began before a time and are still not complete, and returns their number. Does
    /// nothing with another backend.
    pub async fn abort_uploads(&self, began_before: SystemTime) -> Result<u64, BlobError> {
        let Some(incomplete) = &self.incomplete else { return Ok(0) };
        let mut aborted = 0;
        for upload in incomplete.list().await?.iter().filter(|upload| upload.began < began_before) {
            incomplete.abort(upload).await?;
            aborted += 1;
        }
        Ok(aborted)
    }
}

async fn delete_file(path: PathBuf) -> Result<(), BlobError> {
    let deleted = run_blocking(move || match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(BlobError::folder(&path, source)),
        _ => Ok(()),
    });
    deleted.await.flatten()
}

fn staging(root: &Path) -> Result<StagingFolder, BlobError> {
    StagingFolder::open(root.join("staging"))
}

fn describe(entries: Vec<fs::DirEntry>) -> io::Result<Vec<TemporaryFile>> {
    let mut files = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry.metadata() {
            Ok(metadata) => {
                files.push(TemporaryFile::local(entry.path(), metadata.len(), metadata.modified()?));
            }
            // A running process renamed or deleted it in between.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(files)
}
