//! Lock file to detect another server on the same data folder.

use std::{
    fs::{File, TryLockError},
    io::{self, Seek as _, Write as _},
    path::Path,
};

/// The lock file. It contains the process ID of its holder.
const FILE: &str = ".serving";

/// The result of trying to lock the data folder for serving.
#[derive(Debug)]
pub(crate) enum ServingLock {
    /// This process holds the lock until the file is closed.
    Held { _file: File },
    /// Another process holds the lock. Its ID is missing while it starts.
    HeldByOther(Option<u32>),
}

impl ServingLock {
    /// Acquires the lock if it is free.
    ///
    /// # Errors
    /// The lock file cannot be opened, read or written.
    pub(crate) fn try_acquire(data_dir: &Path) -> io::Result<Self> {
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
            Err(TryLockError::WouldBlock) => {
                Ok(Self::HeldByOther(io::read_to_string(file)?.trim().parse().ok()))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// A message about the other server, if there is one.
    pub(crate) fn other_server(&self, data_dir: &Path) -> Option<String> {
        let Self::HeldByOther(id) = self else { return None };
        let process = id.map(|id| format!(" (process {id})")).unwrap_or_default();
        Some(format!("another `server serve`{process} already serves {}", data_dir.display()))
    }
}
