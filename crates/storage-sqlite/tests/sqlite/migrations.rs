use std::path::Path;

use diesel::{
    Connection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query,
    sql_types::{Nullable, Text},
};
use storage::SchemaStore;
use storage_conformance::{NOW, Seed, random_photos};
use tempfile::TempDir;

use crate::{fresh_store, open};

#[derive(Debug, PartialEq, QueryableByName)]
struct Object {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Nullable<Text>)]
    sql: Option<String>,
}

/// Everything that stands in the schema but what diesel and SQLite keep for themselves.
fn schema(path: &Path) -> Vec<Object> {
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    sql_query(
        "SELECT name, sql FROM sqlite_master
        WHERE tbl_name <> '__diesel_schema_migrations' AND name NOT LIKE 'sqlite\\_sequence' ESCAPE '\\'
        ORDER BY name",
    )
    .load(&mut connection)
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn up_down_and_up_again_give_the_same_schema() {
    let (store, folder) = fresh_store().await;
    let path = folder.path().join("library.sqlite");
    let up = schema(&path);
    assert!(up.iter().any(|object| object.name == "images"));
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(domain::Plan::Paid).await;
    seed.images(ann.account, random_photos(20, NOW, 1)).await;

    let mut reverted = Vec::new();
    while let Some(name) = store.revert_migration().await.unwrap() {
        reverted.push(name);
    }
    assert_eq!(schema(&path), [], "nothing is left, though it held a library");
    let pending = store.pending_migrations().await.unwrap();
    reverted.reverse();
    assert_eq!(reverted, pending);
    assert_eq!(store.migrate().await.unwrap(), pending);
    assert_eq!(schema(&path), up);
    assert_eq!(store.pending_migrations().await.unwrap(), Vec::<String>::new());
    assert_eq!(store.migrate().await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_can_migrate_a_new_file_at_once() {
    for _ in 0..3 {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("library.sqlite");
        let migrating: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                tokio::spawn(async move { open(&path).await.migrate().await.unwrap().len() })
            })
            .collect();
        let mut applied = Vec::new();
        for task in migrating {
            applied.push(task.await.unwrap());
        }
        assert_eq!(applied.iter().filter(|count| **count > 0).count(), 1, "one did it all: {applied:?}");
        assert_eq!(open(&path).await.pending_migrations().await.unwrap(), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_store_says_what_is_pending() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder.path().join("library.sqlite")).await;
    let pending = store.pending_migrations().await.unwrap();
    assert_eq!(pending.first().map(String::as_str), Some("2026-11-21-000001_create_library"));
    assert_eq!(store.revert_migration().await.unwrap(), None);
    assert_eq!(store.migrate().await.unwrap(), pending);
}
