use std::{
    collections::HashMap,
    io,
    ops::Range,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use blobs::{BlobError, BlobReader};
use domain::{BlobKind, ContentHash, FileInfo, ImageId, Rendition};
use sandbox::{DecodeError, DecodeTask, RequestedRenditions, Urgency};
use storage::{RenditionJob, RenditionSource, StorageError, StoredRendition};
use tokio::sync::Semaphore;
use tracing::Instrument as _;

use crate::{
    Caller, Library,
    dispatcher::mark_failed,
    hot_renditions::{self, HotRenditions, RenditionContent},
    indexing::StoreFailure,
};

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
enum Remake {
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

/// A rendition that can be read.
#[derive(Debug, Clone)]
pub struct ServedRendition {
    image: ImageId,
    original: ContentHash,
    picture_version: u32,
    stored: StoredRendition,
    library: Library,
}

impl ServedRendition {
    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.stored.bytes
    }

    /// The version of the image's renditions, as in [`Image::picture_version`](domain::Image::picture_version).
    pub fn picture_version(&self) -> u32 {
        self.picture_version
    }

    /// The hash of its bytes.
    pub fn hash(&self) -> ContentHash {
        self.stored.blob
    }

    /// The content of the rendition, or of a range of its bytes. If it is missing from the content store, it is made again
    /// from the original.
    ///
    /// # Errors
    /// [`BlobError`]; [`BlobError::Missing`] if it was lost and cannot be made again.
    pub async fn content(&self, range: Option<Range<u64>>) -> Result<RenditionContent, BlobError> {
        if !HotRenditions::takes(self.stored.bytes) {
            return Ok(RenditionContent::Reader(self.open(range).await?));
        }
        let hot = &self.library.parts.hot_renditions;
        let bytes = match hot.get(self.stored.blob) {
            Some(bytes) => bytes,
            None => {
                let bytes = self.open(None).await?.into_bytes().await?;
                if !hot.insert(self.stored.blob, bytes.clone()) {
                    // Its length may be wrong. A reader that ends early breaks the connection.
                    return Ok(RenditionContent::Reader(self.open(range).await?));
                }
                bytes
            }
        };
        Ok(RenditionContent::InMemory(hot_renditions::part(&bytes, range)))
    }

    async fn open(&self, range: Option<Range<u64>>) -> Result<BlobReader, BlobError> {
        let blobs = &self.library.parts.blobs.content;
        match blobs.open(BlobKind::Rendition, self.stored.blob, range.clone()).await {
            Err(BlobError::Missing { .. }) => {
                tracing::warn!(image = %self.image, rendition = %self.stored.rendition, "a lost rendition is made again");
                let (image, rendition) = (self.image.clone(), self.stored.rendition);
                let made = self.library.make_once(image, rendition, self.original, Remake::Always).await;
                if let Err(error) = made {
                    tracing::error!(image = %self.image, %error, "a lost rendition cannot be made again");
                }
                blobs.open(BlobKind::Rendition, self.stored.blob, range).await
            }
            opened => opened,
        }
    }
}

impl Library {
    /// A rendition of an image that its owner can see. A missing rendition is made now, once for all concurrent requests.
    ///
    /// # Errors
    /// [`RenditionError`].
    pub async fn rendition(
        &self,
        image: &str,
        rendition: Rendition,
    ) -> Result<ServedRendition, RenditionError> {
        let id = ImageId::parse(image).ok_or(RenditionError::NoImage)?;
        let source = self.rendition_source(&id, rendition).await?;
        self.serve(id, rendition, source).await
    }

    /// A rendition of an image of the caller, as [`rendition`](Self::rendition) finds it.
    ///
    /// # Errors
    /// [`RenditionError`]; [`RenditionError::NoImage`] for an image of another account.
    pub async fn own_rendition(
        &self,
        caller: &Caller,
        image: &str,
        rendition: Rendition,
    ) -> Result<ServedRendition, RenditionError> {
        let id = ImageId::parse(image).ok_or(RenditionError::NoImage)?;
        let source = match self.rendition_source(&id, rendition).await {
            Err(RenditionError::NoImage) => self.trashed_source(caller, &id, rendition).await?,
            found => found?,
        };
        if source.owner != caller.account.id {
            return Err(RenditionError::NoImage);
        }
        self.serve(id, rendition, source).await
    }

    async fn serve(
        &self,
        id: ImageId,
        rendition: Rendition,
        source: RenditionSource,
    ) -> Result<ServedRendition, RenditionError> {
        let stored = match source.stored {
            Some(stored) => stored,
            None => self.make_once(id.clone(), rendition, source.original, Remake::IfAbsent).await?,
        };
        let RenditionSource { original, picture_version, .. } = source;
        Ok(ServedRendition { image: id, original, picture_version, stored, library: self.clone() })
    }

    /// The source of a rendition that was made before its image was deleted.
    async fn trashed_source(
        &self,
        caller: &Caller,
        id: &ImageId,
        rendition: Rendition,
    ) -> Result<RenditionSource, RenditionError> {
        let source = self.parts.store.trashed_rendition(caller.account.id, id, rendition).await?;
        source.filter(|source| source.stored.is_some()).ok_or(RenditionError::NoImage)
    }

    async fn rendition_source(
        &self,
        id: &ImageId,
        rendition: Rendition,
    ) -> Result<RenditionSource, RenditionError> {
        let source = self.parts.store.rendition(id, rendition, self.parts.settings.free_window).await?;
        source.ok_or(RenditionError::NoImage)
    }

    /// Makes a rendition in a task of its own, so that it is finished even if the request is cancelled.
    async fn make_once(
        &self,
        id: ImageId,
        rendition: Rendition,
        original: ContentHash,
        remake: Remake,
    ) -> Result<StoredRendition, RenditionError> {
        let library = self.clone();
        let made = async move {
            let pending = &library.parts.pending_renditions;
            let busy =
                |_| RenditionError::DecoderUnavailable(io::Error::other("too many requests are waiting"));
            let _request = pending.requests.try_acquire().map_err(busy)?;
            let lock = pending.lock((original, rendition));
            let _guard = lock.lock().await;
            let source = library.rendition_source(&id, rendition).await?;
            match source.stored {
                Some(stored) if remake == Remake::IfAbsent => Ok(stored),
                _ => {
                    let RenditionSource { original, original_bytes, .. } = source;
                    library.make(original, original_bytes, rendition, Urgency::Interactive).await
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

    /// Makes a full rendition ahead of requests, and records the outcome. It does not take the lock of the requests: a request
    /// for the same rendition makes it at once, and need not wait for a job that can wait.
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
