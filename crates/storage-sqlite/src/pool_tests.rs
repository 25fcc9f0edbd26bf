//! Tests of the pool of connections.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
    mpsc,
};

use diesel::{
    Connection as _,
    connection::{AnsiTransactionManager, SimpleConnection as _, TransactionManager as _},
};

use diesel::SqliteConnection;
use storage::StorageError;

use crate::{
    sql::{
        SqlError,
        pool::{Pool, PoolLimits},
    },
    store::boxed,
};

async fn run<T, F>(pool: &Pool, operation: F) -> Result<T, StorageError>
where
    T: Send + 'static,
    F: FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
{
    pool.run(boxed(operation)).await?.into_type()
}

fn limits(connections: usize) -> PoolLimits {
    let (wait, long) = (std::time::Duration::from_secs(30), std::time::Duration::MAX);
    PoolLimits { connections, wait, age: long, idle: long }
}

/// A pool of in-memory databases, with the number of connections that it opened.
fn pool(max_connections: usize) -> (Pool, Arc<AtomicUsize>) {
    let opened = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    let pool = Pool::new(limits(max_connections), move || {
        count.fetch_add(1, Ordering::SeqCst);
        SqliteConnection::establish(":memory:")
    });
    (pool, opened)
}

#[tokio::test]
async fn connections_are_reused() {
    let (pool, opened) = pool(2);
    for number in 0..5 {
        assert_eq!(run(&pool, move |_| Ok(number)).await.unwrap(), number);
    }
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn concurrent_operations_share_the_allowed_connections() {
    let (pool, opened) = pool(2);
    let (release, released) = mpsc::channel::<()>();
    let released = Arc::new(Mutex::new(released));
    let running: Vec<_> = (0..6)
        .map(|_| {
            let (pool, released) = (pool.clone(), Arc::clone(&released));
            tokio::spawn(async move {
                run(&pool, move |_| {
                    released.lock().unwrap().recv().unwrap();
                    Ok(())
                })
                .await
            })
        })
        .collect();
    for _ in 0..6 {
        release.send(()).unwrap();
    }
    for task in running {
        task.await.unwrap().unwrap();
    }
    assert!(opened.load(Ordering::SeqCst) <= 2);
}

#[tokio::test]
async fn a_failed_operation_keeps_its_connection() {
    let (pool, opened) = pool(1);
    let refused = run(&pool, |_| Err::<(), _>(SqlError::Refused("no".to_owned()))).await;
    assert!(matches!(refused, Err(StorageError::Refused(_))));
    run(&pool, |_| Ok(())).await.unwrap();
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_connection_is_closed_after_a_panic_or_an_open_transaction() {
    let (pool, opened) = pool(1);
    let panicked = run::<(), _>(&pool, |_| panic!("a test of panics")).await;
    assert!(matches!(panicked, Err(StorageError::Refused(_))));
    run(&pool, |c| Ok(AnsiTransactionManager::begin_transaction(c)?)).await.unwrap();
    run(&pool, |c| Ok(c.batch_execute("BEGIN; COMMIT")?)).await.unwrap();
    assert_eq!(opened.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_failed_connection_is_unavailable_and_returns_its_permit() {
    let pool = Pool::new(limits(1), || SqliteConnection::establish("/nowhere/library.sqlite"));
    for _ in 0..2 {
        let outcome = run(&pool, |_| Ok(())).await;
        assert!(matches!(outcome, Err(StorageError::Unavailable(_))), "{outcome:?}");
    }
}

#[tokio::test]
async fn old_connections_are_closed() {
    let opened = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    let pool = Pool::new(PoolLimits { age: std::time::Duration::ZERO, ..limits(1) }, move || {
        count.fetch_add(1, Ordering::SeqCst);
        SqliteConnection::establish(":memory:")
    });
    for _ in 0..3 {
        run(&pool, |_| Ok(())).await.unwrap();
    }
    assert_eq!(opened.load(Ordering::SeqCst), 3);
}
