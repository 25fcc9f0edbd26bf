use std::{
    fs::{self, File, TryLockError},
    io::{self, Seek as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use crate::{
    BlobError,
    lock_file::lock_file,
    owners::{EndedOwner, OwnerLock, ended_owners},
    permissions::create_private_folder,
};

/// Every process that uses the folder holds this lock shared. The process that cleans up holds it exclusively and writes
/// its id into the file.
const USERS: &str = ".lock";
/// The folder of the locks below, and of the files of owners.
const PROCESSES: &str = "processes";
/// The process that works on the queues holds this lock.
const INDEXER: &str = "indexer";
/// Every long-running process holds this lock shared. Other processes leave the indexer lock to it.
const SERVICE: &str = "service";
/// Every process that only works on the queues holds this lock shared. Long-running processes leave the indexer lock to
/// it.
const WORKER: &str = "worker";

/// How long a process waits for another one that cleans up, which takes seconds.
const LOCK_WAIT: Duration = Duration::from_secs(30);
const LOCK_POLL: Duration = Duration::from_millis(20);

/// File locks that coordinate the processes of one machine. The system releases the locks of a process that is killed.
///
/// They protect resources of the machine: its memory and its temporary files. Roles in the metadata store coordinate
/// the processes of several machines.
#[derive(Debug, Clone)]
pub struct ProcessLocks {
    folder: Arc<Folder>,
    /// Created at the first use.
    processes: Arc<Path>,
}

/// Permission to work on the queues. One process of the machine holds it at a time, until it drops this value.
#[derive(Debug)]
pub struct IndexerLock {
    _file: File,
}

/// Marks this process as long-running, until it drops this value.
#[derive(Debug)]
pub struct ServiceLock {
    _file: File,
}

/// Marks this process as one that only works on the queues, until it drops this value.
#[derive(Debug)]
pub struct WorkerLock {
    _file: File,
}

impl ProcessLocks {
    /// Opens the locks of a folder, which is created if it does not exist. Waits while another process cleans up.
    ///
    /// # Errors
    /// [`BlobError::Folder`], or [`BlobError::Locked`] after 30 seconds.
    pub(crate) fn open(root: &Path) -> Result<Self, BlobError> {
        Self::open_within(root, LOCK_WAIT)
    }

    fn open_within(root: &Path, wait: Duration) -> Result<Self, BlobError> {
        let failed = |source| BlobError::folder(root, source);
        create_private_folder(root).map_err(failed)?;
        let users = lock_file(root, USERS).map_err(failed)?;
        let folder = Folder { root: root.to_owned(), users };
        folder.lock_shared(wait)?;
        Ok(Self { folder: Arc::new(folder), processes: root.join(PROCESSES).into() })
    }

    /// Coordinates the processes that use this folder of the machine, instead of those that use the folder of the blobs,
    /// which other machines may use, too.
    #[must_use]
    pub fn of_machine(self, folder: &Path) -> Self {
        Self { processes: folder.join(PROCESSES).into(), ..self }
    }

    /// Excludes all other processes until the guard is dropped; `None` if there are others now. It may block.
    pub(crate) fn try_exclusive(&self) -> Result<Option<ExclusiveLock>, BlobError> {
        let folder = &self.folder;
        match folder.users.try_lock() {
            Ok(()) => {
                let lock = ExclusiveLock(Arc::clone(folder));
                if let Err(error) = folder.write_holder() {
                    tracing::debug!(%error, "the process id could not be written to the lock file");
                }
                Ok(Some(lock))
            }
            // A failed upgrade of a lock may have released it.
            Err(TryLockError::WouldBlock) => folder.lock_shared(LOCK_WAIT).map(|()| None),
            Err(TryLockError::Error(error)) => Err(folder.failed(error)),
        }
    }

    /// The permission to work on the queues; `None` while another process of the machine holds it. One process decodes at
    /// a time, so that its memory budget is the budget of the machine.
    pub fn try_indexer(&self) -> Result<Option<IndexerLock>, BlobError> {
        Ok(self.try_lock(INDEXER, File::try_lock)?.map(|file| IndexerLock { _file: file }))
    }

    /// Marks this process as long-running, so that others leave the [indexer](Self::try_indexer) to it. `None` while
    /// another process checks [`has_service`](Self::has_service); try again then.
    pub fn try_service(&self) -> Result<Option<ServiceLock>, BlobError> {
        Ok(self.try_lock(SERVICE, File::try_lock_shared)?.map(|file| ServiceLock { _file: file }))
    }

    /// Whether there is a long-running process. A process that holds a [`ServiceLock`] must not call this.
    pub fn has_service(&self) -> Result<bool, BlobError> {
        Ok(self.try_lock(SERVICE, File::try_lock)?.is_none())
    }

    /// Marks this process as one that only works on the queues, so that long-running processes leave the
    /// [indexer](Self::try_indexer) to it. `None` while another process checks [`has_worker`](Self::has_worker); try again
    /// then.
    pub fn try_worker(&self) -> Result<Option<WorkerLock>, BlobError> {
        Ok(self.try_lock(WORKER, File::try_lock_shared)?.map(|file| WorkerLock { _file: file }))
    }

    /// Whether there is a process that only works on the queues. A process that holds a [`WorkerLock`] must not call this.
    pub fn has_worker(&self) -> Result<bool, BlobError> {
        Ok(self.try_lock(WORKER, File::try_lock)?.is_none())
    }

    /// Marks an owner of leases or roles in the metadata store as alive, until this process ends or drops the value. `id`
    /// consists of ASCII letters and digits.
    pub fn register_owner(&self, id: &str) -> Result<OwnerLock, BlobError> {
        self.create_folder()?;
        OwnerLock::register(&self.processes, id).map_err(|error| self.failed_processes(error))
    }

    /// The owners of this machine that ended without releasing what they held, for example because they were killed.
    /// No other process gets them while these values exist.
    pub fn ended_owners(&self) -> Result<Vec<EndedOwner>, BlobError> {
        match ended_owners(&self.processes) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed.map_err(|error| self.failed_processes(error)),
        }
    }

    fn try_lock(
        &self,
        name: &str,
        lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> Result<Option<File>, BlobError> {
        self.create_folder()?;
        let file = lock_file(&self.processes, name).map_err(|error| self.failed_processes(error))?;
        match lock(&file) {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(self.failed_processes(error)),
        }
    }

    fn create_folder(&self) -> Result<(), BlobError> {
        create_private_folder(&self.processes).map_err(|error| self.failed_processes(error))
    }

    fn failed_processes(&self, source: io::Error) -> BlobError {
        BlobError::folder(&self.processes, source)
    }

    pub(crate) fn failed(&self, source: io::Error) -> BlobError {
        self.folder.failed(source)
    }
}

#[derive(Debug)]
struct Folder {
    root: PathBuf,
    users: File,
}

impl Folder {
    /// Waits until no process holds the folder exclusively.
    fn lock_shared(&self, wait: Duration) -> Result<(), BlobError> {
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

    fn write_holder(&self) -> io::Result<()> {
        self.write_to_lock(std::process::id().to_string().as_bytes())
    }

    /// Replaces the text about the holder in the lock file. Does nothing if the file has a second name, because it may
    /// then belong to another program.
    fn write_to_lock(&self, text: &[u8]) -> io::Result<()> {
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::nlink(&self.users.metadata()?) > 1 {
            return Ok(());
        }
        let mut users = &self.users;
        users.set_len(0)?;
        users.rewind()?;
        users.write_all(text)
    }

    fn failed(&self, source: io::Error) -> BlobError {
        BlobError::folder(&self.root, source)
    }
}

/// No other process uses the folder while this value exists. Dropping it may block.
#[derive(Debug)]
pub(crate) struct ExclusiveLock(Arc<Folder>);

impl Drop for ExclusiveLock {
    fn drop(&mut self) {
        // Removes the process id, because this process no longer holds the lock exclusively.
        let _ = self.0.write_to_lock(b"");
        if let Err(error) = self.0.lock_shared(LOCK_WAIT) {
            tracing::warn!(%error, "the blob folder is not locked; another process may treat it as unused");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_lock_times_out_and_names_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let locks = ProcessLocks::open(dir.path()).unwrap();
        let exclusive = locks.try_exclusive().unwrap().unwrap();
        let error = ProcessLocks::open_within(dir.path(), Duration::ZERO).unwrap_err();
        let lock = dir.path().join(".lock").display().to_string();
        let (message, id) = (error.to_string(), std::process::id());
        assert!(message.contains(&lock) && message.contains(&format!("process {id}")), "{message}");
        drop(exclusive);
        assert!(ProcessLocks::open_within(dir.path(), Duration::ZERO).is_ok());
    }

    #[test]
    fn only_one_process_is_the_indexer_and_services_are_visible() {
        let dir = tempfile::tempdir().unwrap();
        let (import, server) =
            (ProcessLocks::open(dir.path()).unwrap(), ProcessLocks::open(dir.path()).unwrap());
        let indexer = import.try_indexer().unwrap();
        assert!(indexer.is_some() && server.try_indexer().unwrap().is_none());
        assert!(!import.has_service().unwrap());
        let service = server.try_service().unwrap();
        assert!(
            service.is_some() && server.try_service().unwrap().is_some() && import.has_service().unwrap()
        );
        drop(indexer);
        assert!(server.try_indexer().unwrap().is_some());
        drop(service);
        assert!(!import.has_service().unwrap());
        assert!(!server.has_worker().unwrap());
        let worker = import.try_worker().unwrap();
        assert!(worker.is_some() && server.has_worker().unwrap());
    }

    #[test]
    fn locks_of_a_machine_do_not_exclude_another_machine() {
        let (dir, one, other) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let locks = |machine: &Path| ProcessLocks::open(dir.path()).unwrap().of_machine(machine);
        let indexer = locks(one.path()).try_indexer().unwrap();
        assert!(indexer.is_some() && locks(one.path()).try_indexer().unwrap().is_none());
        assert!(locks(other.path()).try_indexer().unwrap().is_some());
    }
}
