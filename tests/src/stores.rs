use std::{env, path::Path, sync::Arc, time::Duration};

use blobs::{BlobStore, S3Credentials, S3Limits, S3Options};
use s3_test_server::{BUCKET, KEY_ID, S3Server, SECRET};
use storage::{SchemaStore as _, SharedStore};
use storage_postgres::{PostgresOptions, PostgresStore, PostgresUrl};
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};
use tempfile::TempDir;
use test_postgres::TestDatabase;

use crate::black_box::{StoreReader, StoredCaptureTime};

/// The environment variable that names the stores of the tests: `embedded` (the default) or `postgres-s3`.
const STACK: &str = "PHOTOS_TEST_STACK";

/// The prefix of all keys in the bucket.
const PREFIX: &str = "library";

/// The kinds of stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stack {
    /// SQLite and a folder.
    Embedded,
    /// Postgres and a bucket.
    PostgresS3,
}

/// The stores of a service: those in a folder, or a database and a bucket that several machines share.
#[derive(Clone)]
pub(crate) struct Stores {
    /// The data folder of the machine.
    folder: Arc<TempDir>,
    shared: Option<Arc<SharedStores>>,
}

struct SharedStores {
    database: TestDatabase,
    s3: S3Server,
    /// The folder of the S3 server.
    _objects: TempDir,
}

impl Stores {
    /// New stores of the kind that the environment names.
    #[expect(
        clippy::disallowed_methods,
        clippy::panic,
        reason = "the developer tool configures tests by variables"
    )]
    pub(crate) async fn create(migrated: bool) -> Self {
        let stack = env::var(STACK).unwrap_or_else(|_| "embedded".to_owned());
        match stack.as_str() {
            "embedded" => Self::create_of(Stack::Embedded, migrated).await,
            "postgres-s3" => Self::create_of(Stack::PostgresS3, migrated).await,
            other => panic!("{STACK} must be embedded or postgres-s3, not {other}"),
        }
    }

    /// New stores of a kind.
    pub(crate) async fn create_of(stack: Stack, migrated: bool) -> Self {
        let shared = match stack {
            Stack::Embedded => None,
            Stack::PostgresS3 => Some(Arc::new(SharedStores::create(migrated).await)),
        };
        let stores = Self { folder: new_folder(), shared };
        if migrated && stores.shared.is_none() {
            stores.open_metadata().await.migrate().await.unwrap();
        }
        stores
    }

    /// The same stores from another machine. Stores in a folder belong to one machine, so they are the same.
    pub(crate) fn on_another_machine(&self) -> Self {
        let folder = if self.shared.is_some() { new_folder() } else { Arc::clone(&self.folder) };
        Self { folder, shared: self.shared.clone() }
    }

    /// The data folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Opens the metadata store, as a process does.
    pub(crate) async fn open_metadata(&self) -> SharedStore {
        match &self.shared {
            Some(shared) => Arc::new(open_database(&shared.database.url()).await),
            None => {
                let options = SqliteOptions { readers: 4, durability: Durability::Off };
                let file = self.folder().join("library.sqlite");
                Arc::new(SqliteStore::open(&file, options).await.unwrap())
            }
        }
    }

    /// Opens the blob store, as a process does.
    pub(crate) fn open_blobs(&self) -> BlobStore {
        let folder = self.folder().join("blobs");
        match &self.shared {
            Some(shared) => BlobStore::open_s3(&shared.s3_options(), &folder).unwrap(),
            None => BlobStore::open_folder(&folder).unwrap(),
        }
    }

    /// Whether the metadata store contains a text. It is read without the library.
    pub(crate) async fn contain_text(&self, text: &str) -> bool {
        let stored = match &self.shared {
            Some(shared) => shared.database.text().await.into_bytes(),
            None => ["library.sqlite", "library.sqlite-wal"]
                .iter()
                .flat_map(|file| std::fs::read(self.folder().join(file)).unwrap_or_default())
                .collect(),
        };
        stored.windows(text.len()).any(|window| window == text.as_bytes())
    }

    /// The stored capture times of all visible images.
    pub(crate) async fn capture_times(&self) -> Vec<StoredCaptureTime> {
        let Some(shared) = &self.shared else {
            return StoreReader::open(self.folder()).unwrap().capture_times().unwrap();
        };
        let rows = shared.database.connect().await.query(StoredCaptureTime::QUERY, &[]).await.unwrap();
        let capture = |row: &tokio_postgres::Row| StoredCaptureTime {
            image: row.get("image"),
            original: row.get("original"),
            at_ms: row.get("at_ms"),
            wall: row.get("wall"),
            offset_minutes: row.get("offset_minutes"),
            source: row.get("source"),
        };
        rows.iter().map(capture).collect()
    }
}

impl SharedStores {
    async fn create(migrated: bool) -> Self {
        let database = if migrated {
            TestDatabase::migrated(async |url: String| {
                open_database(&url).await.migrate().await.unwrap();
            })
            .await
        } else {
            TestDatabase::empty().await
        };
        let objects = tempfile::tempdir().unwrap();
        let s3 = S3Server::start(objects.path()).await.unwrap();
        Self { database, s3, _objects: objects }
    }

    /// The settings for the S3 server. A failed request is retried at once.
    fn s3_options(&self) -> S3Options {
        let location = format!("s3://{BUCKET}/{PREFIX}").parse().unwrap();
        let mut options = S3Options::new(location, S3Credentials::key(KEY_ID, SECRET));
        options.endpoint = Some(self.s3.url().parse().unwrap());
        options.limits = S3Limits { backoff: Duration::from_millis(1), ..S3Limits::default() };
        options
    }
}

fn new_folder() -> Arc<TempDir> {
    Arc::new(tempfile::tempdir().unwrap())
}

async fn open_database(url: &str) -> PostgresStore {
    let options = PostgresOptions { connections: 8 };
    PostgresStore::open(PostgresUrl::parse(url).unwrap(), options).await.unwrap()
}
