//! The lock that a server holds on its data folder, so that a second one can say so.

use std::{
    fs::{File, TryLockError},
    io::{self, Seek as _, Write as _},
    path::Path,
};

/// The lock file. The id of the process that holds it is in it.
const FILE: &str = ".serving";

/// Whether another process serves the data folder.
#[derive(Debug)]
pub(crate) enum ServingLock {
    /// No; this one does, until the file is closed.
    Held { _file: File },
    /// Yes, with this id, unless it is just starting.
    Other(Option<u32>),
}

impl ServingLock {
    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// The lock file cannot be used.
    pub(crate) fn take(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join(FILE);
        let mut options = File::options();
        options.create(true).truncate(false).write(true).read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)?;
                file.rewind()?;
                file.write_all(std::process::id().to_string().as_bytes())?;
                Ok(Self::Held { _file: file })
            }
            Err(TryLockError::WouldBlock) => Ok(Self::Other(io::read_to_string(file)?.trim().parse().ok())),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Says that another process serves the folder.
    pub(crate) fn other(&self, data_dir: &Path) -> Option<String> {
        let Self::Other(id) = self else { return None };
        let process = id.map(|id| format!(" (process {id})")).unwrap_or_default();
        Some(format!("another `server serve`{process} already serves {}", data_dir.display()))
    }
}
