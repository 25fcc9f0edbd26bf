use std::path::Path;

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use domain::Plan;
use storage::{AccountStore, ImageStore, SchemaStore, StorageError};
use storage_conformance::{Photo, Seed};
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};
use tempfile::TempDir;

use crate::{NOT_DURABLE, fresh_store};

fn run(path: &Path, sql: &str) {
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute("PRAGMA busy_timeout = 10000; PRAGMA ignore_check_constraints = ON").unwrap();
    connection.batch_execute(sql).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_persists_after_its_store_is_dropped() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("library.sqlite");
    let options = SqliteOptions { durability: Durability::Full, ..SqliteOptions::default() };
    let store = SqliteStore::open(&path, options).await.unwrap();
    store.migrate().await.unwrap();
    let seed = Seed::new(std::sync::Arc::new(store));
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, Photo::at_second(1)).await;
    drop(seed);
    let again = SqliteStore::open(&path, options).await.unwrap();
    assert!(matches!(again.image(ann, &id).await.unwrap(), storage::Lookup::Found(_)));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let (_store, folder) = fresh_store().await;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", entry.path().display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_opened_is_named_in_the_error() {
    let folder = TempDir::new().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("nowhere/library.sqlite")] {
        let Err(StorageError::Unavailable(reason)) = SqliteStore::open(&path, NOT_DURABLE).await else {
            panic!("{} was opened", path.display());
        };
        assert!(reason.contains(path.to_str().unwrap()), "{reason}");
    }
    let junk = folder.path().join("junk.sqlite");
    std::fs::write(&junk, "This is not a database. ".repeat(80)).unwrap();
    assert!(SqliteStore::open(&junk, NOT_DURABLE).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_may_look_like_a_uri_or_contain_special_characters() {
    let folder = TempDir::new().unwrap();
    for name in ["file:a?mode=memory", ":memory:", "ä b%20c#d.sqlite"] {
        let path = folder.path().join(name);
        let store = SqliteStore::open(&path, NOT_DURABLE).await.unwrap();
        store.migrate().await.unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() > 0, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_values_are_named_in_the_error() {
    let (store, folder) = fresh_store().await;
    let path = folder.path().join("library.sqlite");
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, Photo::at_second(1)).await;
    run(&path, "UPDATE images SET width = -5");
    let Err(StorageError::Unreadable { table, column, row }) = store.image(ann, &id).await else {
        panic!("it was read");
    };
    assert_eq!((table, column, row.as_str()), ("images", "width", "1"));
    run(&path, "UPDATE accounts SET email = 'no address'");
    let error = store.accounts().await.unwrap_err();
    assert!(matches!(error, StorageError::Unreadable { table: "accounts", column: "email", .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_without_a_schema_refuses_operations() {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(&folder.path().join("library.sqlite"), NOT_DURABLE).await.unwrap();
    let error = store.accounts().await.unwrap_err();
    assert!(matches!(error, StorageError::Refused(_)), "{error}");
}
