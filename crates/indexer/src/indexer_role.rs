//! Which process of a machine works on the queues.

use blobs::{BlobError, IndexerLock, ProcessLocks, ServiceLock, WorkerLock};

use crate::{Indexer, search_stage::SearchStage};

/// Which jobs a process takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexingScope {
    /// Only jobs that make images visible, and searchable without OCR and the vision model, for a process that ends
    /// afterwards.
    Images,
    /// Jobs that make images visible and searchable, for a process that ends afterwards.
    Search,
    /// All jobs, for a long-running process. When no image waits, it also makes full renditions ahead of requests and
    /// repeats the work of older decoders, models and OCR versions.
    Everything,
    /// All jobs, for a long-running process that does nothing else. A server on the same machine leaves the jobs to it.
    Worker,
}

impl IndexingScope {
    /// Whether the process also takes jobs that can wait.
    pub(crate) fn includes_upkeep(self) -> bool {
        match self {
            Self::Images | Self::Search => false,
            Self::Everything | Self::Worker => true,
        }
    }

    /// Whether the process works on a stage.
    pub(crate) fn includes_stage(self, stage: SearchStage) -> bool {
        match self {
            Self::Images => stage.is_quick(),
            Self::Search | Self::Everything | Self::Worker => true,
        }
    }
}

impl Indexer {
    /// Whether a server or a worker runs on this machine.
    pub fn has_indexing_service(&self) -> bool {
        self.parts.blobs.locks.has_service().unwrap_or_else(|error| {
            tracing::debug!(%error, "whether a server runs cannot be determined");
            false
        })
    }
}

/// Whether this process is the indexer of its machine. Only the indexer takes jobs, so that the memory budget of its
/// decoders covers all processes of the machine. A worker takes precedence over a server, and both over a process that
/// ends after its work.
#[derive(Debug, Default)]
pub(crate) struct IndexerRole {
    worker: Option<WorkerLock>,
    service: Option<ServiceLock>,
    indexer: Option<IndexerLock>,
    /// The locks cannot be used, and every process takes jobs.
    unlocked: bool,
}

impl IndexerRole {
    pub(crate) fn is_held(&self) -> bool {
        self.indexer.is_some() || self.unlocked
    }

    /// Whether this process may take jobs now. Takes the role if it is free.
    pub(crate) fn may_take_jobs(
        &mut self,
        locks: &ProcessLocks,
        scope: IndexingScope,
        is_idle: bool,
    ) -> bool {
        self.update(locks, scope, is_idle).unwrap_or_else(|error| {
            if !self.unlocked {
                tracing::warn!(
                    %error,
                    "the lock of the indexer cannot be used; every process indexes with a memory budget of its own"
                );
            }
            self.unlocked = true;
            true
        })
    }

    /// Takes the role if it is free, and releases it to a long-running process once no job runs here.
    fn update(
        &mut self,
        locks: &ProcessLocks,
        scope: IndexingScope,
        is_idle: bool,
    ) -> Result<bool, BlobError> {
        if scope.includes_upkeep() && self.service.is_none() {
            self.service = locks.try_service()?;
        }
        if scope == IndexingScope::Worker && self.worker.is_none() {
            self.worker = locks.try_worker()?;
        }
        let may_take = match scope {
            IndexingScope::Worker => true,
            IndexingScope::Everything => !locks.has_worker()?,
            IndexingScope::Images | IndexingScope::Search => !locks.has_service()?,
        };
        if may_take && self.indexer.is_none() {
            self.indexer = locks.try_indexer()?;
        } else if !may_take && is_idle {
            self.indexer = None;
        }
        Ok(may_take && self.indexer.is_some())
    }
}
