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

use crate::{Durability, SqliteOptions, SqliteStore, error::SqliteError};

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

    /// Asks for a write of one statement.
    fn run(&self, sql: &'static str) -> JoinHandle<Outcome> {
        self.write(move |c| Ok(c.batch_execute(sql)?))
    }

    /// Asks for a write.
    fn write<F>(&self, operation: F) -> JoinHandle<Outcome>
    where
        F: FnOnce(&mut SqliteConnection) -> Result<(), SqliteError> + Send + 'static,
    {
        let store = self.store.clone();
        tokio::spawn(async move { store.write(operation).await })
    }

    /// Keeps the writer at work until the sender is dropped.
    async fn gate(&self) -> (Sender<()>, JoinHandle<Outcome>) {
        let (open, shut) = channel::<()>();
        let (at_work, begun) = tokio::sync::oneshot::channel();
        let held = self.write(move |_| {
            at_work.send(()).unwrap();
            shut.recv().unwrap_err();
            Ok(())
        });
        begun.await.unwrap();
        (open, held)
    }

    async fn numbers(&self) -> Vec<i64> {
        self.store.read(|c| Ok(notes::table.select(notes::n).order(notes::n).load(c)?)).await.unwrap()
    }

    /// How many transactions the log holds: their last frames tell the size of the file, all others nothing.
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

/// TestStore a number.
fn note(n: i64) -> impl FnOnce(&mut SqliteConnection) -> Result<(), SqliteError> + Send + 'static {
    move |c| {
        diesel::insert_into(notes::table).values(notes::n.eq(n)).execute(c)?;
        Ok(())
    }
}

/// Waits until that many have asked.
async fn asked(notes: &TestStore, count: usize) {
    while notes.store.queued_writes() < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_at_once_share_a_commit_and_none_is_lost() {
    let notes = TestStore::new().await;
    let before = notes.commits();
    let (open, held) = notes.gate().await;
    let writes: Vec<_> = (0..64).map(|n| notes.write(note(n))).collect();
    asked(&notes, 64).await;
    drop(open);
    held.await.unwrap().unwrap();
    for write in writes {
        write.await.unwrap().unwrap();
    }
    assert_eq!(notes.numbers().await, (0..64).collect::<Vec<_>>());
    let shared = notes.commits() - before;
    assert!(shared < 64, "{shared} commits");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_write_alone_is_one_commit() {
    let notes = TestStore::new().await;
    let before = notes.commits();
    for n in 0..5 {
        notes.write(note(n)).await.unwrap().unwrap();
    }
    assert_eq!(notes.commits() - before, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_or_panics_harms_no_other() {
    let notes = TestStore::new().await;
    for round in 0..4 {
        let (open, held) = notes.gate().await;
        let first = round * 100;
        let writes: Vec<_> = (first..first + 60)
            .map(|n| {
                let done = note(n);
                notes.write(move |c| match n % 10 {
                    3 => {
                        done(c)?;
                        Err(SqliteError::Refused("it was not to be".to_owned()))
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
                        c.transaction::<(), SqliteError, _>(|_| panic!("a test of panics, deep inside"))
                    }),
                    _ => done(c),
                })
            })
            .collect();
        asked(&notes, 60).await;
        drop(open);
        held.await.unwrap().unwrap();
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
async fn when_the_commit_fails_nobody_is_told_that_it_worked() {
    let notes = TestStore::new().await;
    notes.run("CREATE TABLE parts (whole INTEGER REFERENCES notes (n))").await.unwrap().unwrap();
    let (open, held) = notes.gate().await;
    let mut writes: Vec<_> = (0..3).map(|n| notes.write(note(n))).collect();
    asked(&notes, 3).await;
    let orphan = "PRAGMA defer_foreign_keys = ON; INSERT INTO parts VALUES (9)";
    writes.push(notes.run(orphan));
    asked(&notes, 4).await;
    drop(open);
    // It may have shared the transaction.
    let _held = held.await.unwrap();
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
async fn when_the_transaction_is_lost_all_that_shared_it_can_be_tried_again() {
    let notes = TestStore::new().await;
    let (open, held) = notes.gate().await;
    let mut writes: Vec<_> = (0..3).map(|n| notes.write(note(n))).collect();
    asked(&notes, 3).await;
    // SQLite does that by itself when the disk is full.
    let losing = notes.run("ROLLBACK");
    asked(&notes, 4).await;
    writes.extend((3..6).map(|n| notes.write(note(n))));
    asked(&notes, 7).await;
    drop(open);
    // It may have shared the transaction.
    let _held = held.await.unwrap();
    let outcome = losing.await.unwrap();
    assert!(matches!(outcome, Err(StorageError::Unavailable(_))), "{outcome:?}");
    let mut done = Vec::new();
    for (n, write) in (0..).zip(writes) {
        match write.await.unwrap() {
            Ok(()) => done.push(n),
            Err(error) => assert!(matches!(error, StorageError::Unavailable(_)), "{error}"),
        }
    }
    assert!(done.ends_with(&[3, 4, 5]), "those behind have another transaction");
    assert_eq!(notes.numbers().await, done);
    notes.write(note(9)).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_is_given_up_before_its_turn_is_not_run() {
    let notes = TestStore::new().await;
    let (open, held) = notes.gate().await;
    let given_up: Vec<_> = (0..8).map(|n| notes.write(note(n))).collect();
    asked(&notes, 8).await;
    for write in given_up {
        write.abort();
        assert!(write.await.unwrap_err().is_cancelled());
    }
    let kept = notes.write(note(9));
    asked(&notes, 9).await;
    drop(open);
    held.await.unwrap().unwrap();
    kept.await.unwrap().unwrap();
    assert_eq!(notes.numbers().await, [9]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_is_given_up_at_work_is_whole() {
    let notes = TestStore::new().await;
    let (open, shut) = channel::<()>();
    let (at_work, begun) = tokio::sync::oneshot::channel();
    let write = notes.write(move |c| {
        note(1)(c)?;
        at_work.send(()).unwrap();
        shut.recv().unwrap_err();
        note(2)(c)
    });
    begun.await.unwrap();
    write.abort();
    assert!(write.await.unwrap_err().is_cancelled());
    drop(open);
    notes.write(note(3)).await.unwrap().unwrap();
    assert_eq!(notes.numbers().await, [1, 2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_wait_for_another_process_that_writes() {
    let notes = TestStore::new().await;
    let mut other = SqliteConnection::establish(notes.path.to_str().unwrap()).unwrap();
    sql_query("BEGIN IMMEDIATE").execute(&mut other).unwrap();
    let writes: Vec<_> = (0..8).map(|n| notes.write(note(n))).collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(writes.iter().all(|write| !write.is_finished()));
    sql_query("COMMIT").execute(&mut other).unwrap();
    for write in writes {
        write.await.unwrap().unwrap();
    }
    assert_eq!(notes.numbers().await.len(), 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_for_is_done_when_the_store_is_dropped() {
    let notes = TestStore::new().await;
    let (open, held) = notes.gate().await;
    let write = notes.write(note(1));
    asked(&notes, 1).await;
    let TestStore { store, path, _folder } = notes;
    drop(store);
    drop(open);
    held.await.unwrap().unwrap();
    write.await.unwrap().unwrap();
    let mut reader = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    // The dropped store may just be closing the file.
    reader.batch_execute("PRAGMA busy_timeout = 10000").unwrap();
    assert_eq!(notes::table.select(notes::n).load::<i64>(&mut reader).unwrap(), [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_store_leaves_nothing_but_its_file() {
    let notes = TestStore::new().await;
    notes.write(note(1)).await.unwrap().unwrap();
    assert_eq!(notes.numbers().await, [1]);
    let TestStore { store, path, _folder } = notes;
    let beside = || fs::read_dir(path.parent().unwrap()).unwrap().count() - 1;
    assert_eq!(beside(), 2, "the WAL and its index");
    drop(store);
    assert_eq!(beside(), 0);
}
