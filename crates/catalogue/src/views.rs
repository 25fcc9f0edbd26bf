//! Pictures of photos for programs that look at them.

use std::{mem::size_of, sync::Arc};

use bytes::Bytes;
use domain::{ContentHash, ImageId, Rendition};
use indexer::{RenditionError, ViewOptions};
use quick_cache::{Weighter, sync::Cache};
use tokio::sync::Semaphore;

use crate::{Catalogue, ServedRendition};

/// The most bytes of the JPEGs of one call.
pub const MAX_VIEW_BYTES: usize = 430_000;

/// Upper bound on the length of all cached JPEGs together.
const CAPACITY_BYTES: u64 = 32 * 1024 * 1024;
/// The expected number of cached calls.
const EXPECTED_CALLS: usize = 128;
/// How many calls read renditions into memory at once. Further calls wait.
const MAX_READING: usize = 4;

/// How large photos are viewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViewSize {
    /// No side is longer than 512 pixels, or 1092 on a sheet.
    Small,
    /// No side is longer than 1200 pixels, or 1568 on a sheet.
    Medium,
}

/// JPEGs that were made lately, by the renditions that they show.
///
/// A rendition never changes under its hash, so the cache needs no invalidation. Before each look-up, the metadata store
/// decides whether the images may be seen.
pub(crate) struct ViewCache {
    cache: Cache<ViewKey, Arc<[Bytes]>, Length>,
    reading: Semaphore,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ViewKey {
    renditions: Vec<ContentHash>,
    options: ViewOptions,
}

/// Weighs JPEGs by their memory.
#[derive(Debug, Clone)]
struct Length;

impl Weighter<ViewKey, Arc<[Bytes]>> for Length {
    fn weight(&self, key: &ViewKey, views: &Arc<[Bytes]>) -> u64 {
        let views = views.iter().map(|view| view.len() + size_of::<Bytes>()).sum::<usize>();
        (views + key.renditions.len() * size_of::<ContentHash>() + size_of::<ViewKey>()) as u64
    }
}

impl Default for ViewCache {
    fn default() -> Self {
        Self {
            cache: Cache::with_weighter(EXPECTED_CALLS, CAPACITY_BYTES, Length),
            reading: Semaphore::new(MAX_READING),
        }
    }
}

/// Why photos cannot be viewed.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct ViewError {
    /// The image at fault, if it is known.
    pub image: Option<ImageId>,
    #[source]
    pub cause: RenditionError,
}

impl ViewError {
    fn of<E: Into<RenditionError>>(image: &ImageId) -> impl Fn(E) -> Self {
        |cause| Self { image: Some(image.clone()), cause: cause.into() }
    }
}

impl ViewCache {
    /// The length of all cached JPEGs.
    pub(crate) fn bytes(&self) -> u64 {
        self.cache.weight()
    }
}

impl ViewSize {
    /// The renditions that are viewed.
    fn rendition(self) -> Rendition {
        match self {
            Self::Small => Rendition::Thumb,
            Self::Medium => Rendition::Medium,
        }
    }
}

impl Catalogue {
    /// JPEGs of these images: one of each in that order, or with `sheet` a single contact sheet, on which each picture has its
    /// number, from 1. Together they have at most [`MAX_VIEW_BYTES`]; many or detailed pictures are smaller. Concurrent
    /// requests for the same views make them once. The caller must be allowed to see the images.
    ///
    /// # Errors
    /// [`ViewError`]; its cause is [`RenditionError::NoImage`] if an image was deleted meanwhile.
    pub async fn views(
        &self,
        images: &[ImageId],
        size: ViewSize,
        sheet: bool,
    ) -> Result<Arc<[Bytes]>, ViewError> {
        let rendition = size.rendition();
        let mut renditions = Vec::with_capacity(images.len());
        for image in images {
            renditions.push(self.rendition(image.as_str(), rendition).await.map_err(ViewError::of(image))?);
        }
        let options = ViewOptions { rendition, sheet, max_bytes: MAX_VIEW_BYTES };
        let key = ViewKey { renditions: renditions.iter().map(ServedRendition::hash).collect(), options };
        let views = &self.parts.views;
        views.cache.get_or_insert_async(&key, self.make_views(&renditions, options)).await
    }

    async fn make_views(
        &self,
        renditions: &[ServedRendition],
        options: ViewOptions,
    ) -> Result<Arc<[Bytes]>, ViewError> {
        // Never closed.
        let _reading = self.parts.views.reading.acquire().await;
        let mut files = Vec::with_capacity(renditions.len());
        for rendition in renditions {
            files.push(rendition.whole().await.map_err(ViewError::of(rendition.image()))?);
        }
        let views = self.parts.indexer.view(&files, options).await;
        views.map(Arc::from).map_err(|cause| ViewError { image: None, cause })
    }
}
