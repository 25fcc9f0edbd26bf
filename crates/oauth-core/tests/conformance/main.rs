//! The memory store and the stores of the examples pass the conformance suite.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(unreachable_pub, reason = "a service may export the stores")]

#[path = "../../examples/stores/postgres.rs"]
mod postgres;
#[path = "../../examples/stores/sqlite.rs"]
mod sqlite;

mod in_memory {
    use oauth_core::MemoryStore;

    async fn fresh_store() -> (MemoryStore, ()) {
        (MemoryStore::new(), ())
    }

    oauth_core::conformance_suite!(fresh_store);
}

mod on_postgres {
    use test_postgres::TestDatabase;

    use crate::postgres::PostgresStore;

    async fn fresh_store() -> (PostgresStore, TestDatabase) {
        let database = TestDatabase::empty().await;
        (PostgresStore::open(&database.direct_url()).await.unwrap(), database)
    }

    oauth_core::conformance_suite!(fresh_store);
}

mod on_sqlite {
    use tempfile::TempDir;

    use crate::sqlite::SqliteStore;

    async fn fresh_store() -> (SqliteStore, TempDir) {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("oauth.sqlite");
        (SqliteStore::open(file.to_str().unwrap()).await.unwrap(), folder)
    }

    oauth_core::conformance_suite!(fresh_store);
}
