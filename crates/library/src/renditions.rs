use std::{
    collections::HashMap,
    io,
    ops::Range,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use blobs::{BlobError, BlobReader};
use domain::{BlobKind, ContentHash, ImageId, Rendition};
use sandbox::{DecodeError, DecodeTask, RequestedRenditions, Urgency};
use storage::{RenditionJob, RenditionSource, StorageError, StoredRendition};
use tokio::sync::Semaphore;

use crate::{Library, indexing::StorageErrorOrBlob};

/// How long a background job waits after something other than the original failed.
const RETRY_MS: i64 = 30_000;
/// How many renditions may be asked for at once that have to be made; whoever comes then is told to come again.
const ASKED_AT_ONCE: usize = 64;
/// How many renditions are remembered that could not be made, and how long: a decoder is not set to them at each
/// request.
const FAILURES: usize = 1024;
const FAILURE_HOLDS: Duration = Duration::from_secs(600);

/// Renditions that are being made now, by original, so that requests for the same one make it once.
pub(crate) struct InTheMaking {
    locks: Mutex<HashMap<Making, Weak<Turn>>>,
    failures: Mutex<HashMap<Making, Failure>>,
    asked: Semaphore,
}

/// Why a rendition could not be made, and when by the monotonic clock.
struct Failure {
    at: Duration,
    reason: String,
}

impl Default for InTheMaking {
    fn default() -> Self {
        Self { locks: Mutex::default(), failures: Mutex::default(), asked: Semaphore::new(ASKED_AT_ONCE) }
    }
}

type Making = (ContentHash, Rendition);
/// Held by whoever makes the rendition.
type Turn = tokio::sync::Mutex<()>;

impl InTheMaking {
    /// Why it could not be made a short while ago.
    fn failure(&self, key: Making, now: Duration) -> Option<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = failures.get(&key).filter(|failure| now < failure.at + FAILURE_HOLDS)?;
        Some(failure.reason.clone())
    }

    fn note_failure(&self, key: Making, reason: String, at: Duration) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= FAILURES {
            failures.retain(|_, failure| at < failure.at + FAILURE_HOLDS);
        }
        if failures.len() >= FAILURES {
            failures.clear();
        }
        failures.insert(key, Failure { at, reason });
    }

    fn lock(&self, key: Making) -> Arc<Turn> {
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
    /// When the store knows of none.
    IfAbsent,
    /// Although the store knows of one: its bytes are gone.
    Always,
}

/// Why a rendition cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum RenditionError {
    /// The image's owner cannot see it: it is unknown, deleted, or outside the window.
    #[error("there is no image with this id")]
    NoImage,
    /// It could not be made from the original.
    #[error("the rendition could not be made: {0}")]
    Failed(String),
    /// It cannot be made now; the same call may succeed later.
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

impl From<StorageErrorOrBlob> for RenditionError {
    fn from(error: StorageErrorOrBlob) -> Self {
        match error {
            StorageErrorOrBlob::Storage(error) => Self::Storage(error),
            StorageErrorOrBlob::Blob(error) => Self::Blob(error),
        }
    }
}

/// A rendition that stands ready to be read.
#[derive(Debug, Clone)]
pub struct ServedRendition {
    image: ImageId,
    original: ContentHash,
    stored: StoredRendition,
    library: Library,
}

impl ServedRendition {
    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.stored.bytes
    }

    /// The address of its bytes: equal bytes, equal address.
    pub fn hash(&self) -> ContentHash {
        self.stored.blob
    }

    /// Opens it, or so many of its bytes. One that was lost from the blob store is made anew from the original.
    ///
    /// # Errors
    /// [`BlobError`]; [`BlobError::Missing`] when it was lost and cannot be made again.
    pub async fn open(&self, range: Option<Range<u64>>) -> Result<BlobReader, BlobError> {
        let blobs = &self.library.parts.blobs.content;
        match blobs.open(BlobKind::Rendition, self.stored.blob, range.clone()).await {
            Err(BlobError::Missing { .. }) => {
                tracing::warn!(image = %self.image, rendition = %self.stored.rendition, "a lost rendition is made anew");
                let (image, rendition) = (self.image.clone(), self.stored.rendition);
                let made = self.library.make_once(image, rendition, self.original, Remake::Always).await;
                if let Err(error) = made {
                    tracing::error!(image = %self.image, %error, "a lost rendition cannot be made anew");
                }
                blobs.open(BlobKind::Rendition, self.stored.blob, range).await
            }
            opened => opened,
        }
    }
}

impl Library {
    /// A rendition of an image that its owner can see; one that does not exist yet is made now, once for all who
    /// ask for it at the same time.
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
        let stored = match source.stored {
            Some(stored) => stored,
            None => self.make_once(id.clone(), rendition, source.original, Remake::IfAbsent).await?,
        };
        Ok(ServedRendition { image: id, original: source.original, stored, library: self.clone() })
    }

    async fn rendition_source(
        &self,
        id: &ImageId,
        rendition: Rendition,
    ) -> Result<RenditionSource, RenditionError> {
        let source = self.parts.store.rendition(id, rendition, self.parts.settings.free_window).await?;
        source.ok_or(RenditionError::NoImage)
    }

    /// Runs in a task of its own: what was begun is finished although the request went away.
    async fn make_once(
        &self,
        id: ImageId,
        rendition: Rendition,
        original: ContentHash,
        remake: Remake,
    ) -> Result<StoredRendition, RenditionError> {
        let library = self.clone();
        let made = tokio::spawn(async move {
            let in_the_making = &library.parts.in_the_making;
            let busy =
                |_| RenditionError::DecoderUnavailable(io::Error::other("too many are asked for at once"));
            let _asked = in_the_making.asked.try_acquire().map_err(busy)?;
            let lock = in_the_making.lock((original, rendition));
            let _guard = lock.lock().await;
            let source = library.rendition_source(&id, rendition).await?;
            match source.stored {
                Some(stored) if remake == Remake::IfAbsent => Ok(stored),
                _ => {
                    let RenditionSource { original, original_bytes, .. } = source;
                    library.make(original, original_bytes, rendition, Urgency::Interactive).await
                }
            }
        });
        made.await.unwrap_or_else(|error| Err(RenditionError::Failed(error.to_string())))
    }

    async fn make(
        &self,
        original: ContentHash,
        original_bytes: u64,
        rendition: Rendition,
        urgency: Urgency,
    ) -> Result<StoredRendition, RenditionError> {
        let in_the_making = &self.parts.in_the_making;
        if let Some(reason) = in_the_making.failure((original, rendition), self.parts.clock.monotonic()) {
            return Err(RenditionError::Failed(reason));
        }
        let task = DecodeTask { renditions: RequestedRenditions::Only(vec![rendition]), read_metadata: None };
        let decoded = match self.decode(original, original_bytes, &task, urgency).await {
            Err(DecodeError::File(fault)) => {
                let reason = fault.to_string();
                let now = self.parts.clock.monotonic();
                in_the_making.note_failure((original, rendition), reason.clone(), now);
                return Err(RenditionError::Failed(reason));
            }
            decoded => decoded?,
        };
        let kept = self.keep_renditions(decoded.rendered.renditions).await?;
        let stored = kept.into_iter().find(|stored| stored.rendition == rendition);
        let stored = stored.ok_or_else(|| RenditionError::Failed("the decoder left it out".into()))?;
        if self.parts.store.add_rendition(&original, stored).await? {
            Ok(stored)
        } else {
            Err(RenditionError::NoImage)
        }
    }

    /// Makes a full rendition before somebody asks for it, unless somebody has done so meanwhile, and writes the
    /// outcome down.
    pub(crate) async fn run_rendition_job(&self, job: RenditionJob, worker: &str) {
        let RenditionJob { original, original_bytes, .. } = job;
        let lock = self.parts.in_the_making.lock((original, Rendition::Full));
        let _guard = lock.lock().await;
        let store = &self.parts.store;
        let made = match store.holds_rendition_job(&original, worker).await {
            Ok(true) => self.make(original, original_bytes, Rendition::Full, Urgency::Background).await,
            Ok(false) => return,
            Err(error) => Err(error.into()),
        };
        let outcome = match made {
            Ok(_) => return,
            Err(error @ RenditionError::Failed(_)) => {
                tracing::info!(%original, %error, "a full rendition was not made");
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
            // The lease is renewed no more and runs out.
            tracing::warn!(%original, %error, "the outcome of a rendition job was not noted");
        }
    }
}
