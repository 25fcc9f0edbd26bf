use std::{
    any::type_name,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use diesel::{Connection as _, SqliteConnection};
use storage::StorageError;
use tokio::task::spawn_blocking;

use crate::{
    classify::{describe, hint},
    connection::{ConnectionRole, Durability, connect},
    inline_pool::InlinePool,
    library_state::require_open,
    sql::{
        Lock, SqlError,
        operation::{Operation, Output},
        pool::{Pool, PoolLimits},
        traced, traced_here,
    },
    writer::{WAIT_TIMEOUT, Writer},
};

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Maximum number of concurrent read operations; at least 1.
    pub readers: usize,
    /// When a commit returns.
    pub durability: Durability,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { readers: 8, durability: Durability::Full }
    }
}

/// The photo library's metadata in one SQLite file.
///
/// Clones are cheap and share the connections. Dropping the last clone finishes the queued writes and closes the
/// connections; if no other process has the file open, SQLite then removes the WAL.
#[derive(Clone)]
pub struct SqliteStore {
    readers: Pool,
    inline: InlinePool,
    // Dropped last: the last connection to close checkpoints the WAL.
    writer: Writer,
}

impl SqliteStore {
    /// Opens the file, or creates it, readable by its owner only. It does not migrate.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`] when the file cannot be created or opened as a database.
    pub async fn open(path: &Path, options: SqliteOptions) -> Result<Self, StorageError> {
        let path = path.to_owned();
        let name_file = opening_error(&path);
        let opening = spawn_blocking(move || {
            let url = create_file(&path).map_err(|error| StorageError::Unavailable(error.to_string()))?;
            let open = move |role| connect(&url, role, options.durability);
            // The writer first: it switches a new file to WAL and reports a broken one.
            let open_writer = open.clone();
            let writer = Writer::start(move || open_writer(ConnectionRole::Writer))?;
            let inline = InlinePool::open(|| open(ConnectionRole::InlineReader))?;
            let limits = PoolLimits {
                connections: options.readers,
                wait: WAIT_TIMEOUT,
                age: Duration::MAX,
                idle: Duration::MAX,
            };
            let readers = Pool::new(limits, move || open(ConnectionRole::Reader));
            Ok::<_, StorageError>(Self { readers, inline, writer })
        });
        opening.await.map_err(|error| StorageError::Unavailable(error.to_string()))?.map_err(name_file)
    }

    /// Runs a read-only operation of several statements on one snapshot.
    pub(crate) async fn read<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    {
        self.read_boxed(type_name::<F>(), boxed(operation)).await?.into_type()
    }

    async fn read_boxed(&self, name: &'static str, operation: Operation) -> Result<Output, StorageError> {
        traced(name, self.readers.run(Box::new(move |c| c.transaction(operation)))).await
    }

    /// As [`read`](Self::read), for an operation that may take minutes. Meanwhile the WAL only grows.
    pub(crate) async fn read_at_length<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    {
        self.read(operation).await
    }

    /// Runs a read-only operation of one statement, which needs no transaction.
    pub(crate) async fn query<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    {
        traced(type_name::<F>(), self.readers.run(boxed(operation))).await?.into_type()
    }

    /// Runs a frequent look-up on the calling thread if possible. The operation must find a single row by key, or read a
    /// table that never has more than a few rows.
    pub(crate) async fn query_inline<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    {
        match traced_here(type_name::<F>(), || self.inline.try_run(&operation)) {
            Some(outcome) => outcome,
            None => self.query(operation).await,
        }
    }

    /// Runs an operation that writes, isolated as if in a transaction of its own. The writer's thread excludes all
    /// other writes, so the lock has no effect. Fails unless the library is open.
    pub(crate) async fn write<T, F>(&self, _lock: Lock, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    {
        self.write_if_open(type_name::<F>(), boxed(operation)).await?.into_type()
    }

    async fn write_if_open(&self, name: &'static str, operation: Operation) -> Result<Output, StorageError> {
        let operation_if_open = Box::new(|c: &mut SqliteConnection| {
            require_open(c)?;
            operation(c)
        });
        traced(name, self.writer.write(operation_if_open)).await
    }

    /// As [`write`](Self::write), but also allowed while the library is not open.
    pub(crate) async fn write_in_any_state<T, F>(&self, _lock: Lock, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    {
        traced(type_name::<F>(), self.writer.write(boxed(operation))).await?.into_type()
    }

    /// Runs migrations.
    pub(crate) async fn write_alone<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    {
        self.write_in_any_state(Lock::Everything, operation).await
    }

    #[cfg(test)]
    pub(crate) fn queued_writes(&self) -> usize {
        self.writer.queued()
    }
}

pub(crate) fn boxed<T, F>(operation: F) -> Operation
where
    T: Send + 'static,
    F: FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
{
    Box::new(move |c| operation(c).map(Output::new))
}

/// Adds the file's path and a hint to an error of SQLite about the file.
fn opening_error(path: &Path) -> impl Fn(StorageError) -> StorageError + use<> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    move |error| match error {
        StorageError::Unavailable(message) if hint(&message).is_some() => {
            StorageError::Unavailable(format!("{}: {}", path.display(), describe(&message)))
        }
        other => other,
    }
}

/// Creates the file unless it exists. Returns its absolute path, which SQLite never takes for a URI.
fn create_file(path: &Path) -> io::Result<String> {
    let path: PathBuf = std::path::absolute(path)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let with_path = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    drop(options.open(&path).map_err(with_path)?);
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the database path is not UTF-8"))
}
