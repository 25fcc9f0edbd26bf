//! How photos come in and go out: imports of folders, archives and exports of other services, watched folders, uploads, files
//! of WebDAV clients, and exports.
//!
//! The most common change is another way to take photos in: add a module with its method on [`Ingest`] that ends in
//! [`import_stream`](Ingest::import_stream).

mod examples;
mod export;
mod files;
mod folder_import;
mod folder_watch;
mod import;
mod import_albums;
mod import_error;
mod import_feed;
mod import_report;
mod reserved_bytes;
mod sidecars;
mod uploads;

use std::sync::Arc;

use blobs::BlobStore;
use catalogue::Catalogue;
use clock::Clock;
use indexer::Indexer;
use keys::Random;
use reserved_bytes::ReservedBytes;
use roles::Roles;
use storage::SharedStore;
use uploads::UploadLocks;

pub use export::{ExportError, ExportProgress, ExportReport};
pub use exports::Problem;
pub use files::{FileError, FileSearch, LockFile, MoveFile, PutFile, SearchDepth};
pub use folder_import::ImportProgress;
pub use folder_watch::{FORGET_MS, WatchError, WatchEvent, WatchOptions, WatchTotals};
pub use import::{ImportOutcome, Upload};
pub use import_error::ImportError;
pub use import_report::{FailedFile, FailedKind, ImportReport};
pub use media::Format as PhotoFormat;
pub use uploads::{
    AssembleError, Chunk, LockedUpload, MAX_KNOWN_HASHES, Progress, TusPart, UploadError, UploadOutcome,
    UploadResult,
};

/// How much may be taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngestLimits {
    /// The longest file that can be imported, in bytes.
    pub max_upload_bytes: u64,
    /// Maximum number of bytes that an account may store; `None` for no limit. It does not apply to imports by an operator.
    pub account_quota_bytes: Option<u64>,
}

impl Default for IngestLimits {
    /// Files up to 200 MB, and no quota.
    fn default() -> Self {
        Self { max_upload_bytes: 200_000_000, account_quota_bytes: None }
    }
}

/// Takes photos in and gives them out. Clones share their state.
#[derive(Clone)]
pub struct Ingest {
    parts: Arc<Parts>,
}

struct Parts {
    store: SharedStore,
    blobs: BlobStore,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    roles: Roles,
    indexer: Indexer,
    /// Restores the corrections in an export.
    catalogue: Catalogue,
    limits: IngestLimits,
    upload_locks: UploadLocks,
    reserved_bytes: ReservedBytes,
}

/// The components that [`Ingest::new`] connects.
pub struct IngestPorts {
    pub store: SharedStore,
    pub blobs: BlobStore,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub roles: Roles,
    pub indexer: Indexer,
    pub catalogue: Catalogue,
}

impl Ingest {
    pub fn new(ports: IngestPorts, limits: IngestLimits) -> Self {
        let IngestPorts { store, blobs, clock, random, roles, indexer, catalogue } = ports;
        let parts = Parts {
            store,
            blobs,
            clock,
            random,
            roles,
            indexer,
            catalogue,
            limits,
            upload_locks: UploadLocks::default(),
            reserved_bytes: ReservedBytes::default(),
        };
        Self { parts: Arc::new(parts) }
    }

    fn random(&self) -> &dyn Random {
        self.parts.random.as_ref()
    }
}
