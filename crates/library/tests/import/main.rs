//! Imports from folders and streams, also when stores fail, files are lost, and several processes work on one library.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first failure")]

mod chunks;
mod exported;
mod exports;
mod files;
mod integrity;
mod parts;
mod resilience;
mod scheduling;
mod tree;
mod uploads;
mod watch;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use blobs::BlobStore;
use domain::{Account, BlobKind, Checksum, ChecksumAlgorithm, Email, ListQuery, Plan};
use keys::SystemRandom;
use library::{
    Caller, Clock, ImportReport, IndexingScope, IngestLimits, Library, ManualClock, Settings, SystemClock,
    WorkerCommand,
};
use storage::{BlobRegistry as _, SchemaStore as _};
use storage_sqlite::{SqliteOptions, SqliteStore};

/// A process: a library with its own connections to the stores.
struct Process {
    library: Library,
    store: SqliteStore,
    blobs: BlobStore,
}

async fn process(dir: &Path) -> Process {
    process_with(dir, Settings::new(decoder())).await
}

async fn process_with(dir: &Path, settings: Settings) -> Process {
    process_of(dir, settings, Arc::new(SystemClock)).await
}

fn limited(limits: IngestLimits) -> Settings {
    Settings { limits, ..Settings::new(decoder()) }
}

/// A process with a clock that the test advances.
async fn process_at(dir: &Path, clock: ManualClock) -> (Process, Arc<ManualClock>) {
    let clock = Arc::new(clock);
    (process_of(dir, Settings::new(decoder()), clock.clone()).await, clock)
}

async fn process_of(dir: &Path, settings: Settings, clock: Arc<dyn Clock>) -> Process {
    let store = SqliteStore::open(&dir.join("library.sqlite"), SqliteOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    let blobs = BlobStore::open_folder(&dir.join("blobs")).unwrap();
    let random = Arc::new(SystemRandom::new());
    let library = Library::new(Arc::new(store.clone()), blobs.clone(), clock, random, settings).unwrap();
    Process { library, store, blobs }
}

impl Process {
    async fn account(&self, name: &str) -> Account {
        let email = Email::parse(&format!("{name}@example.org")).unwrap();
        self.library.accounts.create_account(email, Plan::Paid, Some("password".into())).await.unwrap().0
    }

    async fn import(&self, account: &Account, files: &[PathBuf]) -> ImportReport {
        let indexing = self.library.indexer.start_indexing(IndexingScope::Search).unwrap();
        let report =
            self.library.ingest.import_folder(account.id, files, IndexingScope::Search, |_| {}).await;
        indexing.stop().await;
        report
    }

    async fn stored(&self, kind: BlobKind) -> Vec<domain::ContentHash> {
        let stored = self.store.kept_blobs(kind, None, 1000).await.unwrap();
        stored.into_iter().map(|blob| blob.hash).collect()
    }

    /// The id of the newest image that the owner sees.
    async fn first_image(&self, account: &Account) -> String {
        let caller = Caller::operator(self.library.accounts.account(&account.email).await.unwrap());
        let page = self.library.catalogue.list(&caller, &ListQuery::default()).await.unwrap();
        page.first().unwrap().image.id.to_string()
    }
}

fn decoder() -> WorkerCommand {
    example("library_decoder")
}

/// An example of this crate, which is built with the tests.
fn example(name: &str) -> WorkerCommand {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(program.is_file(), "{} is built with all tests of this package", program.display());
    WorkerCommand { program, args: Vec::new(), environment: Vec::new() }
}

fn sha256(bytes: &[u8]) -> Checksum {
    let value = blobs::content_hash(bytes).as_bytes().to_vec();
    Checksum::new(ChecksumAlgorithm::Sha256, value).unwrap()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn blob_path(dir: &Path, kind: &str, hash: domain::ContentHash) -> PathBuf {
    let name = hash.to_string();
    dir.join("blobs").join(kind).join(&name[..2]).join(&name)
}
