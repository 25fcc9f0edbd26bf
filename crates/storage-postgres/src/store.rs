use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::Duration,
};

use diesel::{
    Connection, ConnectionError,
    connection::{
        SimpleConnection as _, TransactionDepthChange, TransactionManager, TransactionManagerStatus,
    },
    result::Error,
};
use storage::StorageError;
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
};

use crate::{
    Lock, SqlConnection,
    classify::{is_conflict, is_connection_lost},
    connection::{LIMITS, PostgresUrl},
    lock,
    sql::{CLOSED, Pool, SqlError},
};

/// How often a write is run again because another one excluded it.
const MAX_CONFLICTS: u32 = 5;
/// How often and how many times the lock of migrations is tried: for half an hour.
const MIGRATION_POLL: Duration = Duration::from_millis(100);
const MAX_MIGRATION_POLLS: u32 = 18_000;

/// Fails with [`CLOSED_MESSAGE`] unless the library is open.
const REQUIRE_OPEN: &str = "SELECT require_open_library()";
const CLOSED_MESSAGE: &str = "the library is closed";

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Maximum number of connections; at least 1.
    pub connections: usize,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { connections: 16 }
    }
}

/// The photo library's metadata in a Postgres database.
///
/// Clones are cheap and share the connections.
#[derive(Clone)]
pub struct PostgresStore {
    url: Arc<PostgresUrl>,
    pool: Pool,
}

impl PostgresStore {
    /// Opens the database. It does not migrate.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`] when no connection can be opened.
    pub async fn open(url: PostgresUrl, options: PostgresOptions) -> Result<Self, StorageError> {
        let url = Arc::new(url);
        let connecting = Arc::clone(&url);
        let pool = Pool::new(options.connections, move || {
            connecting.connect().map_err(|error| describe(error, &connecting))
        });
        let store = Self { url, pool };
        // So that a wrong address is an error of the start.
        store.pool.run(|_| Ok(())).await?;
        Ok(store)
    }

    /// Runs a read-only operation of several statements on one snapshot.
    pub(crate) async fn read<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        let begin = format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL {LIMITS}");
        self.run(move |c| in_transaction(c, &begin, &operation)).await
    }

    /// Runs a read-only operation of one statement, which needs no transaction.
    pub(crate) async fn query<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        if self.url.caches_statements() {
            self.run(operation).await
        } else {
            // A pooler may give the execution of a statement another connection than its preparation.
            self.read(operation).await
        }
    }

    /// Runs a frequent look-up on the calling thread if possible: switching to another one takes as long as the look-up.
    pub(crate) async fn query_inline<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        let can_block = Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread;
        if !can_block || !self.url.caches_statements() {
            return self.query(operation).await;
        }
        let permit = self.pool.permit().await?;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            block_in_place(|| self.pool.run_here(permit, |c| self.run_on(c, &operation)))
        }));
        match outcome {
            Ok(outcome) => outcome.map_err(StorageError::from),
            Err(_) => Err(StorageError::Refused("an operation panicked".to_owned())),
        }
    }

    /// Runs an operation that writes in a transaction, under a lock.
    ///
    /// An operation is a function of its arguments and the database, so it is run again when a conflict with others
    /// undid it, or when the connection was lost before it was to be committed. It fails unless the library is open.
    pub(crate) async fn write<T, F>(&self, lock: Lock, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        // After the lock: a write that waited for a change of the state sees the new state.
        self.write_after(lock, REQUIRE_OPEN, operation).await
    }

    /// As [`write`](Self::write), also while the library is not open.
    pub(crate) async fn write_in_any_state<T, F>(&self, lock: Lock, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        self.write_after(lock, "", operation).await
    }

    /// Runs an operation that writes after taking a lock and executing a statement.
    async fn write_after<T, F>(&self, lock: Lock, first: &str, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        let locks = match lock {
            Lock::Everything => lock::statement(lock),
            lock => Some(
                [Some(lock::shared_by_all()), lock::statement(lock)]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("; "),
            ),
        };
        let begin = format!("BEGIN; SET LOCAL {LIMITS}; {}; {first}", locks.unwrap_or_default());
        self.run(move |c| {
            let mut conflicts = 0;
            loop {
                match in_transaction(c, &begin, &operation) {
                    Err(SqlError::Query(error)) if is_conflict(&error) && conflicts < MAX_CONFLICTS => {
                        conflicts += 1;
                        thread::sleep(Duration::from_millis(fastrand::u64(1..10 << conflicts)));
                    }
                    outcome => return outcome,
                }
            }
        })
        .await
    }

    /// Runs migrations, without a limit of time, while no other process does.
    pub(crate) async fn write_alone<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        let begin = "BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0";
        self.run(move |c| {
            for _ in 0..MAX_MIGRATION_POLLS {
                // Waiting for the lock in a transaction would hold up what waits for old transactions to end.
                let done = in_transaction(c, begin, |c| {
                    if lock::try_migrations(c)? { operation(c).map(Some) } else { Ok(None) }
                })?;
                if let Some(done) = done {
                    return Ok(done);
                }
                thread::sleep(MIGRATION_POLL);
            }
            Err(SqlError::Unavailable("another process has been migrating for too long".to_owned()))
        })
        .await
    }

    /// Runs an operation on a connection of the pool. When the connection turns out to be lost, the operation is run
    /// again on a new one.
    async fn run<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        let store = self.clone();
        self.pool.run(move |c| store.run_on(c, &operation)).await
    }

    fn run_on<T>(
        &self,
        c: &mut SqlConnection,
        operation: &impl Fn(&mut SqlConnection) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        match operation(c) {
            Err(SqlError::Query(error)) if is_connection_lost(&error) => {
                let failed = |error| SqlError::Unavailable(describe(error, &self.url).to_string());
                *c = self.url.connect().map_err(failed)?;
                operation(c)
            }
            outcome => outcome,
        }
    }
}

/// Names the database in an error of opening a connection.
fn describe(error: ConnectionError, url: &PostgresUrl) -> ConnectionError {
    ConnectionError::BadConnection(format!("{url}: {error}"))
}

/// Runs an operation in a transaction that begins with these statements.
fn in_transaction<T>(
    c: &mut SqlConnection,
    begin: &str,
    operation: impl Fn(&mut SqlConnection) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    begin_transaction(c, begin)?;
    let outcome = operation(c);
    if outcome.is_ok() {
        match Transactions::commit_transaction(c) {
            Ok(()) => return outcome,
            Err(error) if is_conflict(&error) => return Err(error.into()),
            // It may have been committed.
            Err(error) => return Err(SqlError::TransactionLost(error.to_string())),
        }
    }
    // A connection whose transaction cannot be rolled back is closed by the pool.
    let _ = Transactions::rollback_transaction(c);
    outcome
}

type Transactions = <SqlConnection as Connection>::TransactionManager;

/// Begins a transaction and takes its first lock in one exchange with the server.
fn begin_transaction(c: &mut SqlConnection, begin: &str) -> Result<(), SqlError> {
    if let Err(error) = c.batch_execute(begin) {
        // The first of the statements may have succeeded.
        let _ = c.batch_execute("ROLLBACK");
        return Err(match &error {
            Error::DatabaseError(_, information) if information.message() == CLOSED_MESSAGE => {
                SqlError::Unavailable(CLOSED.to_owned())
            }
            _ => error.into(),
        });
    }
    match Transactions::transaction_manager_status_mut(c) {
        TransactionManagerStatus::Valid(status) => {
            Ok(status.change_transaction_depth(TransactionDepthChange::IncreaseDepth)?)
        }
        TransactionManagerStatus::InError => Err(Error::BrokenTransactionManager.into()),
    }
}
