use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use blobs::BlobError;
use domain::{ContentHash, FileInfo, ImageId, Rendition};
use roles::StoreFailure;
use sandbox::{DecodeError, DecodeTask, RequestedRenditions, Urgency};
use storage::{RenditionJob, RenditionSource, StorageError, StoredRendition};
use tokio::sync::Semaphore;
use tracing::Instrument as _;

use crate::{Indexer, job_span::mark_failed};

/// How long a background job waits after something other than the original failed.
const RETRY_MS: i64 = 30_000;
/// How many requests for missing renditions may run or wait at once; further ones are refused.
const MAX_PENDING: usize = 64;
/// How many failed renditions are cached, so that not every request starts a decoder for them.
const MAX_FAILURES: usize = 1024;
/// How long a failure is cached.
const FAILURE_TTL: Duration = Duration::from_secs(600);

/// The renditions that are being made in this process. Concurrent requests for the same one make it once.
pub(crate) struct PendingRenditions {
    locks: Mutex<HashMap<RenditionKey, Weak<RenditionLock>>>,
    failures: Mutex<HashMap<RenditionKey, Failure>>,
    requests: Semaphore,
}

/// Why a rendition could not be made.
struct Failure {
    /// By the monotonic clock.
    at: Duration,
    reason: String,
}

impl Default for PendingRenditions {
    fn default() -> Self {
        Self { locks: Mutex::default(), failures: Mutex::default(), requests: Semaphore::new(MAX_PENDING) }
    }
}

type RenditionKey = (ContentHash, Rendition);
/// Held while the rendition is made.
type RenditionLock = tokio::sync::Mutex<()>;

impl PendingRenditions {
    /// Why the rendition recently could not be made.
    fn failure(&self, key: RenditionKey, now: Duration) -> Option<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = failures.get(&key).filter(|failure| now < failure.at + FAILURE_TTL)?;
        Some(failure.reason.clone())
    }

    fn record_failure(&self, key: RenditionKey, reason: String, at: Duration) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= MAX_FAILURES {
            failures.retain(|_, failure| at < failure.at + FAILURE_TTL);
        }
        if failures.len() >= MAX_FAILURES {
            failures.clear();
        }
        failures.insert(key, Failure { at, reason });
    }

    fn lock(&self, key: RenditionKey) -> Arc<RenditionLock> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = locks.get(&key).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        locks.insert(key, Arc::downgrade(&lock));
        lock
    }
}

/// When a rendition is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remake {
    /// If the metadata store has none.
    IfAbsent,
    /// Even if the metadata store has one, because its bytes are lost.
    Always,
}

/// Why a rendition cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum RenditionError {
    /// The image is unknown, deleted, or outside its owner's free window.
    #[error("there is no image with this id")]
    NoImage,
    /// It could not be made from the original.
    #[error("the rendition could not be made: {0}")]
    Failed(String),
    /// No decoder is available; the call can be retried later.
    #[error("no rendition can be made now: {0}")]
    DecoderUnavailable(io::Error),
    /// The metadata store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The blob store failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
}

impl From<DecodeError<BlobError>> for RenditionError {
    fn from(error: DecodeError<BlobError>) -> Self {
        match error {
            DecodeError::File(fault) => Self::Failed(fault.to_string()),
            DecodeError::Source(error) => Self::Blob(error),
            error @ DecodeError::SourceLength { .. } => Self::Failed(error.to_string()),
            DecodeError::Unavailable(error) => Self::DecoderUnavailable(error),
        }
    }
}

impl From<StoreFailure> for RenditionError {
    fn from(error: StoreFailure) -> Self {
        match error {
            StoreFailure::Storage(error) => Self::Storage(error),
            StoreFailure::Blob(error) => Self::Blob(error),
        }
    }
}

impl Indexer {
    /// Makes a rendition once for all concurrent requests. Does so in a task of its own, so that it is finished even if the
    /// request is cancelled. `free_window` is that of the [`Viewer`](storage::Viewer) of the image's owner.
    pub async fn make_rendition(
        &self,
        id: ImageId,
        rendition: Rendition,
        original: ContentHash,
        free_window: u32,
        remake: Remake,
    ) -> Result<StoredRendition, RenditionError> {
        let indexer = self.clone();
        let made = async move {
            let pending = &indexer.parts.pending_renditions;
            let busy =
                |_| RenditionError::DecoderUnavailable(io::Error::other("too many requests are waiting"));
            let _request = pending.requests.try_acquire().map_err(busy)?;
            let lock = pending.lock((original, rendition));
            let _guard = lock.lock().await;
            let source = indexer.parts.store.rendition(&id, rendition, free_window).await?;
            let source = source.ok_or(RenditionError::NoImage)?;
            match source.stored {
                Some(stored) if remake == Remake::IfAbsent => Ok(stored),
                _ => {
                    let RenditionSource { original, original_bytes, .. } = source;
                    indexer.make(original, original_bytes, rendition, Urgency::Interactive).await
                }
            }
        };
        let made = tokio::spawn(made.in_current_span()).await;
        made.unwrap_or_else(|error| Err(RenditionError::Failed(error.to_string())))
    }

    async fn make(
        &self,
        original: ContentHash,
        original_bytes: u64,
        rendition: Rendition,
        urgency: Urgency,
    ) -> Result<StoredRendition, RenditionError> {
        let pending = &self.parts.pending_renditions;
        if let Some(reason) = pending.failure((original, rendition), self.parts.clock.monotonic()) {
            return Err(RenditionError::Failed(reason));
        }
        // A sidecar may turn the picture.
        let sidecars = self.parts.store.sidecars_of_original(&original).await?;
        let file = FileInfo { sidecars, ..FileInfo::added_at(self.parts.clock.now()) };
        let renditions = RequestedRenditions::Only(vec![rendition]);
        let task = DecodeTask { renditions, read_metadata: (!file.sidecars.is_empty()).then_some(file) };
        let decoded = match self.decode(original, original_bytes, &task, urgency).await {
            Err(DecodeError::File(fault)) => {
                let reason = fault.to_string();
                let now = self.parts.clock.monotonic();
                pending.record_failure((original, rendition), reason.clone(), now);
                return Err(RenditionError::Failed(reason));
            }
            decoded => decoded?,
        };
        let written = self.store_renditions(decoded.rendered.renditions).await?;
        let stored = written.into_iter().find(|stored| stored.rendition == rendition);
        let stored = stored.ok_or_else(|| RenditionError::Failed("the decoder did not return it".into()))?;
        if self.parts.store.add_rendition(&original, stored).await? {
            Ok(stored)
        } else {
            Err(RenditionError::NoImage)
        }
    }

    /// Makes a full rendition ahead of requests, and records the outcome. It does not take the lock of the requests, so
    /// that a request for the same rendition never waits for this background job.
    pub(crate) async fn run_rendition_job(&self, job: RenditionJob, worker: &str) {
        let RenditionJob { original, original_bytes, .. } = job;
        let store = &self.parts.store;
        let made = match store.holds_rendition_job(&original, worker).await {
            Ok(true) => self.make(original, original_bytes, Rendition::Full, Urgency::Deferrable).await,
            Ok(false) => return,
            Err(error) => Err(error.into()),
        };
        if made.is_err() {
            mark_failed();
        }
        let outcome = match made {
            Ok(_) => return,
            Err(error @ RenditionError::Failed(_)) => {
                tracing::info!(%original, %error, "a full rendition could not be made");
                store.drop_rendition_job(&original, worker).await
            }
            Err(RenditionError::Blob(error @ BlobError::Missing { .. })) => {
                tracing::error!(%original, %error, "an original is lost");
                store.drop_rendition_job(&original, worker).await
            }
            Err(error) => {
                tracing::warn!(%original, %error, "a full rendition will be made later");
                let not_before = self.parts.clock.now().plus_millis(RETRY_MS);
                store.retry_rendition_job(&original, worker, not_before).await
            }
        };
        if let Err(error) = outcome {
            // The lease is not renewed and expires.
            tracing::warn!(%original, %error, "the outcome of a rendition job was not recorded");
        }
    }
}
