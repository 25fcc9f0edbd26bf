use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc::{Sender, channel},
    time::Duration,
};

use diesel::{Connection as _, SqliteConnection, connection::SimpleConnection, prelude::*, sql_query};
use storage::StorageError;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::{Durability, Lock, SqliteOptions, SqliteStore, error::SqlError};

diesel::table! {
    notes (n) {
        n -> BigInt,
    }
}

type Outcome = Result<(), StorageError>;

/// A store on a file of its own with one table of numbers.
struct TestStore {
    store: SqliteStore,
    path: PathBuf,
    _folder: TempDir,
}

impl TestStore {
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("notes.sqlite");
        let options = SqliteOptions { readers: 2, durability: Durability::Off };
        let store = SqliteStore::open(&path, options).await.unwrap();
        let notes = Self { store, path, _folder: folder };
        notes.run("CREATE TABLE notes (n INTEGER PRIMARY KEY)").await.unwrap().unwrap();
        notes
    }

    /// Queues a write of one statement.
    fn run(&self, sql: &'static str) -> JoinHandle<Outcome> {
        self.write(move |c| Ok(c.batch_execute(sql)?))
    }

    /// Queues a write.
    fn write<F>(&self, operation: F) -> JoinHandle<Outcome>
    where
        F: FnOnce(&mut SqliteConnection) -> Result<(), SqlError> + Send + 'static,
    {
        let store = self.store.clone();
        tokio::spawn(async move { store.write_in_any_state(Lock::Nothing, operation).await })
    }

    /// Blocks the writer until the sender is dropped.
    async fn block(&self) -> (Sender<()>, JoinHandle<Outcome>) {
        let (release, released) = channel::<()>();
        let (start, started) = tokio::sync::oneshot::channel();
        let blocking = self.write(move |_| {
            start.send(()).unwrap();
            released.recv().unwrap_err();
            Ok(())
        });
        started.await.unwrap();
        (release, blocking)
    }

    async fn numbers(&self) -> Vec<i64> {
        self.store.read(|c| Ok(notes::table.select(notes::n).order(notes::n).load(c)?)).await.unwrap()
    }

    /// The number of transactions in the WAL. The last frame of each contains the size of the file; in other frames
    /// that field is zero.
    fn commits(&self) -> usize {
        commits(&self.path)
    }
}

fn commits(path: &Path) -> usize {
    const HEADER: usize = 32;
    let log = fs::read(path.with_extension("sqlite-wal")).unwrap();
    let word = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    let frame = usize::try_from(word(8)).unwrap() + 24;
    (HEADER..log.len()).step_by(frame).filter(|at| word(at + 4) != 0).count()
}

/// A write that inserts a number.
fn note(n: i64) -> impl FnOnce(&mut SqliteConnection) -> Result<(), SqlError> + Send + 'static {
    move |c| {
        diesel::insert_into(notes::table).values(notes::n.eq(n)).execute(c)?;
        Ok(())
    }
}

/// Waits until that many writes are queued.
async fn queued(notes: &TestStore, count: usize) {
    while notes.store.queued_writes() < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_share_a_commit_and_none_is_lost() {
    let notes = TestStore::new().await;
    let before = notes.commits();
    let (release, blocking) = notes.block().await;
    let writes: Vec<_> = (0..64).map(|n| notes.write(note(n))).collect();
    queued(&notes, 64).await;
    drop(release);
    blocking.await.unwrap().unwrap();
    for write in writes {
        write.await.unwrap().unwrap();
    }
    assert_eq!(notes.numbers().await, (0..64).collect::<Vec<_>>());
    let shared = notes.commits() - before;
    assert!(shared < 64, "{shared} commits");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_sequential_write_is_one_commit() {
    let notes = TestStore::new().await;
    let before = notes.commits();
    for n in 0..5 {
        notes.write(note(n)).await.unwrap().unwrap();
    }
    assert_eq!(notes.commits() - before, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_and_panicking_writes_do_not_affect_others() {
    let notes = TestStore::new().await;
    for round in 0..4 {
        let (release, blocking) = notes.block().await;
        let first = round * 100;
        let writes: Vec<_> = (first..first + 60)
            .map(|n| {
                let done = note(n);
                notes.write(move |c| match n % 10 {
                    3 => {
                        done(c)?;
                        Err(SqlError::Refused("a test of errors".to_owned()))
                    }
                    5 => {
                        done(c)?;
                        Ok(diesel::insert_into(notes::table).values(notes::n.eq(n)).execute(c).map(drop)?)
                    }
                    7 => {
                        done(c)?;
                        panic!("a test of panics")
                    }
                    9 => c.transaction(|c| {
                        done(c)?;
                        c.transaction::<(), SqlError, _>(|_| {
                            panic!("a test of panics in a nested transaction")
                        })
                    }),
                    _ => done(c),
                })
            })
            .collect();
        queued(&notes, 60).await;
        drop(release);
        blocking.await.unwrap().unwrap();
        for (n, write) in (first..).zip(writes) {
            let outcome = write.await.unwrap();
            let refused = matches!(outcome, Err(StorageError::Refused(_)));
            assert_eq!(refused, [3, 5, 7, 9].contains(&(n % 10)), "{n}: {outcome:?}");
            assert!(refused || outcome.is_ok(), "{n}: {outcome:?}");
        }
    }
    let expected: Vec<i64> = (0..4)
        .flat_map(|round| round * 100..round * 100 + 60)
        .filter(|n| ![3, 5, 7, 9].contains(&(n % 10)))
        .collect();
    assert_eq!(notes.numbers().await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_write_succeeds_when_the_commit_fails() {
    let notes = TestStore::new().await;
    notes.run("CREATE TABLE parts (whole INTEGER REFERENCES notes (n))").await.unwrap().unwrap();
    let (release, blocking) = notes.block().await;
    let mut writes: Vec<_> = (0..3).map(|n| notes.write(note(n))).collect();
    queued(&notes, 3).await;
    let orphan = "PRAGMA defer_foreign_keys = ON; INSERT INTO parts VALUES (9)";
    writes.push(notes.run(orphan));
    queued(&notes, 4).await;
    drop(release);
    // The blocking write may have shared the failed transaction.
    let _blocking = blocking.await.unwrap();
    assert!(writes.pop().unwrap().await.unwrap().is_err());
    let mut done = Vec::new();
    for (n, write) in (0..).zip(writes) {
        if write.await.unwrap().is_ok() {
            done.push(n);
        }
    }
    assert_eq!(notes.numbers().await, done);
    notes.write(note(7)).await.unwrap().unwrap();
    assert_eq!(notes.numbers().await.last(), Some(&7));
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_a_lost_transaction_can_be_retried() {
    let notes = TestStore::new().await;
    let (release, blocking) = notes.block().await;
    let mut writes: Vec<_> = (0..3).map(|n| notes.write(note(n))).collect();
    queued(&notes, 3).await;
    // SQLite also rolls the transaction back when the disk is full.
    let rollback = notes.run("ROLLBACK");
    queued(&notes, 4).await;
    writes.extend((3..6).map(|n| notes.write(note(n))));
    queued(&notes, 7).await;
    drop(release);
    // The blocking write may have shared the lost transaction.
    let _blocking = blocking.await.unwrap();
    let outcome = rollback.await.unwrap();
    assert!(matches!(outcome, Err(StorageError::Unavailable(_))), "{outcome:?}");
    let mut done = Vec::new();
    for (n, write) in (0..).zip(writes) {
        match write.await.unwrap() {
            Ok(()) => done.push(n),
            Err(error) => assert!(matches!(error, StorageError::Unavailable(_)), "{error}"),
        }
    }
    assert!(done.ends_with(&[3, 4, 5]), "later writes get another transaction");
    assert_eq!(notes.numbers().await, done);
    notes.write(note(9)).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_cancelled_in_the_queue_is_not_run() {
    let notes = TestStore::new().await;
    let (release, blocking) = notes.block().await;
    let cancelled: Vec<_> = (0..8).map(|n| notes.write(note(n))).collect();
    queued(&notes, 8).await;
    for write in cancelled {
        write.abort();
        assert!(write.await.unwrap_err().is_cancelled());
    }
    let kept = notes.write(note(9));
    queued(&notes, 9).await;
    drop(release);
    blocking.await.unwrap().unwrap();
    kept.await.unwrap().unwrap();
    assert_eq!(notes.numbers().await, [9]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_write_completes_when_its_caller_is_cancelled() {
    let notes = TestStore::new().await;
    let (release, released) = channel::<()>();
    let (start, started) = tokio::sync::oneshot::channel();
    let write = notes.write(move |c| {
        note(1)(c)?;
        start.send(()).unwrap();
        released.recv().unwrap_err();
        note(2)(c)
    });
    started.await.unwrap();
    write.abort();
    assert!(write.await.unwrap_err().is_cancelled());
    drop(release);
    notes.write(note(3)).await.unwrap().unwrap();
    assert_eq!(notes.numbers().await, [1, 2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_wait_for_a_write_of_another_process() {
    let notes = TestStore::new().await;
    let mut other = SqliteConnection::establish(notes.path.to_str().unwrap()).unwrap();
    sql_query("BEGIN IMMEDIATE").execute(&mut other).unwrap();
    let writes: Vec<_> = (0..8).map(|n| notes.write(note(n))).collect();
    // The writer has taken one of them.
    queued(&notes, 7).await;
    assert!(writes.iter().all(|write| !write.is_finished()));
    sql_query("COMMIT").execute(&mut other).unwrap();
    for write in writes {
        write.await.unwrap().unwrap();
    }
    assert_eq!(notes.numbers().await.len(), 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_writes_finish_when_the_store_is_dropped() {
    let notes = TestStore::new().await;
    let (release, blocking) = notes.block().await;
    let write = notes.write(note(1));
    queued(&notes, 1).await;
    let TestStore { store, path, _folder } = notes;
    drop(store);
    drop(release);
    blocking.await.unwrap().unwrap();
    write.await.unwrap().unwrap();
    let mut reader = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    // The dropped store may still be closing the file.
    reader.batch_execute("PRAGMA busy_timeout = 10000").unwrap();
    assert_eq!(notes::table.select(notes::n).load::<i64>(&mut reader).unwrap(), [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_store_leaves_only_its_file() {
    let notes = TestStore::new().await;
    notes.write(note(1)).await.unwrap().unwrap();
    assert_eq!(notes.numbers().await, [1]);
    let TestStore { store, path, _folder } = notes;
    let beside = || fs::read_dir(path.parent().unwrap()).unwrap().count() - 1;
    assert_eq!(beside(), 2, "the WAL and its shared-memory file");
    drop(store);
    assert_eq!(beside(), 0);
}
