use std::{
    fs::{self, DirBuilder, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use crate::BlobError;

/// The folder where uploads arrive, beside the blobs, and how their names begin.
pub(crate) const STAGING: &str = "staging";
pub(crate) const UPLOAD_PREFIX: &str = "upload-";
/// The folders of the blobs.
pub(crate) const ORIGINALS: &str = "originals";
pub(crate) const RENDITIONS: &str = "renditions";

/// A blob folder that this process uses. Every process that does holds a shared lock, so that one can find out
/// whether it is alone.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    users: File,
}

impl Folder {
    /// Opens a blob folder, and makes it, closed to other users of the machine, if there is none.
    pub(crate) fn open(root: &Path) -> Result<Self, BlobError> {
        let failed = |source| BlobError::Folder { path: root.to_owned(), source };
        fs::create_dir_all(root).map_err(failed)?;
        for name in [STAGING, ORIGINALS, RENDITIONS] {
            make_private(&root.join(name)).map_err(failed)?;
        }
        let users = lock_file(root, ".lock").map_err(failed)?;
        users.lock_shared().map_err(failed)?;
        Ok(Self { root: root.to_owned(), users })
    }

    /// Keeps every other process out until the guard is dropped, if there is none now.
    pub(crate) fn alone(&self) -> Result<Option<Alone<'_>>, BlobError> {
        match self.users.try_lock() {
            Ok(()) => Ok(Some(Alone(self))),
            // A failed change of a lock may have lost it.
            Err(TryLockError::WouldBlock) => self.users.lock_shared().map(|()| None),
            Err(TryLockError::Error(error)) => Err(error),
        }
        .map_err(|source| BlobError::Folder { path: self.root.clone(), source })
    }

    /// The right to remove blobs, which one process at a time has; `None` while another has it.
    pub(crate) fn sweeper(&self) -> Result<Option<File>, BlobError> {
        let failed = |source| BlobError::Folder { path: self.root.clone(), source };
        let file = lock_file(&self.root, ".sweeper").map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// Nobody else uses the folder while this is held.
#[derive(Debug)]
pub(crate) struct Alone<'a>(&'a Folder);

impl Alone<'_> {
    /// Removes what killed processes left unfinished: staged uploads and temporary names. What is not ours stays.
    pub(crate) fn remove_unfinished(&self) -> io::Result<()> {
        let is_upload = |name: &str| name.starts_with(UPLOAD_PREFIX);
        remove_files(&self.0.root.join(STAGING), is_upload)?;
        for kind in [ORIGINALS, RENDITIONS] {
            for shard in fs::read_dir(self.0.root.join(kind))? {
                let shard = shard?;
                if shard.file_type()?.is_dir() && shard.file_name().len() == 2 {
                    remove_files(&shard.path(), is_temporary)?;
                }
            }
        }
        Ok(())
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.0.users.lock_shared() {
            tracing::warn!(%error, "the blob folder stays closed to other processes");
        }
    }
}

/// The local backend writes `name#1` before it renames to `name`.
fn is_temporary(name: &str) -> bool {
    name.split_once('#').is_some_and(|(hash, number)| {
        hash.len() == 64
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn remove_files(folder: &Path, is_ours: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.file_name().to_str().is_some_and(&is_ours) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn lock_file(root: &Path, name: &str) -> io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(root.join(name))
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(unix)]
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
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
}
