use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use blobs::{BlobError, BlobReader};
use domain::{BlobKind, ContentHash, ImageId, Rendition};
use storage::{RenditionSource, StorageError, StoredRendition};

use crate::{Library, decoding::DecodeError, indexing::StorageErrorOrBlob};

/// Renditions that are being made now, by original, so that requests for the same one make it once.
#[derive(Default)]
pub(crate) struct InTheMaking {
    locks: Mutex<HashMap<Wanted, Weak<Turn>>>,
}

type Wanted = (ContentHash, Rendition);
/// Held by whoever makes the rendition.
type Turn = tokio::sync::Mutex<()>;

impl InTheMaking {
    fn lock(&self, key: Wanted) -> Arc<Turn> {
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
    NotMade(String),
    /// The metadata store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The blob store failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
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
        let blobs = &self.library.parts.blobs;
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
            let lock = library.parts.in_the_making.lock((original, rendition));
            let _guard = lock.lock().await;
            let source = library.rendition_source(&id, rendition).await?;
            match source.stored {
                Some(stored) if remake == Remake::IfAbsent => Ok(stored),
                _ => library.make(&source, rendition).await,
            }
        });
        made.await.unwrap_or_else(|error| Err(RenditionError::NotMade(error.to_string())))
    }

    async fn make(
        &self,
        source: &RenditionSource,
        rendition: Rendition,
    ) -> Result<StoredRendition, RenditionError> {
        let not_made = |error: DecodeError| RenditionError::NotMade(error.to_string());
        let _memory = self.parts.decoder.admit(source.original_bytes).await.map_err(not_made)?;
        let file =
            self.parts.blobs.open(BlobKind::Original, source.original, None).await?.into_bytes().await?;
        let rendered = self.parts.decoder.render(file, |_| vec![rendition], |_| ()).await;
        let (rendered, ()) = rendered.map_err(not_made)?;
        let kept = self.keep_renditions(&rendered.renditions).await?;
        let stored = kept.into_iter().find(|stored| stored.rendition == rendition);
        let stored = stored.ok_or_else(|| RenditionError::NotMade("the decoder left it out".into()))?;
        if self.parts.store.add_rendition(&source.original, stored).await? {
            Ok(stored)
        } else {
            Err(RenditionError::NoImage)
        }
    }
}
