use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use diesel::{
    ConnectionResult, QueryResult, SqliteConnection,
    connection::{AnsiTransactionManager, SimpleConnection, TransactionManager},
};
use storage::StorageError;
use tokio::sync::{mpsc, oneshot};

use crate::sql::{
    SqlError,
    operation::{Operation, Outcome, Output},
    pool::Connect,
};

/// How long an operation waits for its turn to write, or for a connection to read with.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Capacity of the queue; with more writes, callers wait for a place in it.
const QUEUE_CAPACITY: usize = 256;

/// Maximum number of writes in one transaction.
const MAX_BATCH: usize = 128;

/// A transaction that has run for this long takes no further writes.
const MAX_BATCH_TIME: Duration = Duration::from_millis(3);

/// The thread that makes all writes, with group commit.
///
/// A commit waits for the disk, which takes longer than most writes. Writes that arrive meanwhile share the next
/// transaction and its commit. Each write has a savepoint of its own: one that fails or panics is rolled back alone. No
/// caller gets its result before the commit.
///
/// Dropping the last clone finishes the queued writes and joins the thread. So the connection is closed, and the WAL
/// checkpointed, before the process exits.
#[derive(Clone)]
pub(crate) struct Writer {
    // Dropped before `_thread`: the thread ends when all senders are dropped.
    queue: mpsc::Sender<Write>,
    _thread: Arc<JoinOnDrop>,
}

struct JoinOnDrop(Option<JoinHandle<()>>);

impl Drop for JoinOnDrop {
    fn drop(&mut self) {
        // A write may own the last clone of its own writer; joining on that thread would deadlock.
        if let Some(thread) = self.0.take_if(|thread| thread.thread().id() != thread::current().id()) {
            // The panic hook has already reported a panic of the thread.
            drop(thread.join());
        }
    }
}

impl Writer {
    /// Opens a connection and starts the thread. `connect` is called again after an error broke the connection.
    pub(crate) fn start(
        connect: impl Fn() -> ConnectionResult<SqliteConnection> + Send + Sync + 'static,
    ) -> Result<Self, StorageError> {
        let connection = connect().map_err(|error| StorageError::Unavailable(error.to_string()))?;
        let (queue, receiver) = mpsc::channel(QUEUE_CAPACITY);
        let mut writer =
            WriterThread { queue: receiver, connect: Box::new(connect), connection: Some(connection) };
        let thread = thread::Builder::new()
            .name("sqlite writer".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| StorageError::Unavailable(error.to_string()))?;
        Ok(Self { queue, _thread: Arc::new(JoinOnDrop(Some(thread))) })
    }

    /// The number of queued writes.
    #[cfg(test)]
    pub(crate) fn queued(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Runs a write, isolated as if in a transaction of its own.
    ///
    /// If the caller is cancelled while the write is queued, the write is not run.
    pub(crate) async fn write(&self, operation: Operation) -> Result<Output, StorageError> {
        let (reply, mut response) = oneshot::channel();
        let claimed = Arc::new(AtomicBool::new(false));
        let write = Write { operation: Some(operation), outcome: None, reply, claimed: claimed.clone() };
        let queued = async {
            self.queue.send(write).await.ok()?;
            (&mut response).await.ok()
        };
        let outcome = match tokio::time::timeout(WAIT_TIMEOUT, queued).await {
            Ok(outcome) => outcome,
            Err(_) if !claimed.swap(true, Ordering::AcqRel) => {
                return Err(StorageError::Unavailable("too many writes are queued".to_owned()));
            }
            // The write is running: wait for its outcome.
            Err(_) => response.await.ok(),
        };
        outcome.unwrap_or_else(|| Err(StorageError::Unavailable("the writer thread has ended".to_owned())))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteStatus {
    Succeeded,
    Failed,
    Panicked,
}

/// A write in the queue.
struct Write {
    operation: Option<Operation>,
    outcome: Option<Outcome>,
    reply: oneshot::Sender<Result<Output, StorageError>>,
    claimed: Arc<AtomicBool>,
}

impl Write {
    /// Claims the write for the thread; `false` when its caller has been cancelled or timed out.
    fn claim(&self) -> bool {
        !self.reply.is_closed() && !self.claimed.swap(true, Ordering::AcqRel)
    }

    /// Runs the write, once.
    fn run(&mut self, c: &mut SqliteConnection) -> WriteStatus {
        let Some(operation) = self.operation.take() else { return WriteStatus::Failed };
        let (status, outcome) = match catch_unwind(AssertUnwindSafe(|| operation(c))) {
            Ok(Ok(value)) => (WriteStatus::Succeeded, Ok(value)),
            Ok(Err(error)) => (WriteStatus::Failed, Err(error)),
            Err(_) => (WriteStatus::Panicked, Err(SqlError::Refused("an operation panicked".to_owned()))),
        };
        self.outcome = Some(outcome);
        status
    }

    /// Sends the outcome to the caller, given the outcome of the surrounding transaction.
    fn reply(self, transaction: Result<(), &SqlError>) {
        let response = match (self.outcome, transaction) {
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Err(error)), _) => Err(StorageError::from(&error)),
            (_, Err(error)) => Err(StorageError::from(error)),
            (None, Ok(())) => Err(StorageError::Refused("an operation was not run".to_owned())),
        };
        // The caller may have been cancelled.
        drop(self.reply.send(response));
    }
}

struct WriterThread {
    queue: mpsc::Receiver<Write>,
    connect: Box<Connect>,
    /// `None` after an error broke the connection.
    connection: Option<SqliteConnection>,
}

impl WriterThread {
    fn run(&mut self) {
        while let Some(first) = self.queue.blocking_recv() {
            if first.claim() {
                self.transaction(first);
            }
        }
    }

    /// Runs one transaction with a write and those queued behind it.
    fn transaction(&mut self, first: Write) {
        let queued = self.queue.len();
        let mut c = match self.begin() {
            Ok(connection) => connection,
            Err(error) => return self.reject(first, queued, &error),
        };
        let mut writes = Vec::new();
        let batch = self.run_batch(&mut c, first, &mut writes);
        let panicked = matches!(batch, Ok(WriteStatus::Panicked));
        let transaction = match batch {
            // diesel's transaction manager may be in any state after a panic.
            Ok(WriteStatus::Panicked) => c.batch_execute("COMMIT").map_err(SqlError::from),
            Ok(WriteStatus::Succeeded | WriteStatus::Failed) => {
                AnsiTransactionManager::commit_transaction(&mut c).map_err(SqlError::from)
            }
            Err(error) => Err(SqlError::TransactionLost(error.to_string())),
        };
        // Dropping a connection rolls back its transaction; that must happen before callers get the error.
        if transaction.is_ok() && !panicked {
            self.connection = Some(c);
        } else {
            drop(c);
        }
        for write in writes {
            write.reply(transaction.as_ref().copied());
        }
    }

    fn begin(&mut self) -> Result<SqliteConnection, SqlError> {
        let mut c = match self.connection.take() {
            Some(connection) => connection,
            None => (self.connect)().map_err(|error| SqlError::Unavailable(error.to_string()))?,
        };
        match AnsiTransactionManager::begin_transaction_sql(&mut c, "BEGIN IMMEDIATE") {
            Ok(()) => Ok(c),
            Err(error) => {
                self.connection = Some(c);
                Err(error.into())
            }
        }
    }

    /// Fails a write whose transaction could not begin, and the writes that were queued behind it at that time. Later
    /// writes get another attempt.
    fn reject(&mut self, first: Write, queued: usize, error: &SqlError) {
        first.reply(Err(error));
        for _ in 0..queued {
            let Ok(write) = self.queue.try_recv() else { return };
            if write.claim() {
                write.reply(Err(error));
            }
        }
    }

    /// Runs a write and those queued behind it, and adds them to `writes`. An error means that the transaction is lost.
    fn run_batch(
        &mut self,
        c: &mut SqliteConnection,
        first: Write,
        writes: &mut Vec<Write>,
    ) -> QueryResult<WriteStatus> {
        let started = Instant::now();
        let mut next = Some(first);
        while let Some(mut write) = next.take() {
            let status = run_in_savepoint(c, &mut write);
            writes.push(write);
            // After a panic the connection may be in any state, so the batch ends; the writes before it are committed.
            if status? == WriteStatus::Panicked {
                return Ok(WriteStatus::Panicked);
            }
            if writes.len() < MAX_BATCH && started.elapsed() < MAX_BATCH_TIME {
                next = self.next_queued();
            }
        }
        Ok(WriteStatus::Succeeded)
    }

    fn next_queued(&mut self) -> Option<Write> {
        std::iter::from_fn(|| self.queue.try_recv().ok()).find(Write::claim)
    }
}

fn run_in_savepoint(c: &mut SqliteConnection, write: &mut Write) -> QueryResult<WriteStatus> {
    c.batch_execute("SAVEPOINT one_write")?;
    let status = write.run(c);
    c.batch_execute(match status {
        WriteStatus::Succeeded => "RELEASE one_write",
        WriteStatus::Failed | WriteStatus::Panicked => "ROLLBACK TO one_write; RELEASE one_write",
    })?;
    Ok(status)
}

#[cfg(test)]
mod tests;
