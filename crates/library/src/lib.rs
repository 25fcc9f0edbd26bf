//! The use cases of the photo library: accounts, keys and sessions, import and indexing, lists, searches, albums,
//! renditions.
//!
//! Every surface (HTTP, MCP, command line) calls a [`Library`], which owns the clock, the random source and the
//! ports of the metadata store and the blob store. Its methods take values that `domain` has validated, and each
//! operation has one error enum.
//!
//! This crate knows no HTTP, no SQL and no command line.
//!
//! The most common change is a new use case: add a method on [`Library`] to the module of its topic. Give it its own
//! error enum if callers handle its failures differently.
#![deny(missing_docs)]

mod accounts;
mod albums;
mod background;
mod clock;
mod decoding;
mod dispatcher;
mod edits;
mod encoders;
mod export;
mod figures;
mod files;
mod folder_import;
mod folder_watch;
mod hot_renditions;
mod images;
mod import;
mod import_albums;
mod import_feed;
mod import_report;
mod indexer_role;
mod indexing;
mod integrity;
mod limited;
mod localities;
mod low_priority;
mod maintenance;
mod map;
mod passwords;
mod planner;
mod problem_words;
mod renditions;
mod reserved_bytes;
mod roles;
mod search;
mod security_events;
mod selections;
mod sessions;
mod set_up;
mod settings;
mod sidecars;
mod sign_in;
mod signing_keys;
mod stages;
mod store_clock;
mod sync_sign_in;
mod timeline;
mod trash;
mod uploads;

use std::{io, sync::Arc};

use blobs::BlobStore;
use domain::AccountId;
use keys::Random;
use storage::{SharedStore, Viewer};
use tokio::sync::Notify;

pub use accounts::{AccountError, Caller, Credential, KeyError, Unavailable};
pub use blobs::{BlobError, BlobReader};
pub use clock::{Clock, ManualClock, SystemClock};
pub use dispatcher::Indexing;
pub use edits::{EditError, EditTotals, FoundCity};
pub use encoders::{InstalledModels, ModelSource, SharedEncoder};
pub use export::{ExportError, ExportProgress, ExportReport};
pub use exports::Problem;
pub use figures::{ProcessFigures, QueueFigures, RenditionCacheFigures};
pub use files::{FileError, FileSearch, LockFile, MoveFile, PutFile, SearchDepth};
pub use folder_import::ImportProgress;
pub use folder_watch::{WatchError, WatchEvent, WatchOptions, WatchTotals};
pub use hot_renditions::RenditionContent;
pub use images::LibraryInfo;
pub use import::{ImportError, ImportOutcome, Upload};
pub use import_report::{FailedFile, FailedKind, ImportReport};
pub use indexer_role::IndexingScope;
pub use integrity::{
    Example, FindingKind, Findings, IntegrityError, IntegrityOptions, IntegrityProgress, IntegrityReport,
};
pub use maintenance::{Maintenance, RESTORABLE_MS};
pub use media::Format as PhotoFormat;
pub use renditions::{RenditionError, ServedRendition};
pub use sandbox::{InvalidLanguages, Languages, PoolLoad, WorkerCommand};
pub use search::{Hit, MatchBy, RankedPage, SearchError};
pub use selections::DeletedSelection;
pub use set_up::SetUpError;
pub use settings::Settings;
pub use sign_in::{
    ChangePasswordError, SignInError, SignInSource, SignedIn, network_prefix, subscriber_prefix,
};
pub use signing_keys::{SigningKeys, TOKEN_LIFETIMES};
pub use stages::{SearchProgress, SearchStage};
pub use storage::{
    AlbumName, AlbumPage, AlbumWrite, CheckDepth, EditableImage, FileCondition, FileContent, FileEntry,
    FileId, FileImage, FileKind, FileListing, FileLock, FileRefusal, FileTimes, FileWritten, ImageEdits,
    ImageState, IndexingProgress, KeyInfo, LocatedFile, LoginFlow, Lookup, MapCluster, MonthTotal,
    PhotoContext, ProblemImage, QueueLength, SecurityEvent, SelectionCount, SessionHash, SessionHolder,
    SessionInfo, StageProgress, StorageError, TimelineOrder, TimelineState, TrashedImage, UploadPart,
    UploadProtocol, UploadState,
};
pub use store_clock::clock_of;
pub use sync_sign_in::{ConnectedDevice, LoginFlowTokens, NewSyncPassword, OneTimeLogin, SyncPasswordError};
pub use uploads::{
    AssembleError, Chunk, LockedUpload, MAX_KNOWN_HASHES, Progress, TusPart, UploadError, UploadOutcome,
    UploadResult,
};

/// The photo library of all accounts. Clones share it.
#[derive(Clone)]
pub struct Library {
    parts: Arc<Parts>,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Library")
    }
}

struct Parts {
    store: SharedStore,
    blobs: BlobStore,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    settings: Settings,
    decoders: sandbox::Pool,
    text_reader: Option<stages::TextReader>,
    encoders: Arc<encoders::Encoders>,
    embeddings: search::EmbeddingCache,
    running_stages: stages::RunningStages,
    passwords: passwords::Passwords,
    sign_in_locks: sign_in::SignInLocks,
    pending_renditions: renditions::PendingRenditions,
    hot_renditions: hot_renditions::HotRenditions,
    upload_locks: uploads::UploadLocks,
    reserved_bytes: reserved_bytes::ReservedBytes,
    queue_changed: Notify,
    key_uses: background::BackgroundWriter,
    grant_uses: background::BackgroundWriter,
    session_uses: background::BackgroundWriter,
    failed_sign_ins: background::BackgroundWriter,
}

impl Library {
    /// Opens a library on these stores. It uses no other clock and no other random source. Must be called within a
    /// Tokio runtime.
    ///
    /// # Errors
    /// There is no runtime, or a thread cannot be started.
    pub fn new(
        store: SharedStore,
        blobs: BlobStore,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        settings: Settings,
    ) -> io::Result<Self> {
        let decoders = decoding::pool(&settings)?;
        let text_reader = decoding::text_reader(&settings, &decoders)?;
        let built_in = Arc::new(vision::BuiltInEncoder);
        let encoders = Arc::new(encoders::Encoders::new(built_in, settings.models.clone()));
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let passwords = passwords::Passwords::new(processors, settings.passwords_waiting);
        let parts = Parts {
            store,
            blobs,
            clock,
            random,
            decoders,
            text_reader,
            encoders,
            embeddings: search::EmbeddingCache::new(&settings),
            running_stages: stages::RunningStages::default(),
            passwords,
            sign_in_locks: sign_in::SignInLocks::default(),
            pending_renditions: renditions::PendingRenditions::default(),
            hot_renditions: hot_renditions::HotRenditions::default(),
            upload_locks: uploads::UploadLocks::default(),
            reserved_bytes: reserved_bytes::ReservedBytes::default(),
            queue_changed: Notify::new(),
            key_uses: background::BackgroundWriter::new("the use of an API key"),
            grant_uses: background::BackgroundWriter::new("the use of a grant"),
            session_uses: background::BackgroundWriter::new("the use of a session"),
            failed_sign_ins: background::BackgroundWriter::new("a failed sign-in"),
            settings,
        };
        Ok(Self { parts: Arc::new(parts) })
    }

    /// The library's clock.
    pub fn clock(&self) -> &dyn Clock {
        self.parts.clock.as_ref()
    }

    /// The library's random source.
    pub fn random(&self) -> &dyn Random {
        self.parts.random.as_ref()
    }

    /// The library's settings.
    pub fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    /// The authorization server's store of clients and grants.
    pub fn grants(&self) -> Arc<dyn oauth_core::Store> {
        self.parts.store.clone()
    }

    /// The names of pending schema migrations. Also checks that the metadata store can be reached.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn pending_migrations(&self) -> Result<Vec<String>, StorageError> {
        self.parts.store.pending_migrations().await
    }

    /// Whether the library may be used: it is not being moved to another store, and was not.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn is_open(&self) -> Result<bool, StorageError> {
        Ok(self.parts.store.library_state().await?.is_open())
    }

    /// Checks that the blob store can be reached, in at most 5 seconds.
    ///
    /// # Errors
    /// [`BlobError`].
    pub async fn probe_blobs(&self) -> Result<(), BlobError> {
        self.parts.blobs.content.probe().await
    }

    fn viewer(&self, caller: &Caller) -> Viewer {
        Viewer {
            account: caller.account.id,
            plan: caller.account.plan,
            free_window: self.parts.settings.free_window,
        }
    }

    /// Records that the account has synced, uploaded or imported photos.
    async fn mark_synced(&self, account: AccountId) -> Result<(), StorageError> {
        self.parts.store.mark_synced(account, self.parts.clock.now()).await
    }
}
