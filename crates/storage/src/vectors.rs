use async_trait::async_trait;
use domain::{AccountId, AlbumId, Image, Position, Timestamp};

use crate::{ImageKey, SearchFilter, StorageError, Viewer};

/// Names an encoder within its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EncoderId(pub i64);

/// Names a vector within its store; one that comes later, or changes, has a higher one than all that were before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VectorId(pub i64);

/// What an image looks like to an encoder, with what a search may be narrowed by.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredVector {
    /// The vector's name.
    pub id: VectorId,
    /// The image.
    pub image: ImageKey,
    /// When it was taken.
    pub captured_at: Timestamp,
    /// Where it was taken.
    pub position: Option<Position>,
    /// The numbers as [`StageOutcome::Vectors`](crate::StageOutcome::Vectors) brought them.
    pub vector: Vec<u8>,
}

/// A vector whose image the viewer sees.
#[derive(Debug, Clone, PartialEq)]
pub struct VisibleVector {
    /// The image.
    pub image: ImageKey,
    /// When it was taken.
    pub captured_at: Timestamp,
    /// The numbers.
    pub vector: Vec<u8>,
}

/// What images look like, so that a cache of it can be kept that misses nothing: the vectors of an account by an encoder
/// only grow at the end, and whatever is remembered of them is looked at again by [`visible_vectors`](Self::visible_vectors)
/// before it counts.
#[async_trait]
pub trait VectorStore: Send + Sync + 'static {
    /// The encoder of that name; `None` as long as there is no vector of it.
    async fn encoder(&self, name: &str) -> Result<Option<EncoderId>, StorageError>;

    /// The last vector of an account by an encoder.
    async fn newest_vector(
        &self,
        account: AccountId,
        encoder: EncoderId,
    ) -> Result<Option<VectorId>, StorageError>;

    /// The first `max` vectors after that one, in their order, also of images that are deleted for the time being.
    async fn vectors_after(
        &self,
        account: AccountId,
        encoder: EncoderId,
        after: Option<VectorId>,
        max: u32,
    ) -> Result<Vec<StoredVector>, StorageError>;

    /// Those of these vectors, of one encoder, that are still there and whose images the viewer sees and the filter lets pass, in any
    /// order.
    async fn visible_vectors(
        &self,
        viewer: Viewer,
        encoder: EncoderId,
        vectors: &[VectorId],
        filter: SearchFilter<'_>,
    ) -> Result<Vec<VisibleVector>, StorageError>;

    /// The capture time from which on the viewer sees its images; `None` when it sees all there are.
    async fn visible_since(&self, viewer: Viewer) -> Result<Option<Timestamp>, StorageError>;

    /// The images of an album of the viewer that it sees, in any order.
    async fn album_image_keys(&self, viewer: Viewer, album: &AlbumId) -> Result<Vec<ImageKey>, StorageError>;

    /// Those of these images that the viewer sees, in the order of the keys.
    async fn images_by_key(
        &self,
        viewer: Viewer,
        keys: &[ImageKey],
    ) -> Result<Vec<(ImageKey, Image)>, StorageError>;
}
