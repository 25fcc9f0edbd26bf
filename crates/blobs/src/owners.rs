//! Files that show which owners of leases and roles are alive on this machine.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use crate::lock_file::lock_file;

/// The prefix of the names of the files.
const PREFIX: &str = "owner-";

/// Maximum number of attempts to register an owner. Another process may remove the new file before it is locked,
/// because it looks like the file of an ended owner.
const ATTEMPTS: u32 = 5;

/// Marks an owner of leases or roles as alive. If this value is dropped, or its process killed, the owner counts as ended.
#[derive(Debug)]
pub struct OwnerLock {
    path: PathBuf,
    file: File,
}

/// An owner that ended without releasing what it held.
#[derive(Debug)]
pub struct EndedOwner {
    pub id: String,
    /// The lock of its file. Remove it when the leases and roles of the owner are released.
    pub lock: OwnerLock,
}

impl OwnerLock {
    pub(crate) fn register(folder: &Path, id: &str) -> io::Result<Self> {
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        let name = format!("{PREFIX}{id}");
        for _ in 0..ATTEMPTS {
            // Between the creation and the lock, the file looks like that of an ended owner.
            if let Some(lock) = Self::try_lock(folder, &name)?
                && lock.path.try_exists()?
            {
                return Ok(lock);
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    fn try_lock(folder: &Path, name: &str) -> io::Result<Option<Self>> {
        let file = lock_file(folder, name)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { path: folder.join(name), file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Removes the file, because the owner holds nothing any more.
    pub fn remove(self) {
        // Removes the file before the lock is released, so that no other process sees an ended owner.
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, path = %self.path.display(), "the file of an ended owner was not removed");
        }
        drop(self.file);
    }
}

/// The owners in a folder whose files nobody has locked.
pub(crate) fn ended_owners(folder: &Path) -> io::Result<Vec<EndedOwner>> {
    let mut ended = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some((name, id)) = name.to_str().and_then(|name| Some((name, name.strip_prefix(PREFIX)?))) else {
            continue;
        };
        // Opened without creating it: its owner may just have removed it.
        let path = folder.join(name);
        let file = match File::options().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => ended.push(EndedOwner { id: id.to_owned(), lock: OwnerLock { path, file } }),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(folder: &Path) -> Vec<String> {
        let mut ids: Vec<String> = ended_owners(folder).unwrap().into_iter().map(|ended| ended.id).collect();
        ids.sort();
        ids
    }

    #[test]
    fn an_owner_has_ended_when_its_lock_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let (killed, alive) =
            (OwnerLock::register(dir.path(), "a").unwrap(), OwnerLock::register(dir.path(), "b").unwrap());
        assert_eq!(ids(dir.path()), [""; 0]);
        drop(killed);
        let ended = ended_owners(dir.path()).unwrap();
        assert_eq!(ended.len(), 1);
        assert_eq!(ids(dir.path()), [""; 0], "one process gets an ended owner at a time");
        drop(ended);
        assert_eq!(ids(dir.path()), ["a"], "it is found again until it is removed");
        for ended in ended_owners(dir.path()).unwrap() {
            ended.lock.remove();
        }
        alive.remove();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_plain_ids_become_file_names() {
        let dir = tempfile::tempdir().unwrap();
        for id in ["", "a/b", "..", "a.b"] {
            assert!(OwnerLock::register(dir.path(), id).is_err(), "{id}");
        }
    }
}
