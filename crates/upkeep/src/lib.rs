//! Keeps the stores in order: the periodic clean-up, and the check and repair of both stores.
//!
//! The most common change is another check: see the module `integrity`. Expired data is deleted by the crate that wrote
//! it; `maintenance` calls that crate.

mod integrity;
mod maintenance;

use std::sync::Arc;

use accounts::Accounts;
use blobs::{BlobError, BlobStore};
use clock::Clock;
use indexer::Indexer;
use ingest::Ingest;
use roles::Roles;
use storage::{SharedStore, StorageError};

pub use integrity::{
    Example, FindingKind, Findings, IntegrityError, IntegrityOptions, IntegrityProgress, IntegrityReport,
};
pub use maintenance::Maintenance;

/// Cleans the stores up and checks them. Clones share their state.
#[derive(Clone)]
pub struct Upkeep {
    parts: Arc<Parts>,
}

struct Parts {
    store: SharedStore,
    blobs: BlobStore,
    clock: Arc<dyn Clock>,
    roles: Roles,
    accounts: Accounts,
    indexer: Indexer,
    ingest: Ingest,
}

impl Upkeep {
    pub fn new(
        store: SharedStore,
        blobs: BlobStore,
        clock: Arc<dyn Clock>,
        roles: Roles,
        accounts: Accounts,
        indexer: Indexer,
        ingest: Ingest,
    ) -> Self {
        Self { parts: Arc::new(Parts { store, blobs, clock, roles, accounts, indexer, ingest }) }
    }

    /// The names of pending schema migrations. Also checks that the metadata store can be reached.
    pub async fn pending_migrations(&self) -> Result<Vec<String>, StorageError> {
        self.parts.store.pending_migrations().await
    }

    /// Whether the library may be used. It may not while it is being moved to another store, or after it was moved.
    pub async fn is_open(&self) -> Result<bool, StorageError> {
        Ok(self.parts.store.library_state().await?.is_open())
    }

    /// Checks that the blob store can be reached, in at most 5 seconds.
    pub async fn probe_blobs(&self) -> Result<(), BlobError> {
        self.parts.blobs.content.probe().await
    }
}
