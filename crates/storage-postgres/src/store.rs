use std::{
    any::type_name,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use diesel::{
    Connection, ConnectionError, ConnectionResult, QueryableByName, RunQueryDsl as _,
    connection::{
        SimpleConnection as _, TransactionDepthChange, TransactionManager, TransactionManagerStatus,
    },
    result::{DatabaseErrorKind, Error},
    sql_query,
    sql_types::Text,
};
use storage::StorageError;
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::Mutex,
    task::block_in_place,
    time::timeout,
};

use crate::{
    Lock, SqlConnection,
    classify::{describe, is_conflict, is_connection_lost, is_lock_timeout},
    connection::{LIMITS, PostgresUrl},
    lock,
    sql::{
        CLOSED, SqlError,
        operation::{Outcome, Output},
        pool::{Pool, PoolLimits},
        traced, traced_here,
    },
};

/// Maximum number of retries of a write that conflicted with others.
const MAX_CONFLICTS: u32 = 5;
/// How often and how many times migrations are tried: for about half an hour.
const MIGRATION_POLL: Duration = Duration::from_millis(100);
const MAX_MIGRATION_POLLS: u32 = 9_000;
/// How long an operation waits for a connection.
const CONNECTION_WAIT: Duration = Duration::from_secs(10);
/// How long a connection is used. A new one may lead to another server, after a failover or an upgrade.
const CONNECTION_AGE: Duration = Duration::from_secs(30 * 60);
/// How long an unused connection stays open.
const CONNECTION_IDLE: Duration = Duration::from_secs(5 * 60);
/// How long a caller waits for an operation. Normally the server ends an operation earlier; this limit is for a server
/// that does not answer at all.
const OPERATION_LIMIT: Duration = Duration::from_secs(40);
/// For this time after a failed attempt to connect, other attempts fail at once.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// A look-up that takes longer shows that the server hangs. Later look-ups then run on a blocking thread.
const SLOW_LOOK_UP: Duration = Duration::from_secs(1);
/// Number of queues for writes of accounts: those of one account wait in one queue, so that they use one connection.
const WRITE_QUEUES: usize = 256;

/// Fails with [`CLOSED_MESSAGE`] unless the library is open.
const REQUIRE_OPEN: &str = "SELECT require_open_library()";
/// Begins a transaction that sees one snapshot.
const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
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
    connector: Arc<Connector>,
    pool: Pool,
    write_queues: Arc<[Mutex<()>]>,
    /// Whether the server has been slow to answer.
    is_slow: Arc<AtomicBool>,
}

impl PostgresStore {
    /// Opens the database. It does not migrate.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`] when no connection can be opened.
    pub async fn open(url: PostgresUrl, options: PostgresOptions) -> Result<Self, StorageError> {
        let connector = Arc::new(Connector { url, failed: std::sync::Mutex::new(None) });
        let connecting = Arc::clone(&connector);
        let limits = PoolLimits {
            connections: options.connections,
            wait: CONNECTION_WAIT,
            age: CONNECTION_AGE,
            idle: CONNECTION_IDLE,
        };
        let store = Self {
            connector,
            pool: Pool::new(limits, move || connecting.connect()),
            write_queues: (0..WRITE_QUEUES).map(|_| Mutex::new(())).collect(),
            is_slow: Arc::default(),
        };
        // Connects now, so that a wrong address is an error at startup.
        store.check_language().await?;
        Ok(store)
    }

    /// Runs a read-only operation of several statements on one snapshot.
    pub(crate) async fn read<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        self.read_boxed(type_name::<F>(), repeatable(operation)).await?.into_type()
    }

    async fn read_boxed(&self, name: &'static str, operation: Repeatable) -> Result<Output, StorageError> {
        let begin = format!("{BEGIN_SNAPSHOT}; SET LOCAL {LIMITS}");
        traced(name, self.run(Box::new(move |c| in_transaction(c, &begin, &operation)))).await
    }

    /// As [`read`](Self::read), for an operation that may take minutes: only each of its statements has a limit of time.
    pub(crate) async fn read_at_length<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        // The disk that the operation writes to may stall between two statements.
        let begin = format!(
            "{BEGIN_SNAPSHOT}; SET LOCAL {LIMITS}; SET LOCAL idle_in_transaction_session_timeout = '10min'"
        );
        let (store, operation) = (self.clone(), repeatable(operation));
        let reading = self.pool.run(Box::new(move |c| {
            store.run_on(c, &|c: &mut SqlConnection| in_transaction(c, &begin, &operation))
        }));
        traced(type_name::<F>(), reading).await?.into_type()
    }

    /// Runs a read-only operation of one statement, which needs no transaction.
    pub(crate) async fn query<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        if self.connector.url.caches_statements() {
            traced(type_name::<F>(), self.run(repeatable(operation))).await?.into_type()
        } else {
            // A pooler may execute a statement on another connection than the one on which it was prepared.
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
        if !can_block || !self.connector.url.caches_statements() || self.is_slow.load(Ordering::Relaxed) {
            let began = Instant::now();
            let outcome = self.query(operation).await;
            self.is_slow.store(began.elapsed() > SLOW_LOOK_UP, Ordering::Relaxed);
            return outcome;
        }
        self.query_here(type_name::<F>(), repeatable(operation)).await?.into_type()
    }

    async fn query_here(&self, name: &'static str, operation: Repeatable) -> Result<Output, StorageError> {
        let permit = self.pool.permit().await?;
        let began = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let look_up = || self.pool.run_here(permit, |c| self.run_on(c, &operation));
            traced_here(name, || block_in_place(look_up))
        }));
        if began.elapsed() > SLOW_LOOK_UP {
            self.is_slow.store(true, Ordering::Relaxed);
        }
        match outcome {
            Ok(outcome) => outcome.map_err(StorageError::from),
            Err(_) => Err(StorageError::Refused("an operation panicked".to_owned())),
        }
    }

    /// Runs an operation that writes in a transaction, under a lock.
    ///
    /// An operation depends only on its arguments and the database, so it is retried after a conflict with others, or
    /// when the connection was lost before the commit. It fails unless the library is open.
    pub(crate) async fn write<T, F>(&self, lock: Lock, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        // The state is checked after the lock was taken, so that a write that waited for a change of the state sees the
        // new state.
        let writing = self.write_after(lock, REQUIRE_OPEN, repeatable(operation));
        traced(type_name::<F>(), writing).await?.into_type()
    }

    /// As [`write`](Self::write), but also allowed while the library is not open.
    pub(crate) async fn write_in_any_state<T, F>(&self, lock: Lock, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        traced(type_name::<F>(), self.write_after(lock, "", repeatable(operation))).await?.into_type()
    }

    /// Runs an operation that writes after taking a lock and executing a statement.
    async fn write_after(
        &self,
        lock: Lock,
        first: &str,
        operation: Repeatable,
    ) -> Result<Output, StorageError> {
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
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL {LIMITS}; {}; {first}",
            locks.unwrap_or_default()
        );
        let queue = match lock {
            Lock::Account(account) => {
                usize::try_from(account).ok().and_then(|it| self.write_queues.get(it % WRITE_QUEUES))
            }
            _ => None,
        };
        let _turn = match queue {
            Some(queue) => match timeout(CONNECTION_WAIT, queue.lock()).await {
                Ok(turn) => Some(turn),
                Err(_) => {
                    return Err(StorageError::Unavailable(
                        "too many writes of the account are waiting".to_owned(),
                    ));
                }
            },
            None => None,
        };
        self.run(Box::new(move |c| {
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
        }))
        .await
    }

    /// Runs migrations, without a limit of time, while no other process does. A statement that waits for a table makes
    /// all later users of the table wait behind it. So it gives up after a few seconds, and the migrations are tried
    /// again.
    pub(crate) async fn write_alone<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = '3s'; SET LOCAL statement_timeout = 0";
        let store = self.clone();
        let migrating = self.pool.run(Box::new(move |c| {
            for _ in 0..MAX_MIGRATION_POLLS {
                // Polls for the lock, because waiting for it in a transaction would delay operations that wait for old
                // transactions to end.
                let attempt = |c: &mut SqlConnection| {
                    in_transaction(c, begin, |c: &mut SqlConnection| {
                        if lock::try_migrations(c)? { operation(c).map(Some) } else { Ok(None) }
                    })
                };
                match store.run_on(c, &attempt) {
                    Ok(Some(done)) => return Ok(Output::new(done)),
                    Ok(None) => {}
                    Err(SqlError::Refused(reason)) if is_lock_timeout(&reason) => {}
                    Err(SqlError::Query(error)) if is_lock_timeout(&error.to_string()) => {}
                    Err(error) => return Err(error),
                }
                thread::sleep(MIGRATION_POLL * fastrand::u32(1..4));
            }
            Err(SqlError::Unavailable("the tables have been in use for too long".to_owned()))
        }));
        traced(type_name::<F>(), migrating).await?.into_type()
    }

    /// Runs an operation on a connection of the pool. When the connection turns out to be lost, the operation is run
    /// again on a new one.
    async fn run(&self, operation: Repeatable) -> Result<Output, StorageError> {
        let store = self.clone();
        let running = self.pool.run(Box::new(move |c| store.run_on(c, &operation)));
        match timeout(OPERATION_LIMIT, running).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let url = &self.connector.url;
                Err(StorageError::Unavailable(format!("{url}: the server does not answer")))
            }
        }
    }

    /// Warns of a server whose messages are not in English: some errors are recognized only by their message.
    async fn check_language(&self) -> Result<(), StorageError> {
        let language = self.query(|c| {
            let shown: Setting = sql_query("SELECT current_setting('lc_messages') AS value").get_result(c)?;
            Ok(shown.value)
        });
        let language = language.await?;
        let is_english = ["", "C", "POSIX"].contains(&language.as_str())
            || language.starts_with("en")
            || language.starts_with("C.");
        if !is_english {
            tracing::warn!(
                lc_messages = language,
                "the messages of the Postgres server are not in English, so some errors that a retry would fix are \
                 reported instead; run ALTER ROLE ... SET lc_messages = 'C' for the role of this service"
            );
        }
        Ok(())
    }

    fn run_on<T>(
        &self,
        c: &mut SqlConnection,
        operation: &impl Fn(&mut SqlConnection) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        match operation(c) {
            Err(SqlError::Query(error)) if is_connection_lost(&error) || is_unknown_of_dead(&error, c) => {
                *c = self.connector.connect().map_err(|error| SqlError::Unavailable(error.to_string()))?;
                operation(c)
            }
            outcome => outcome,
        }
    }
}

/// A type-erased operation that may run several times.
type Repeatable = Box<dyn Fn(&mut SqlConnection) -> Outcome + Send>;

fn repeatable<T, F>(operation: F) -> Repeatable
where
    T: Send + 'static,
    F: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
{
    Box::new(move |c| operation(c).map(Output::new))
}

#[derive(QueryableByName)]
struct Setting {
    #[diesel(sql_type = Text)]
    value: String,
}

/// Opens connections.
struct Connector {
    url: PostgresUrl,
    /// When the last attempt failed, and why.
    failed: std::sync::Mutex<Option<(Instant, String)>>,
}

impl Connector {
    /// Opens a connection. Shortly after a failed attempt it fails at once, so that callers do not wait one after the other
    /// for a server that is away.
    fn connect(&self) -> ConnectionResult<SqlConnection> {
        let failed = || self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, reason)) = &*failed()
            && at.elapsed() < RECONNECT_PAUSE
        {
            return Err(ConnectionError::BadConnection(reason.clone()));
        }
        match self.url.connect() {
            Ok(connection) => {
                *failed() = None;
                Ok(connection)
            }
            Err(error) => {
                let reason = format!("{}: {}", self.url, describe(&error));
                *failed() = Some((Instant::now(), reason.clone()));
                Err(ConnectionError::BadConnection(reason))
            }
        }
    }
}

/// Whether an error of no known kind came from a connection that no longer works.
fn is_unknown_of_dead(error: &Error, c: &mut SqlConnection) -> bool {
    matches!(error, Error::DatabaseError(DatabaseErrorKind::Unknown, _))
        && c.batch_execute("SELECT 1").is_err()
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
            // The transaction may have been committed.
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
