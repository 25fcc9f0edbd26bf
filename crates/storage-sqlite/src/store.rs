use std::{
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::Duration,
};

use diesel::{Connection as _, SqliteConnection, result::Error};
use diesel_async::pooled_connection::{
    AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod,
    deadpool::{Object, Pool},
};
use futures_util::FutureExt as _;
use storage::StorageError;

use crate::{
    connection::{Connection, Durability, Role, connect, establish},
    error::{Failure, remedy, told},
    here::Here,
    writer::Writer,
};

/// How long an operation waits for a connection before it gives up.
pub(crate) const WAIT_FOR_CONNECTION: Duration = Duration::from_secs(30);

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How many operations can read at once; at least 1.
    pub readers: usize,
    /// What a commit waits for.
    pub durability: Durability,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { readers: 8, durability: Durability::Full }
    }
}

/// The photo library's metadata in one SQLite file.
///
/// Cloning is cheap and shares the connections. Dropping the last clone closes them, after the writes that were asked
/// for; when no other process has the file open, nothing but the file is left then.
#[derive(Clone)]
pub struct SqliteStore {
    readers: Pool<Connection>,
    here: Here,
    // The last to be dropped: the last connection to be closed moves what is in the WAL into the file.
    writer: Writer,
}

impl SqliteStore {
    /// Opens the file, and makes it, readable by its owner only, when there is none. It does not migrate.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`] when the file cannot be made or opened as a database.
    pub async fn open(path: &Path, options: SqliteOptions) -> Result<Self, StorageError> {
        let path = path.to_owned();
        let unopened = opening_error(&path);
        // The writer comes first: it turns a new file to WAL, and says now what is wrong with the file.
        let opening = tokio::task::spawn_blocking(move || {
            let url = make_file(&path).map_err(|error| StorageError::Unavailable(error.to_string()))?;
            let of_writer = url.clone();
            let writer = Writer::start(move || connect(&of_writer, Role::Writer, options.durability))?;
            let here = Here::open(|| connect(&url, Role::Hasty, options.durability))?;
            Ok::<_, StorageError>((writer, here, url))
        });
        let (writer, here, url) =
            opening.await.map_err(|error| StorageError::Unavailable(error.to_string()))?.map_err(unopened)?;
        Ok(Self { writer, readers: readers(&url, options)?, here })
    }

    /// Runs an operation that only reads, in one snapshot.
    pub(crate) async fn read<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    {
        hop(&self.readers, move |c| c.transaction(operation)).await
    }

    /// Runs an operation that reads with one statement, which is a snapshot by itself.
    pub(crate) async fn look_up<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    {
        hop(&self.readers, operation).await
    }

    /// Runs a look-up that every request begins with, or that costs as little: it finds one row by its key, or the few
    /// rows of a table that never has more, on this very thread if it can.
    pub(crate) async fn look_up_here<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    {
        match self.here.look_up(&operation) {
            Some(outcome) => outcome,
            None => self.look_up(operation).await,
        }
    }

    /// Runs an operation that writes, as if alone in a transaction of its own.
    pub(crate) async fn write<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    {
        self.writer.write(operation).await
    }

    #[cfg(test)]
    pub(crate) fn waiting_writes(&self) -> usize {
        self.writer.waiting()
    }
}

/// Names the file in what SQLite said when it opened it.
fn opening_error(path: &Path) -> impl Fn(StorageError) -> StorageError + use<> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    move |error| match error {
        StorageError::Unavailable(words) if remedy(&words).is_some() => {
            StorageError::Unavailable(format!("{}: {}", path.display(), told(&words)))
        }
        other => other,
    }
}

/// Makes the file unless it is there and gives its absolute path, which SQLite never mistakes for a URI.
fn make_file(path: &Path) -> io::Result<String> {
    let path: PathBuf = std::path::absolute(path)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    drop(options.open(&path).map_err(named)?);
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the database path is not UTF-8"))
}

fn readers(url: &str, options: SqliteOptions) -> Result<Pool<Connection>, StorageError> {
    let mut config = ManagerConfig::default();
    config.recycling_method = RecyclingMethod::Fast;
    config.custom_setup =
        Box::new(move |url| Box::pin(establish(url.to_owned(), Role::Reader, options.durability)));
    let manager = AsyncDieselConnectionManager::new_with_config(url, config);
    Pool::builder(manager)
        .max_size(options.readers.max(1))
        .build()
        .map_err(|error| StorageError::Unavailable(error.to_string()))
}

async fn connection_of(pool: &Pool<Connection>) -> Result<Object<Connection>, StorageError> {
    match tokio::time::timeout(WAIT_FOR_CONNECTION, pool.get()).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(error)) => Err(StorageError::Unavailable(error.to_string())),
        Err(_) => Err(StorageError::Unavailable("every connection is busy".to_owned())),
    }
}

/// Runs an operation on a connection of the pool, off the async threads.
///
/// The connection goes to the blocking thread with the operation, so that a caller who gives up cannot hand it back
/// while it is still at work: the pool gets it when the operation is over. A connection whose operation panicked is
/// dropped, and its transaction with it.
async fn hop<T, F>(pool: &Pool<Connection>, operation: F) -> Result<T, StorageError>
where
    T: Send + 'static,
    F: FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
{
    let mut connection = connection_of(pool).await?;
    let at_work = tokio::task::spawn_blocking(move || {
        let done = catch_unwind(AssertUnwindSafe(|| {
            connection.spawn_blocking(move |c| Ok::<_, Error>(operation(c))).now_or_never()
        }));
        if !matches!(done, Ok(Some(_))) {
            drop(Object::take(connection));
        }
        done
    });
    match at_work.await {
        Ok(Ok(Some(Ok(outcome)))) => outcome.map_err(StorageError::from),
        Ok(Ok(Some(Err(error)))) => Err(Failure::from(error).into()),
        Ok(Ok(None) | Err(_)) => Err(StorageError::Refused("an operation panicked".to_owned())),
        Err(error) => Err(StorageError::Unavailable(error.to_string())),
    }
}
