//! Runs the conformance suite on Postgres, and tests what is particular to Postgres.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod migrations;
mod oauth;
mod resilience;

use storage::SchemaStore;
use storage_postgres::{PostgresOptions, PostgresStore, PostgresUrl};
use test_postgres::TestDatabase;

storage_conformance::conformance_suite!(fresh_store);

/// A migrated store in a database of its own.
async fn fresh_store() -> (PostgresStore, TestDatabase) {
    let database = TestDatabase::migrated(async |url: String| {
        open(&url).await.migrate().await.unwrap();
    })
    .await;
    (open(&database.url()).await, database)
}

async fn open(url: &str) -> PostgresStore {
    let options = PostgresOptions { connections: 8 };
    PostgresStore::open(PostgresUrl::parse(url).unwrap(), options).await.unwrap()
}
