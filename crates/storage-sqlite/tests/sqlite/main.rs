//! Runs the conformance suite on SQLite, and tests what is particular to SQLite.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod broken_files;
mod broken_rows;
mod cancellation;
mod files;
mod inline;
mod large_folders;
mod migrations;
mod oauth;
mod query_plans;
mod text_index;
mod two_stores;

use std::path::Path;

use storage::SchemaStore;
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};
use tempfile::TempDir;

storage_conformance::conformance_suite!(fresh_store);

const NOT_DURABLE: SqliteOptions = SqliteOptions { readers: 4, durability: Durability::Off };

/// A migrated store in a folder of its own.
async fn fresh_store() -> (SqliteStore, TempDir) {
    let folder = TempDir::new().unwrap();
    let store = open(&folder.path().join("library.sqlite")).await;
    store.migrate().await.unwrap();
    (store, folder)
}

async fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, NOT_DURABLE).await.unwrap()
}
