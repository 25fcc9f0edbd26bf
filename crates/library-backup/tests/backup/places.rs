//! Libraries in new stores, and backups of them.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use blobs::{BlobStore, S3Credentials, S3Options, content_hash};
use bytes::Bytes;
use domain::{BlobKind, ContentHash, Plan, Rendition};
use fastrand::Rng;
use library_backup::{
    BackupError, BackupOptions, BackupReport, Place, RestoreOptions, RestoreReport, VerifiedBackup, back_up,
    begin_restore, verify,
};
use s3_test_server::{BUCKET, KEY_ID, S3Server, SECRET};
use storage::{BlobRef, CopiedTable, NewImage, PageLimit, SharedStore, StoredRendition, Viewer};
use storage_conformance::{NOW, Photo, Seed, indexed};
use storage_postgres::{PostgresOptions, PostgresStore, PostgresUrl};
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};
use tempfile::TempDir;
use test_postgres::TestDatabase;

pub(crate) const SERVICE_SECRET: &[u8] = b"the secret of the service, 32 characters";
/// Pages so small that everything takes many steps.
const SMALL_PAGES: PageLimit = PageLimit { rows: 3, bytes: 200 };

/// An empty library. Its stores are deleted when it is dropped.
pub(crate) struct Side {
    pub(crate) place: Place,
    dir: TempDir,
    _database: Option<TestDatabase>,
    _server: Option<S3Server>,
}

impl Side {
    /// On SQLite and in a folder.
    pub(crate) async fn sqlite() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = SqliteOptions { readers: 4, durability: Durability::Off };
        let store = SqliteStore::open(&dir.path().join("library.sqlite"), options).await.unwrap();
        Self::new(Arc::new(store), dir, None).await
    }

    /// On Postgres and in a bucket.
    pub(crate) async fn postgres() -> Self {
        let open = async |url: String| {
            let url = PostgresUrl::parse(&url).unwrap();
            PostgresStore::open(url, PostgresOptions { connections: 4 }).await.unwrap()
        };
        let database = TestDatabase::migrated(async |url| {
            storage::SchemaStore::migrate(&open(url).await).await.unwrap();
        })
        .await;
        let store = Arc::new(open(database.url()).await);
        let mut side = Self::new(store, tempfile::tempdir().unwrap(), Some(database)).await;
        let server = S3Server::start(&side.dir.path().join("s3")).await.unwrap();
        let location = format!("s3://{BUCKET}/library").parse().unwrap();
        let mut options = S3Options::new(location, S3Credentials::key(KEY_ID, SECRET));
        options.endpoint = Some(server.url().parse().unwrap());
        side.place.blobs = BlobStore::open_s3(&options, &side.dir.path().join("blobs")).unwrap();
        side._server = Some(server);
        side
    }

    async fn new(store: SharedStore, dir: TempDir, database: Option<TestDatabase>) -> Self {
        store.migrate().await.unwrap();
        let blobs = BlobStore::open_folder(&dir.path().join("blobs")).unwrap();
        let place = Place { store, blobs, name: "library".to_owned() };
        Self { place, dir, _database: database, _server: None }
    }

    /// The rows of all tables that a backup has.
    pub(crate) async fn tables(&self) -> Vec<(CopiedTable, usize, ContentHash)> {
        let mut tables = Vec::new();
        for table in CopiedTable::ALL.iter().copied() {
            if [CopiedTable::Uploads, CopiedTable::UploadParts].contains(&table) {
                continue;
            }
            let all = PageLimit { rows: u32::MAX / 2, bytes: u64::MAX };
            let rows = self.place.store.copied_rows(table, None, all).await.unwrap();
            let text = format!("{:?}", rows.iter().map(|row| &row.values).collect::<Vec<_>>());
            tables.push((table, rows.len(), content_hash(text.as_bytes())));
        }
        tables
    }

    /// Every blob that the metadata store refers to, with the hash of its content.
    pub(crate) async fn contents(&self) -> Vec<(BlobKind, ContentHash)> {
        let mut contents = Vec::new();
        for kind in [BlobKind::Original, BlobKind::Rendition] {
            for blob in self.place.store.kept_blobs(kind, None, 10_000).await.unwrap() {
                let hash = self.place.blobs.content.read_hash(kind, blob.hash).await.unwrap();
                assert_eq!(hash, blob.hash);
                contents.push((kind, hash));
            }
        }
        contents
    }

    /// Adds photos with all their files, and a blob that nothing refers to.
    pub(crate) async fn fill(&self, first: i64, photos: i64) -> Viewer {
        let mut random = Rng::with_seed(u64::try_from(first).unwrap() + 4);
        let seed = Seed::tagged(self.place.store.clone(), &format!("fill-{first}"));
        let ann = seed.account(Plan::Paid).await;
        for number in first..first + photos {
            let original = self.blob(BlobKind::Original, noise(&mut random, 50_000)).await;
            let mut photo = Photo::at_second(number).original(original.hash).description("a lake");
            let mut renditions = Vec::new();
            for rendition in [Rendition::Medium, Rendition::Thumb] {
                let blob = self.blob(BlobKind::Rendition, noise(&mut random, 5000)).await;
                let size = photo.size.fit_within(rendition.longest_side_px());
                renditions.push(StoredRendition { rendition, blob: blob.hash, bytes: blob.bytes, size });
            }
            photo = photo.renditions(&renditions);
            let image = NewImage { original_bytes: original.bytes, ..seed.new_image(ann.account, &photo) };
            self.place.store.add_image(image).await.unwrap();
            let job = seed.lease("worker", NOW).await.remove(0);
            assert!(self.place.store.complete_job(job.id, "worker", indexed(&photo)).await.unwrap());
        }
        self.blob(BlobKind::Original, noise(&mut random, 100)).await;
        ann
    }

    async fn blob(&self, kind: BlobKind, bytes: Vec<u8>) -> BlobRef {
        let blob = BlobRef { kind, hash: content_hash(&bytes), bytes: bytes.len() as u64 };
        self.place.store.announce_blobs(&[blob], NOW).await.unwrap();
        self.place.blobs.content.put_bytes(kind, Bytes::from(bytes)).await.unwrap();
        blob
    }

    /// Deletes all photos permanently, as servers do 30 days after their deletion.
    pub(crate) async fn purge(&self, viewer: Viewer) {
        let store = &self.place.store;
        let ids = store.copied_rows(CopiedTable::Images, None, PageLimit { rows: 1000, bytes: 1 << 30 });
        for row in ids.await.unwrap() {
            let [_, storage::Value::Text(id), storage::Value::Integer(account), ..] = &row.values[..] else {
                panic!("{row:?}")
            };
            if *account == viewer.account.0 {
                let id = domain::ImageId::parse(id.clone()).unwrap();
                store.delete_image(viewer, &id, NOW).await.unwrap();
            }
        }
        while store.purge_images(NOW.plus_millis(1), 100).await.unwrap() > 0 {}
        loop {
            let later = NOW.plus_millis(1);
            let taken = store.take_unreferenced_blobs(later, later, 100).await.unwrap();
            if taken.is_empty() {
                return;
            }
            for blob in &taken {
                self.place.blobs.content.delete(blob.kind, blob.hash).await.unwrap();
            }
            store.forget_blobs(&taken).await.unwrap();
        }
    }
}

fn noise(random: &mut Rng, max: usize) -> Vec<u8> {
    let length = random.usize(1..max);
    std::iter::repeat_with(|| random.u8(..)).take(length).collect()
}

/// A folder for backups.
pub(crate) struct Target {
    dir: TempDir,
}

impl Target {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("backup")
    }

    pub(crate) fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) async fn back_up(&self, side: &Side, id: &str) -> Result<BackupReport, BackupError> {
        let options = backup_options(id);
        back_up(&side.place, SERVICE_SECRET, &self.path(), &options, |_| ()).await
    }

    pub(crate) async fn verify(&self) -> Result<VerifiedBackup, BackupError> {
        verify(&self.path(), 3, |_| ()).await
    }

    pub(crate) async fn restore(&self, side: &Side) -> Result<Option<RestoreReport>, BackupError> {
        let backup = self.verify().await?;
        let options = restore_options();
        match begin_restore(&backup, &side.place, &options).await? {
            Some(begun) => begun.complete(|_| ()).await.map(Some),
            None => Ok(None),
        }
    }
}

pub(crate) fn backup_options(id: &str) -> BackupOptions {
    BackupOptions { page: SMALL_PAGES, files_at_once: 3, ..BackupOptions::new(id.to_owned(), NOW, "0.1.0") }
}

pub(crate) fn restore_options() -> RestoreOptions {
    RestoreOptions { page: SMALL_PAGES, files_at_once: 3, ..RestoreOptions::new(NOW) }
}
