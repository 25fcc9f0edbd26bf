//! The folder of a backup.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use blobs::{BlobStore, create_private_file, open_regular, read_regular, restrict_permissions};

use crate::{
    BackupError, Manifest, ManifestError,
    manifest::{MAX_BYTES, ROWS_PREFIX, SECRET_PREFIX},
};

const MANIFEST: &str = "backup.json";
const NEW_MANIFEST: &str = "backup.json.new";
/// Locked by a process that uses the folder. Its presence also marks a folder whose first backup is not complete.
const LOCK: &str = "backup.lock";
const BLOBS: &str = "blobs";

/// The folder while this process has its lock.
pub(crate) struct Folder {
    path: PathBuf,
    _lock: Option<File>,
}

impl Folder {
    /// Opens a folder for a backup, and creates it if it does not exist. Blocks.
    pub(crate) fn create(path: &Path) -> Result<Self, BackupError> {
        let path = std::path::absolute(path).map_err(BackupError::io(path))?;
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).map_err(BackupError::io(&path))?;
        let is_ours = |name: &str| path.join(name).try_exists().map_err(BackupError::io(&path));
        let is_empty = fs::read_dir(&path).map_err(BackupError::io(&path))?.next().is_none();
        if !is_empty && !is_ours(MANIFEST)? && !is_ours(LOCK)? {
            return Err(BackupError::NotABackup(path));
        }
        restrict_permissions(&path, 0o700).map_err(BackupError::io(&path))?;
        if let Some(folder) = BlobStore::linked_folder(&path.join(BLOBS)).map_err(BackupError::io(&path))? {
            return Err(BackupError::NotAFolder(folder));
        }
        let lock_path = path.join(LOCK);
        let lock = lock_file(&lock_path).map_err(BackupError::io(&lock_path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => Err(BackupError::InUse(path)),
            Err(TryLockError::Error(source)) => Err(BackupError::Io { path, source }),
        }
    }

    /// Opens a folder with a backup, which may be on a read-only file system. Blocks.
    pub(crate) fn open(path: &Path) -> Result<Self, BackupError> {
        let path = std::path::absolute(path).map_err(BackupError::io(path))?;
        // A copy of a backup may lack the lock file. No process writes to such a copy.
        let lock_path = path.join(LOCK);
        let lock = match read_regular(&lock_path) {
            Ok(lock) => Some(lock),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(BackupError::io(&lock_path)(error)),
        };
        if let Some(lock) = &lock
            && matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
        {
            return Err(BackupError::InUse(path));
        }
        Ok(Self { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.path.join(BLOBS)
    }

    pub(crate) fn manifest_file(&self) -> PathBuf {
        self.path.join(MANIFEST)
    }

    /// Reads the manifest. Blocks.
    pub(crate) fn manifest(&self) -> Result<Manifest, BackupError> {
        let path = self.manifest_file();
        let failed = |source| BackupError::Manifest { path: path.clone(), source };
        let file = match read_regular(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BackupError::NoBackup(self.path.clone()));
            }
            file => file.map_err(BackupError::io(&path))?,
        };
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(BackupError::io(&path))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(failed(ManifestError::TooLong));
        }
        Manifest::parse(&bytes).map_err(failed)
    }

    /// Writes a file that only its owner can read, and syncs it. Blocks.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), BackupError> {
        let path = self.file(name);
        let write = || {
            let mut file = create_private_file(&path)?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        write().map_err(BackupError::io(&path))
    }

    /// Replaces the manifest: from now on, the folder has this backup. Blocks.
    pub(crate) fn commit(&self, manifest: &Manifest) -> Result<(), BackupError> {
        let path = self.manifest_file();
        let json =
            manifest.to_json().map_err(|source| BackupError::Manifest { path: path.clone(), source })?;
        // First makes the files durable that the manifest names.
        sync_folder(&self.path).map_err(BackupError::io(&self.path))?;
        self.write(NEW_MANIFEST, &json)?;
        fs::rename(self.file(NEW_MANIFEST), &path).map_err(BackupError::io(&path))?;
        sync_folder(&self.path).map_err(BackupError::io(&self.path))
    }

    /// Deletes the files of other backups. Blocks.
    pub(crate) fn delete_others(&self, manifest: &Manifest) -> Result<(), BackupError> {
        let kept = [manifest.rows_file(), manifest.secret_file()];
        let is_ours = |name: &str| {
            name.starts_with(ROWS_PREFIX) || name.starts_with(SECRET_PREFIX) || name == NEW_MANIFEST
        };
        for entry in fs::read_dir(&self.path).map_err(BackupError::io(&self.path))? {
            let entry = entry.map_err(BackupError::io(&self.path))?;
            let path = entry.path();
            let is_file = entry.file_type().map_err(BackupError::io(&path))?.is_file();
            let is_left = entry
                .file_name()
                .to_str()
                .is_some_and(|name| is_ours(name) && !kept.iter().any(|kept| kept == name));
            if is_file && is_left {
                fs::remove_file(&path).map_err(BackupError::io(&path))?;
            }
        }
        Ok(())
    }
}

/// Opens or creates the lock file. Nothing is written to it, so it does no harm if the file has a second name and
/// belongs to another program.
fn lock_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    open_regular(path, &mut options)
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Other systems cannot open folders.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Runs blocking work.
pub(crate) async fn blocking<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => Err(BackupError::io(path)(io::Error::other(error))),
    }
}
