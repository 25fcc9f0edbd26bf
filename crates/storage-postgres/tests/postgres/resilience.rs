use std::time::Duration;

use domain::Plan;
use storage::{AccountStore as _, ImageStore as _, StorageError};
use storage_conformance::{NOW, Photo, Seed};
use storage_postgres::{PostgresOptions, PostgresStore, PostgresUrl};

use crate::fresh_store;

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_is_replaced_without_an_error() {
    let (store, database) = fresh_store().await;
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    for round in 0..5 {
        seed.image(ann.account, Photo::at_second(round)).await;
        database.end_sessions().await;
        assert_eq!(i64::from(store.count_images(ann).await.unwrap()), round + 1);
        database.end_sessions().await;
        seed.album(ann, "Album", &[]).await;
        database.end_sessions().await;
        assert_eq!(i64::from(store.count_images(ann).await.unwrap()), round + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_refuses_connections_is_unavailable_until_it_accepts_them() {
    let (store, database) = fresh_store().await;
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    database.accept_connections(false).await;
    for _ in 0..3 {
        assert!(matches!(store.count_images(ann).await, Err(StorageError::Unavailable(_))));
    }
    database.accept_connections(true).await;
    let waiting = async {
        while store.count_images(ann).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_one_account_leave_connections_to_others() {
    let (_, database) = fresh_store().await;
    let options = PostgresOptions { connections: 3 };
    let store = PostgresStore::open(PostgresUrl::parse(&database.url()).unwrap(), options).await.unwrap();
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    // This lock shows the store that another machine is writing for the account.
    let lock = format!("SELECT pg_advisory_lock({})", (0x5048_4F54_i64 << 32) | ann.account.0);
    let holder = database.hold(&lock).await;
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let seed = seed.clone();
            tokio::spawn(async move { seed.album(ann, "Album", &[]).await })
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(store.count_images(ben).await.unwrap(), 0);
        seed.album(ben, "Album", &[]).await;
    }
    assert!(waiting.iter().all(|task| !task.is_finished()));
    drop(holder);
    for task in waiting {
        task.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_server_is_unavailable_until_it_accepts_writes() {
    let (store, database) = fresh_store().await;
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    database.set_read_only(true).await;
    let refused = loop {
        match store.mark_synced(ann.account, NOW).await {
            // This write used a session that a pooler had begun to open before the change.
            Ok(()) => database.end_sessions().await,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, StorageError::Unavailable(_)), "{refused:?}");
    database.set_read_only(false).await;
    let waiting = async {
        while store.mark_synced(ann.account, NOW).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap();
}
