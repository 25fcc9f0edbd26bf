use catalogue::SearchSettings;
use indexer::{IndexerSettings, WorkerCommand};
use ingest::IngestLimits;

/// The settings of a library.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many of its newest images an account on the free plan sees.
    pub free_window: u32,
    /// How many passwords may wait to be checked; further sign-ins are refused. A check takes about 20 ms.
    pub passwords_waiting: usize,
    pub limits: IngestLimits,
    pub indexer: IndexerSettings,
    pub search: SearchSettings,
}

impl Settings {
    /// The defaults: 1000 images in the free window, 64 waiting passwords, and those of the parts.
    pub fn new(decoder: WorkerCommand) -> Self {
        Self {
            free_window: 1000,
            passwords_waiting: 64,
            limits: IngestLimits::default(),
            indexer: IndexerSettings::new(decoder),
            search: SearchSettings::default(),
        }
    }
}
