use std::sync::Arc;

use async_trait::async_trait;
use domain::{AccountId, Filter, Image, Position, Timestamp};

use crate::{ImageKey, StorageError, Viewer};

/// The id of an encoder in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EncoderId(pub i64);

/// The id of a vector in its store. A vector that is added or changed gets a higher id than all before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VectorId(pub i64);

/// The embedding of an image, with the data that searches filter by.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredVector {
    pub id: VectorId,
    pub image: ImageKey,
    pub captured_at: Timestamp,
    pub position: Option<Position>,
    /// The components, as stored by [`StageOutcome::Vectors`](crate::StageOutcome::Vectors).
    pub vector: Vec<u8>,
}

/// A vector whose image is visible to the viewer.
#[derive(Debug, Clone, PartialEq)]
pub struct VisibleVector {
    pub image: ImageKey,
    pub captured_at: Timestamp,
    pub vector: Vec<u8>,
}

/// Receives each visited vector. It runs on a blocking thread, so it may do long computations.
pub type VisitVector = Arc<dyn Fn(StoredVector) + Send + Sync>;

/// Embeddings of images, for callers that cache them.
///
/// A cache misses nothing, because the vectors of an account and encoder are only appended. Before a cached vector is
/// used, [`visible_vectors`](Self::visible_vectors) checks that it still exists and its image is visible.
#[async_trait]
pub trait VectorStore: Send + Sync + 'static {
    /// The encoder of that name; `None` while it has no vectors.
    async fn encoder(&self, name: &str) -> Result<Option<EncoderId>, StorageError>;

    async fn newest_vector(
        &self,
        account: AccountId,
        encoder: EncoderId,
    ) -> Result<Option<VectorId>, StorageError>;

    /// Visits the vectors after `after`, up to and including `last`, in order of id. Vectors of deleted images that can
    /// be restored are included. If the store retries the operation, it begins again with the first vector.
    async fn visit_vectors(
        &self,
        account: AccountId,
        encoder: EncoderId,
        after: Option<VectorId>,
        last: VectorId,
        visit: VisitVector,
    ) -> Result<(), StorageError>;

    /// The `n`th vector after `after` in order of id, counted from 1; `None` if there are fewer.
    async fn nth_vector_after(
        &self,
        account: AccountId,
        encoder: EncoderId,
        after: Option<VectorId>,
        n: u32,
    ) -> Result<Option<VectorId>, StorageError>;

    /// The vectors among these, of one encoder, that still exist and whose images are visible to the viewer and pass
    /// the filter; in any order.
    async fn visible_vectors(
        &self,
        viewer: Viewer,
        encoder: EncoderId,
        vectors: &[VectorId],
        filter: &Filter,
    ) -> Result<Vec<VisibleVector>, StorageError>;

    /// The capture time of the oldest image that is visible to the viewer; `None` when all its images are visible.
    async fn visible_since(&self, viewer: Viewer) -> Result<Option<Timestamp>, StorageError>;

    /// The visible images of the album or the camera of a filter, in its range and in any order; `None` if the filter has
    /// neither, or if there are more than `max` images of the camera.
    async fn candidate_image_keys(
        &self,
        viewer: Viewer,
        filter: &Filter,
        max: u32,
    ) -> Result<Option<Vec<ImageKey>>, StorageError>;

    /// The images among these that are visible to the viewer, in the order of the keys.
    async fn images_by_key(
        &self,
        viewer: Viewer,
        keys: &[ImageKey],
    ) -> Result<Vec<(ImageKey, Image)>, StorageError>;
}
