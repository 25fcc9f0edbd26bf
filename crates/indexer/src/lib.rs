//! Makes photos visible and searchable: leases jobs from the queues of the store, decodes photos in sandboxed processes, makes
//! renditions, and extracts what searches need.
//!
//! The most common change is something new to extract from photos: add a variant of [`SearchStage`] and its work to `stages`;
//! the compiler reports the other places.

mod decoding;
mod dispatcher;
mod encoders;
mod figures;
mod indexer_role;
mod indexing;
mod job_span;
mod localities;
mod models;
mod planner;
mod renditions;
mod search_stage;
mod settings;
mod stages;
mod text_reader;
mod views;

use std::{io, sync::Arc};

use blobs::BlobStore;
use clock::Clock;
use encoders::Encoders;
use keys::Random;
use renditions::PendingRenditions;
use roles::Roles;
use stages::RunningStages;
use storage::SharedStore;
use text_reader::TextReader;
use tokio::sync::Notify;

pub use dispatcher::Indexing;
pub use encoders::{InstalledModels, ModelSource, SharedEncoder};
pub use figures::QueueFigures;
pub use indexer_role::IndexingScope;
pub use localities::{Located, locate};
pub use media::ViewOptions;
pub use renditions::{Remake, RenditionError};
pub use sandbox::{InvalidLanguages, Languages, PoolLoad, WorkerCommand};
pub use search_stage::SearchStage;
pub use settings::IndexerSettings;
pub use stages::SearchProgress;

/// Works on the queues of the store. Clones share their state.
#[derive(Clone)]
pub struct Indexer {
    parts: Arc<Parts>,
}

struct Parts {
    store: SharedStore,
    blobs: BlobStore,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    roles: Roles,
    /// How many photos are decoded at once.
    decode_workers: usize,
    decoders: sandbox::Pool,
    text_reader: Option<TextReader>,
    encoders: Arc<Encoders>,
    running_stages: RunningStages,
    pending_renditions: PendingRenditions,
    queue_changed: Notify,
}

impl Indexer {
    /// Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// There is no runtime, or a thread cannot be started.
    pub fn new(
        store: SharedStore,
        blobs: BlobStore,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        roles: Roles,
        settings: &IndexerSettings,
    ) -> io::Result<Self> {
        let decoders = decoding::pool(settings)?;
        let text_reader = decoding::text_reader(settings, &decoders)?;
        let parts = Parts {
            store,
            blobs,
            clock,
            random,
            roles,
            decode_workers: settings.decode_workers.max(1),
            decoders,
            text_reader,
            encoders: Arc::new(Encoders::new(Arc::new(vision::BuiltInEncoder), settings.models.clone())),
            running_stages: RunningStages::default(),
            pending_renditions: PendingRenditions::default(),
            queue_changed: Notify::new(),
        };
        Ok(Self { parts: Arc::new(parts) })
    }

    /// Wakes the indexing task of this process, because the caller has added jobs to the queue. The indexing tasks of
    /// other processes poll the queue every second.
    pub fn queue_changed(&self) {
        self.parts.queue_changed.notify_one();
    }

    fn random(&self) -> &dyn Random {
        self.parts.random.as_ref()
    }
}
