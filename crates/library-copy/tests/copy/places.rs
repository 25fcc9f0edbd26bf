//! Libraries in new stores.

use std::sync::Arc;

use blobs::{BlobStore, S3Credentials, S3Options};
use domain::ContentHash;
use library_copy::{CopyOptions, Place};
use s3_test_server::{BUCKET, KEY_ID, S3Server, SECRET};
use storage::{CopiedTable, PageLimit, SharedStore};
use storage_conformance::NOW;
use storage_postgres::{PostgresOptions, PostgresStore, PostgresUrl};
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};
use tempfile::TempDir;
use test_postgres::TestDatabase;

/// An empty library. Its stores are deleted when it is dropped.
pub(crate) struct Side {
    pub(crate) place: Place,
    pub(crate) dir: TempDir,
    _database: Option<TestDatabase>,
    pub(crate) server: Option<S3Server>,
}

impl Side {
    /// On SQLite and in a folder.
    pub(crate) async fn sqlite(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = SqliteOptions { readers: 4, durability: Durability::Off };
        let store = SqliteStore::open(&dir.path().join("library.sqlite"), options).await.unwrap();
        Self::new(name, Arc::new(store), dir, None).await
    }

    /// On Postgres and in a folder.
    pub(crate) async fn postgres(name: &str) -> Self {
        let open = async |url: String| {
            let url = PostgresUrl::parse(&url).unwrap();
            PostgresStore::open(url, PostgresOptions { connections: 4 }).await.unwrap()
        };
        let database = TestDatabase::migrated(async |url| {
            storage::SchemaStore::migrate(&open(url).await).await.unwrap();
        })
        .await;
        let store = Arc::new(open(database.url()).await);
        Self::new(name, store, tempfile::tempdir().unwrap(), Some(database)).await
    }

    /// On SQLite and in a bucket.
    pub(crate) async fn bucket(name: &str) -> Self {
        let mut side = Self::sqlite(name).await;
        let server = S3Server::start(&side.dir.path().join("s3")).await.unwrap();
        let location = format!("s3://{BUCKET}/library").parse().unwrap();
        let mut options = S3Options::new(location, S3Credentials::key(KEY_ID, SECRET));
        options.endpoint = Some(server.url().parse().unwrap());
        side.place.blobs = BlobStore::open_s3(&options, &side.dir.path().join("blobs")).unwrap();
        side.server = Some(server);
        side
    }

    async fn new(name: &str, store: SharedStore, dir: TempDir, database: Option<TestDatabase>) -> Self {
        store.migrate().await.unwrap();
        let blobs = BlobStore::open_folder(&dir.path().join("blobs")).unwrap();
        let place = Place { store, blobs, name: name.to_owned() };
        Self { place, dir, _database: database, server: None }
    }

    /// The number and the checksum of the rows of each table. The checksum does not use the code under test.
    pub(crate) async fn tables(&self) -> Vec<(CopiedTable, usize, ContentHash)> {
        let mut tables = Vec::new();
        for table in CopiedTable::ALL.iter().copied() {
            let all = PageLimit { rows: u32::MAX / 2, bytes: u64::MAX };
            let rows = self.place.store.copied_rows(table, None, all).await.unwrap();
            let text = format!("{:?}", rows.iter().map(|row| &row.values).collect::<Vec<_>>());
            tables.push((table, rows.len(), blobs::content_hash(text.as_bytes())));
        }
        tables
    }
}

/// Options with pages so small that a copy takes many steps.
pub(crate) fn small_pages(transfer: &str) -> CopyOptions {
    CopyOptions {
        page: PageLimit { rows: 3, bytes: 200 },
        files_at_once: 3,
        ..CopyOptions::new(transfer.to_owned(), NOW)
    }
}
