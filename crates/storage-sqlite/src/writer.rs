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

use crate::{error::Failure, store::WAIT_FOR_CONNECTION};

/// How many writes wait to be taken before those who ask wait for room.
const QUEUE: usize = 256;

/// The most writes of one transaction.
const BATCH: usize = 128;

/// A transaction that has been at work for so long takes no more writes.
const BATCH_TIME: Duration = Duration::from_millis(3);

type Connect = Box<dyn Fn() -> ConnectionResult<SqliteConnection> + Send>;

/// The one thread that writes.
///
/// A commit waits for the disk, which takes longer than most writes. Whatever is asked for meanwhile goes into the next
/// transaction together, so that many who write at once share one wait. Each write is in a savepoint of its own: one
/// that fails or panics is undone alone. Nobody is answered before the commit.
///
/// The thread ends when the last copy is dropped and what was asked for is done; dropping that copy waits for it, so
/// that a process that ends has closed its connection, and SQLite has brought the WAL home.
#[derive(Clone)]
pub(crate) struct Writer {
    // Dropped before `_thread`: whoever drops the last copy of that has closed the queue.
    queue: mpsc::Sender<Box<dyn Write>>,
    _thread: Arc<Thread>,
}

/// The thread of a writer. The last copy waits for its end.
struct Thread(Option<JoinHandle<()>>);

impl Drop for Thread {
    fn drop(&mut self) {
        // A write that holds the last copy of its own writer would wait for itself.
        if let Some(thread) = self.0.take_if(|thread| thread.thread().id() != thread::current().id()) {
            // It catches panics; one that gets through was reported when it happened.
            drop(thread.join());
        }
    }
}

impl Writer {
    /// Opens a connection, now and again whenever something went wrong on one, and begins to take writes.
    pub(crate) fn start(
        connect: impl Fn() -> ConnectionResult<SqliteConnection> + Send + 'static,
    ) -> Result<Self, StorageError> {
        let connection = connect().map_err(|error| StorageError::Unavailable(error.to_string()))?;
        let (queue, asked) = mpsc::channel(QUEUE);
        let mut work = Work { asked, connect: Box::new(connect), connection: Some(connection) };
        let thread = thread::Builder::new()
            .name("sqlite writer".to_owned())
            .spawn(move || work.run())
            .map_err(|error| StorageError::Unavailable(error.to_string()))?;
        Ok(Self { queue, _thread: Arc::new(Thread(Some(thread))) })
    }

    /// How many writes wait for their turn.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Runs an operation that writes, as if alone in a transaction of its own.
    ///
    /// One that is given up before its turn is not run.
    pub(crate) async fn write<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    {
        let (reply, mut answer) = oneshot::channel();
        let taken = Arc::new(AtomicBool::new(false));
        let asked = Asked { operation: Some(operation), outcome: None, reply, taken: taken.clone() };
        let in_turn = async {
            self.queue.send(Box::new(asked)).await.ok()?;
            (&mut answer).await.ok()
        };
        let answered = match tokio::time::timeout(WAIT_FOR_CONNECTION, in_turn).await {
            Ok(answered) => answered,
            Err(_) if !taken.swap(true, Ordering::AcqRel) => {
                return Err(StorageError::Unavailable("too many writes wait for their turn".to_owned()));
            }
            // It is at work, and takes as long as it takes.
            Err(_) => answer.await.ok(),
        };
        answered.unwrap_or_else(|| Err(StorageError::Unavailable("the writer came to an end".to_owned())))
    }
}

/// How a write went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ran {
    Well,
    Badly,
    IntoPanic,
}

/// A write that somebody asked for.
trait Write: Send {
    /// Takes it out of the hands of who asked for it; `false` when they gave it up.
    fn take(&self) -> bool;

    /// Runs it, once.
    fn run(&mut self, c: &mut SqliteConnection) -> Ran;

    /// Tells what came of it and of the transaction that it was in.
    fn answer(self: Box<Self>, transaction: Result<(), &Failure>);
}

struct Asked<T, F> {
    operation: Option<F>,
    outcome: Option<Result<T, Failure>>,
    reply: oneshot::Sender<Result<T, StorageError>>,
    taken: Arc<AtomicBool>,
}

impl<T, F> Write for Asked<T, F>
where
    T: Send,
    F: FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send,
{
    fn take(&self) -> bool {
        !self.reply.is_closed() && !self.taken.swap(true, Ordering::AcqRel)
    }

    fn run(&mut self, c: &mut SqliteConnection) -> Ran {
        let Some(operation) = self.operation.take() else { return Ran::Badly };
        let (ran, outcome) = match catch_unwind(AssertUnwindSafe(|| operation(c))) {
            Ok(Ok(value)) => (Ran::Well, Ok(value)),
            Ok(Err(failure)) => (Ran::Badly, Err(failure)),
            Err(_) => (Ran::IntoPanic, Err(Failure::Refused("an operation panicked".to_owned()))),
        };
        self.outcome = Some(outcome);
        ran
    }

    fn answer(self: Box<Self>, transaction: Result<(), &Failure>) {
        let answer = match (self.outcome, transaction) {
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Err(failure)), _) => Err(StorageError::from(&failure)),
            (_, Err(failure)) => Err(StorageError::from(failure)),
            (None, Ok(())) => Err(StorageError::Refused("an operation was not run".to_owned())),
        };
        // Who asked may have gone.
        drop(self.reply.send(answer));
    }
}

/// What the thread works with.
struct Work {
    asked: mpsc::Receiver<Box<dyn Write>>,
    connect: Connect,
    /// None after something went wrong on it.
    connection: Option<SqliteConnection>,
}

impl Work {
    fn run(&mut self) {
        while let Some(first) = self.asked.blocking_recv() {
            if first.take() {
                self.transaction(first);
            }
        }
    }

    /// One transaction with a write and those that wait behind it.
    fn transaction(&mut self, first: Box<dyn Write>) {
        let waiting = self.asked.len();
        let mut c = match self.begin() {
            Ok(connection) => connection,
            Err(failure) => return self.refuse(first, waiting, &failure),
        };
        let mut ran = Vec::new();
        let outcome = self.batch(&mut c, first, &mut ran);
        let panicked = matches!(outcome, Ok(Ran::IntoPanic));
        let transaction = match outcome {
            Ok(Ran::IntoPanic) => c.batch_execute("COMMIT").map_err(Failure::from),
            Ok(Ran::Well | Ran::Badly) => {
                AnsiTransactionManager::commit_transaction(&mut c).map_err(Failure::from)
            }
            Err(error) => Err(Failure::Undone(error.to_string())),
        };
        // What is open on a connection that is dropped is undone: before somebody is told that it was.
        if transaction.is_ok() && !panicked {
            self.connection = Some(c);
        } else {
            drop(c);
        }
        for write in ran {
            write.answer(transaction.as_ref().copied());
        }
    }

    fn begin(&mut self) -> Result<SqliteConnection, Failure> {
        let mut c = match self.connection.take() {
            Some(connection) => connection,
            None => (self.connect)().map_err(|error| Failure::Unavailable(error.to_string()))?,
        };
        let begun = AnsiTransactionManager::begin_transaction_sql(&mut c, "BEGIN IMMEDIATE");
        match begun {
            Ok(()) => Ok(c),
            Err(error) => {
                self.connection = Some(c);
                Err(error.into())
            }
        }
    }

    /// Tells a write, and as many behind it as waited while it was tried in vain, that there is no transaction. Those
    /// that came later have another try.
    fn refuse(&mut self, first: Box<dyn Write>, waiting: usize, failure: &Failure) {
        first.answer(Err(failure));
        for _ in 0..waiting {
            let Ok(write) = self.asked.try_recv() else { return };
            if write.take() {
                write.answer(Err(failure));
            }
        }
    }

    /// Runs a write and those that wait behind it. An error means that the transaction is lost.
    fn batch(
        &mut self,
        c: &mut SqliteConnection,
        first: Box<dyn Write>,
        ran: &mut Vec<Box<dyn Write>>,
    ) -> QueryResult<Ran> {
        let began = Instant::now();
        let mut next = Some(first);
        while let Some(mut write) = next.take() {
            let outcome = in_savepoint(c, write.as_mut());
            ran.push(write);
            // After a panic the connection may be in any state; what was done before is committed all the same.
            if outcome? == Ran::IntoPanic {
                return Ok(Ran::IntoPanic);
            }
            if ran.len() < BATCH && began.elapsed() < BATCH_TIME {
                next = self.next();
            }
        }
        Ok(Ran::Well)
    }

    /// The next write that waits, if any does.
    fn next(&mut self) -> Option<Box<dyn Write>> {
        std::iter::from_fn(|| self.asked.try_recv().ok()).find(|write| write.take())
    }
}

fn in_savepoint(c: &mut SqliteConnection, write: &mut dyn Write) -> QueryResult<Ran> {
    c.batch_execute("SAVEPOINT one_write")?;
    let ran = write.run(c);
    c.batch_execute(match ran {
        Ran::Well => "RELEASE one_write",
        Ran::Badly | Ran::IntoPanic => "ROLLBACK TO one_write; RELEASE one_write",
    })?;
    Ok(ran)
}

#[cfg(test)]
mod tests;
