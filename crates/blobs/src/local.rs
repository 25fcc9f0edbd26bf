use std::{
    fs::{self, File, TryLockError},
    io,
    path::Path,
};

use crate::BlobError;

/// The folder where uploads arrive, beside the blobs.
pub(crate) const STAGING: &str = "staging";

/// Held for as long as a process uses the folder, so that the next one to open it knows whether it is alone.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
}

/// Opens a blob folder. A process that finds itself alone there removes what killed processes left unfinished:
/// staged uploads and temporary names. Returns whether it was alone.
pub(crate) fn open_folder(root: &Path) -> Result<(FolderLock, bool), BlobError> {
    let failed = |source| BlobError::Folder { path: root.to_owned(), source };
    fs::create_dir_all(root.join(STAGING)).map_err(failed)?;
    let file =
        File::options().create(true).truncate(false).write(true).open(root.join(".lock")).map_err(failed)?;
    let alone = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    };
    if alone {
        remove_unfinished(root).map_err(failed)?;
        // Between the two calls another process may find itself alone; this one has nothing unfinished yet.
        file.unlock().map_err(failed)?;
    }
    file.lock_shared().map_err(failed)?;
    Ok((FolderLock { _file: file }, alone))
}

fn remove_unfinished(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root.join(STAGING))? {
        fs::remove_file(entry?.path())?;
    }
    for kind in fs::read_dir(root)? {
        let kind = kind?;
        if !kind.file_type()?.is_dir() || kind.file_name() == STAGING {
            continue;
        }
        for shard in fs::read_dir(kind.path())? {
            remove_temporary_names(&shard?.path())?;
        }
    }
    Ok(())
}

/// The local backend writes `name#1` before it renames to `name`.
fn remove_temporary_names(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().contains(&b'#') {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
