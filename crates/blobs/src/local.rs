use std::{
    fs::{self, DirBuilder, File, TryLockError},
    io::{self, Seek as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, SystemTime},
};

use crate::BlobError;

/// The folder where uploads arrive, beside the blobs, and how their names begin.
pub(crate) const STAGING: &str = "staging";
pub(crate) const UPLOAD_PREFIX: &str = "upload-";
/// The folders of the blobs.
pub(crate) const ORIGINALS: &str = "originals";
pub(crate) const RENDITIONS: &str = "renditions";

/// Held shared by every process that uses the folder. Whoever tidies up holds it alone, and its id is in the file.
const USERS: &str = ".lock";
/// Held by the process that removes blobs.
const SWEEPER: &str = ".sweeper";
/// Held by the process that works on what is queued.
const INDEXER: &str = ".indexer";
/// Held shared by every process that stays, and so comes first in that.
const SERVICE: &str = ".service";

/// How long a process waits for another that tidies up. That takes seconds.
const LOCK_WAIT: Duration = Duration::from_secs(30);
const LOCK_POLL: Duration = Duration::from_millis(20);

/// A blob folder that this process uses. Every process that does holds a shared lock, so that one can find out
/// whether it is alone.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    users: File,
}

/// A temporary file that an upload or a write left, or is still writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryFile {
    /// Its length.
    pub bytes: u64,
    /// When it was last written to.
    pub modified: SystemTime,
}

impl Folder {
    /// Opens a blob folder, and makes it, closed to other users of the machine, if there is none.
    pub(crate) fn open(root: &Path) -> Result<Self, BlobError> {
        Self::open_within(root, LOCK_WAIT)
    }

    fn open_within(root: &Path, wait: Duration) -> Result<Self, BlobError> {
        let failed = |source| BlobError::Folder { path: root.to_owned(), source };
        make_private(root).map_err(failed)?;
        for name in [STAGING, ORIGINALS, RENDITIONS] {
            make_private(&root.join(name)).map_err(failed)?;
        }
        let users = lock_file(root, USERS).map_err(failed)?;
        let folder = Self { root: root.to_owned(), users };
        folder.share(wait)?;
        Ok(folder)
    }

    /// Waits, for so long at most, until no process holds the folder alone.
    fn share(&self, wait: Duration) -> Result<(), BlobError> {
        let mut left = wait;
        loop {
            match self.users.try_lock_shared() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(self.failed(error)),
                Err(TryLockError::WouldBlock) if left.is_zero() => {
                    let path = self.root.join(USERS);
                    let holder = fs::read_to_string(&path).unwrap_or_default();
                    return Err(BlobError::Locked { path, holder: holder.trim().parse().ok() });
                }
                Err(TryLockError::WouldBlock) => {
                    thread::sleep(LOCK_POLL.min(left));
                    left = left.saturating_sub(LOCK_POLL);
                }
            }
        }
    }

    /// Keeps every other process out until the guard is dropped, if there is none now. It may block.
    pub(crate) fn alone(self: &Arc<Self>) -> Result<Option<Alone>, BlobError> {
        match self.users.try_lock() {
            Ok(()) => {
                let alone = Alone(Arc::clone(self));
                if let Err(error) = self.name_holder() {
                    tracing::debug!(%error, "processes that wait cannot say which one they wait for");
                }
                Ok(Some(alone))
            }
            // A failed change of a lock may have lost it.
            Err(TryLockError::WouldBlock) => self.share(LOCK_WAIT).map(|()| None),
            Err(TryLockError::Error(error)) => Err(self.failed(error)),
        }
    }

    fn name_holder(&self) -> io::Result<()> {
        let mut users = &self.users;
        users.set_len(0)?;
        users.rewind()?;
        users.write_all(std::process::id().to_string().as_bytes())
    }

    /// The right to remove blobs, which one process at a time has; `None` while another has it.
    pub(crate) fn sweeper(&self) -> Result<Option<File>, BlobError> {
        self.try_lock(SWEEPER, File::try_lock)
    }

    /// The right to work on what is queued, which one process at a time has; `None` while another has it.
    pub(crate) fn indexer(&self) -> Result<Option<File>, BlobError> {
        self.try_lock(INDEXER, File::try_lock)
    }

    /// Tells the others that this process stays. `None` for a moment when one of them is just asking.
    pub(crate) fn service(&self) -> Result<Option<File>, BlobError> {
        self.try_lock(SERVICE, File::try_lock_shared)
    }

    /// Whether a process stays.
    pub(crate) fn has_service(&self) -> Result<bool, BlobError> {
        Ok(self.try_lock(SERVICE, File::try_lock)?.is_none())
    }

    fn try_lock(
        &self,
        name: &str,
        lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> Result<Option<File>, BlobError> {
        let file = lock_file(&self.root, name).map_err(|error| self.failed(error))?;
        match lock(&file) {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(self.failed(error)),
        }
    }

    fn failed(&self, source: io::Error) -> BlobError {
        BlobError::Folder { path: self.root.clone(), source }
    }
}

/// Nobody else uses the folder while this is held.
#[derive(Debug)]
pub(crate) struct Alone(Arc<Folder>);

impl Alone {
    /// Removes what killed processes left unfinished: staged uploads and temporary names. What is not ours stays.
    pub(crate) fn remove_unfinished(&self) -> io::Result<()> {
        for file in temporary_files(&self.0.root)? {
            fs::remove_file(file.path())?;
        }
        Ok(())
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        // No longer the holder.
        let _ = self.0.users.set_len(0);
        if let Err(error) = self.0.share(LOCK_WAIT) {
            tracing::warn!(%error, "another process may take the blob folder for unused");
        }
    }
}

/// The temporary files in a blob folder. They are few, so that they are looked at one by one.
pub(crate) fn unfinished(root: &Path) -> io::Result<Vec<TemporaryFile>> {
    let mut files = Vec::new();
    for file in temporary_files(root)? {
        match file.metadata() {
            Ok(metadata) => {
                files.push(TemporaryFile { bytes: metadata.len(), modified: metadata.modified()? });
            }
            // A running process has renamed or removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(files)
}

fn temporary_files(root: &Path) -> io::Result<Vec<fs::DirEntry>> {
    let is_upload = |name: &str| name.starts_with(UPLOAD_PREFIX);
    let mut files = files_named(&root.join(STAGING), is_upload)?;
    for kind in [ORIGINALS, RENDITIONS] {
        for shard in fs::read_dir(root.join(kind))? {
            let shard = shard?;
            if shard.file_type()?.is_dir() && shard.file_name().len() == 2 {
                files.extend(files_named(&shard.path(), is_temporary)?);
            }
        }
    }
    Ok(files)
}

/// The local backend writes `name#1` before it renames to `name`.
fn is_temporary(name: &str) -> bool {
    name.split_once('#').is_some_and(|(hash, number)| {
        hash.len() == 64
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn files_named(folder: &Path, is_ours: impl Fn(&str) -> bool) -> io::Result<Vec<fs::DirEntry>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.file_name().to_str().is_some_and(&is_ours) {
            files.push(entry);
        }
    }
    Ok(files)
}

fn lock_file(root: &Path, name: &str) -> io::Result<File> {
    let path = root.join(name);
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path)?;
    restrict_permissions(&path, 0o600)?;
    Ok(file)
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    restrict_permissions(folder, 0o700).map(|_| ())
}

/// Takes a file or folder away from other users of the machine, and logs that; `true` when they could open it. Some file
/// systems have no modes, and a folder may belong to somebody else: then only the log says so.
///
/// # Errors
/// The file or folder is not there, or cannot be looked at.
#[cfg(unix)]
pub fn restrict_permissions(path: &Path, mode: u32) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    let before = path.metadata()?.permissions().mode() & 0o777;
    if before & 0o077 == 0 {
        return Ok(false);
    }
    let shown = path.display();
    match fs::set_permissions(path, fs::Permissions::from_mode(mode)) {
        Ok(()) => tracing::warn!("{shown} had the mode {before:04o}; it has {mode:04o} now"),
        Err(error) => tracing::warn!(%error, "{shown} has the mode {before:04o}; other users can open it"),
    }
    Ok(true)
}

/// Only Unix has such modes.
#[cfg(not(unix))]
pub fn close_to_others(_: &Path, _: u32) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_told_from_others() {
        let hash = "0f".repeat(32);
        assert!(is_temporary(&format!("{hash}#1")));
        for other in [hash.as_str(), "IMG #1.jpg", "#1", &format!("{hash}#1.jpg"), &format!("{hash}x#1")] {
            assert!(!is_temporary(other), "{other}");
        }
    }

    #[test]
    fn the_wait_for_a_lock_has_an_end_and_names_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Arc::new(Folder::open(dir.path()).unwrap());
        let alone = folder.alone().unwrap().unwrap();
        let error = Folder::open_within(dir.path(), Duration::ZERO).unwrap_err();
        let lock = dir.path().join(".lock").display().to_string();
        let (said, id) = (error.to_string(), std::process::id());
        assert!(said.contains(&lock) && said.contains(&format!("process {id}")), "{said}");
        drop(alone);
        assert!(Folder::open_within(dir.path(), Duration::ZERO).is_ok());
    }

    #[test]
    fn one_indexes_and_whoever_stays_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let (import, server) = (Folder::open(dir.path()).unwrap(), Folder::open(dir.path()).unwrap());
        let right = import.indexer().unwrap();
        assert!(right.is_some() && server.indexer().unwrap().is_none());
        assert!(!import.has_service().unwrap());
        let service = server.service().unwrap();
        assert!(service.is_some() && server.service().unwrap().is_some() && import.has_service().unwrap());
        drop(right);
        assert!(server.indexer().unwrap().is_some());
        drop(service);
        assert!(!import.has_service().unwrap());
    }
}
