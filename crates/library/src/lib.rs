//! The use cases of the photo library: accounts, keys and sessions, import and indexing, lists, searches, albums,
//! renditions.
//!
//! A [`Library`] owns the clock, the randomness and the ports of the metadata store and the blob store, and is
//! what every surface (HTTP, MCP, command line) calls. Its methods take values that `domain` has checked, and
//! answer with values and with one error enum per operation.
//!
//! This crate knows no HTTP, no SQL and no command line.
//!
//! The commonest change is a new use case: a method on [`Library`] in the module of its topic, with an error enum
//! of its own if it can fail in ways a caller tells apart.
#![deny(missing_docs)]

mod accounts;
mod albums;
mod clock;
mod decoding;
mod dispatcher;
mod encoders;
mod folder_import;
mod images;
mod import;
mod indexing;
mod localities;
mod maintenance;
mod notes;
mod passwords;
mod renditions;
mod search;
mod security_events;
mod sessions;
mod set_up;
mod settings;
mod sidecars;
mod sign_in;
mod signing_keys;
mod stages;

use std::{io, sync::Arc};

use blobs::BlobStore;
use domain::{AccountId, ContentHash};
use keys::Random;
use storage::{SharedStore, Viewer};
use tokio::sync::Notify;

pub use accounts::{AccountError, Caller, Credential, KeyError, Unavailable};
pub use blobs::{BlobError, BlobReader, Checksum};
pub use clock::{Clock, ManualClock, SystemClock};
pub use dispatcher::{Indexing, IndexingScope};
pub use encoders::{InstalledModels, ModelSource, SharedEncoder};
pub use folder_import::{FailedFile, ImportProgress, ImportReport};
pub use images::LibraryInfo;
pub use import::{FileInfo, ImportError, ImportOutcome, Upload};
pub use maintenance::Maintenance;
pub use renditions::{RenditionError, ServedRendition};
pub use sandbox::{InvalidLanguages, Languages, WorkerCommand};
pub use search::{Hit, SearchError};
pub use set_up::SetUpError;
pub use settings::Settings;
pub use sign_in::{
    ChangePasswordError, SignInError, SignInSource, SignedIn, network_prefix, subscriber_prefix,
};
pub use signing_keys::SigningKeys;
pub use stages::{SearchProgress, SearchStage};
pub use storage::{
    AlbumPage, AlbumWrite, ImageState, KeyInfo, Lookup, QueueLength, SecurityEvent, SessionHash,
    SessionHolder, SessionInfo, StorageError,
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
    reader: Option<stages::Reader>,
    encoders: Arc<encoders::Encoders>,
    sights: search::Sights,
    stages_at_work: stages::AtWork,
    passwords: passwords::Passwords,
    sign_in_turns: sign_in::Turns,
    in_the_making: renditions::InTheMaking,
    queue_changed: Notify,
    key_notes: notes::Notes,
    grant_notes: notes::Notes,
    session_notes: notes::Notes,
    failure_notes: notes::Notes,
}

impl Library {
    /// A library on these stores, with the only clock and the only randomness it will use. To be called within a
    /// runtime.
    ///
    /// # Errors
    /// There is no runtime, or no thread can be started.
    pub fn new(
        store: SharedStore,
        blobs: BlobStore,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        settings: Settings,
    ) -> io::Result<Self> {
        let decoders = decoding::pool(&settings)?;
        let reader = decoding::reader(&settings, &decoders)?;
        let built_in = Arc::new(vision::BuiltInEncoder);
        let encoders = Arc::new(encoders::Encoders::new(built_in, settings.models.clone()));
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let passwords = passwords::Passwords::on(processors, settings.passwords_waiting);
        let parts = Parts {
            store,
            blobs,
            clock,
            random,
            decoders,
            reader,
            encoders,
            sights: search::Sights::new(&settings),
            stages_at_work: stages::AtWork::default(),
            passwords,
            sign_in_turns: sign_in::Turns::default(),
            in_the_making: renditions::InTheMaking::default(),
            queue_changed: Notify::new(),
            key_notes: notes::Notes::of("an API key"),
            grant_notes: notes::Notes::of("a grant"),
            session_notes: notes::Notes::of("a session"),
            failure_notes: notes::Notes::of("a wrong password"),
            settings,
        };
        Ok(Self { parts: Arc::new(parts) })
    }

    /// The clock that the library goes by.
    pub fn clock(&self) -> &dyn Clock {
        self.parts.clock.as_ref()
    }

    /// The randomness that the library draws on.
    pub fn random(&self) -> &dyn Random {
        self.parts.random.as_ref()
    }

    /// How the library was set up.
    pub fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    /// Where the authorization server keeps clients and grants.
    pub fn grants(&self) -> Arc<dyn oauth_core::Store> {
        self.parts.store.clone()
    }

    /// The names of schema migrations that the store still needs; also proves that it can be reached.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn pending_migrations(&self) -> Result<Vec<String>, StorageError> {
        self.parts.store.pending_migrations().await
    }

    /// Proves that the blob store can be reached.
    ///
    /// # Errors
    /// [`BlobError`].
    pub async fn probe_blobs(&self) -> Result<(), BlobError> {
        self.parts
            .blobs
            .content
            .contains(domain::BlobKind::Original, ContentHash::new([0; 32]))
            .await
            .map(|_| ())
    }

    fn viewer(&self, caller: &Caller) -> Viewer {
        Viewer {
            account: caller.account.id,
            plan: caller.account.plan,
            free_window: self.parts.settings.free_window,
        }
    }

    /// Notes that the account has a sync set up.
    async fn mark_synced(&self, account: AccountId) -> Result<(), StorageError> {
        self.parts.store.mark_synced(account, self.parts.clock.now()).await
    }
}
