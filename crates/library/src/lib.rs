//! The photo library: connects the crates of its use cases to the stores, the clock and the random source.
//!
//! Every surface (HTTP, MCP, command line) calls the crates through a [`Library`], for example
//! `library.catalogue.search(…)`. Their methods take values that `domain` has validated, and each operation has one error
//! enum.
//!
//! A new use case is a method of one of these crates. The most common change here is another component that several
//! crates need: build it in [`Library::new`], and pass it to them.

mod settings;

use std::{io, sync::Arc};

use blobs::BlobStore;
use ingest::IngestPorts;
use keys::Random;
use storage::SharedStore;

pub use accounts::{
    AccountError, Accounts, Caller, ChangePasswordError, ConnectedDevice, Credential, Editor, KeyError,
    LoginFlowTokens, NewSyncPassword, OneTimeLogin, SetUpError, SignInError, SignInSource, SignedIn,
    SigningKeys, SyncPasswordError, TOKEN_LIFETIMES, Unavailable, network_prefix, subscriber_prefix,
};
pub use blobs::{BlobError, BlobReader};
pub use catalogue::{
    AlbumSort, Catalogue, Completion, DayInYear, DeletedSelection, EditError, EditTotals, Explore, FoundCity,
    FoundPlaces, Hit, LibraryInfo, MAX_VIEW_BYTES, MatchBy, Meaning, Named, NamedImage, NewEdit, PLACE_KINDS,
    PhotoProblem, RESTORABLE_MS, RankedPage, ReadQuery, RenditionCacheFigures, RenditionContent, SearchError,
    SearchSettings, ServedRendition, ViewError, ViewSize, is_titled,
};
pub use clock::{Clock, ManualClock, SystemClock, clock_of};
pub use indexer::{
    Indexer, IndexerSettings, Indexing, IndexingScope, InstalledModels, InvalidLanguages, Languages,
    ModelSource, PoolLoad, QueueFigures, RenditionError, SearchProgress, SearchStage, SharedEncoder,
    WorkerCommand,
};
pub use ingest::{
    AssembleError, Chunk, ExportError, ExportProgress, ExportReport, FailedFile, FailedKind, FileError,
    FileSearch, ImportError, ImportOutcome, ImportProgress, ImportReport, Ingest, IngestLimits, LockFile,
    LockedUpload, MAX_KNOWN_HASHES, MoveFile, PhotoFormat, Problem, Progress, PutFile, SearchDepth, TusPart,
    Upload, UploadError, UploadOutcome, UploadResult, WatchError, WatchEvent, WatchOptions, WatchTotals,
};
pub use roles::Roles;
pub use settings::Settings;
pub use storage::{
    AlbumMoved, AlbumName, AlbumPage, AlbumWrite, CheckDepth, EditableImage, FileCondition, FileContent,
    FileEntry, FileId, FileImage, FileKind, FileListing, FileLock, FileRefusal, FileTimes, FileWritten,
    ImageEdits, ImageState, IndexingProgress, KeyInfo, ListedAlbum, ListedEdit, LocatedFile, LoginFlow,
    Lookup, MapCluster, MonthTotal, NameKind, PhotoContext, PositionedImage, Positions, QueueLength,
    SecurityEvent, SelectionCount, SessionHash, SessionHolder, SessionInfo, StageProgress, StorageError,
    TimelineOrder, TimelineState, TrashedImage, UploadPart, UploadProtocol, UploadState,
};
pub use upkeep::{
    Example, FindingKind, Findings, IntegrityError, IntegrityOptions, IntegrityProgress, IntegrityReport,
    Maintenance, Upkeep,
};

/// The photo library of all accounts. Clones share their state.
#[derive(Clone)]
pub struct Library {
    pub accounts: Accounts,
    pub catalogue: Catalogue,
    pub ingest: Ingest,
    pub indexer: Indexer,
    pub upkeep: Upkeep,
    pub roles: Roles,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    settings: Arc<Settings>,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Library")
    }
}

impl Library {
    /// Opens a library on these stores. The library uses no other clock and no other random source. Must be called within
    /// a Tokio runtime.
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
        let accounts =
            Accounts::new(store.clone(), clock.clone(), random.clone(), settings.passwords_waiting);
        let roles = Roles::new(store.clone(), blobs.clone(), clock.clone(), random.clone());
        let indexer = Indexer::new(
            store.clone(),
            blobs.clone(),
            clock.clone(),
            random.clone(),
            roles.clone(),
            &settings.indexer,
        )?;
        let catalogue = Catalogue::new(
            store.clone(),
            blobs.clone(),
            clock.clone(),
            random.clone(),
            indexer.clone(),
            settings.free_window,
            settings.search,
        );
        let ports = IngestPorts {
            store: store.clone(),
            blobs: blobs.clone(),
            clock: clock.clone(),
            random: random.clone(),
            roles: roles.clone(),
            indexer: indexer.clone(),
            catalogue: catalogue.clone(),
        };
        let ingest = Ingest::new(ports, settings.limits);
        let upkeep = Upkeep::new(
            store,
            blobs,
            clock.clone(),
            roles.clone(),
            accounts.clone(),
            indexer.clone(),
            ingest.clone(),
        );
        let settings = Arc::new(settings);
        Ok(Self { accounts, catalogue, ingest, indexer, upkeep, roles, clock, random, settings })
    }

    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    pub fn random(&self) -> &dyn Random {
        self.random.as_ref()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}
