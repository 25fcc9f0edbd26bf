use async_trait::async_trait;
use domain::{BlobKind, ContentHash, Timestamp};

use crate::StorageError;

/// A blob and its length in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobRef {
    pub kind: BlobKind,
    pub hash: ContentHash,
    pub bytes: u64,
}

/// Whether announced blobs may be written now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnounceOutcome {
    /// Write them.
    Ready,
    /// One of them is being removed: announce them again after a short wait.
    BeingRemoved,
}

/// The registry of blobs that exist or may exist. It lets a sweeper find the blobs that a killed process left behind.
///
/// A blob is *announced* before it is written, and *kept* as soon as an image refers to it; the operations that
/// create the reference do that. A blob without references is *taken*, deleted from the blob store, and *forgotten*.
///
/// An announced blob may still be in use, so it is taken only after an idle time. When
/// [`purge_images`](crate::ImageStore::purge_images) removes the last image that refers to a blob, the blob is
/// *released*: it can be taken at once, without an idle time, unless it was announced again since it was last kept.
#[async_trait]
pub trait BlobRegistry: Send + Sync + 'static {
    /// Announces blobs that are about to be written. This restarts their idle time; a kept blob stays kept.
    async fn announce_blobs(&self, blobs: &[BlobRef], at: Timestamp)
    -> Result<AnnounceOutcome, StorageError>;

    /// Takes up to `max` blobs without references: released ones, and others that were last announced before
    /// `idle_since`. They must not be written until they are forgotten. The caller holds a [role](crate::RoleStore), so
    /// that only one sweeper runs at a time.
    async fn take_unreferenced_blobs(
        &self,
        idle_since: Timestamp,
        at: Timestamp,
        max: u32,
    ) -> Result<Vec<BlobRef>, StorageError>;

    /// Up to `max` blobs that were taken and not forgotten, for example because a sweeper was killed.
    async fn taken_blobs(&self, max: u32) -> Result<Vec<BlobRef>, StorageError>;

    /// Forgets taken blobs after they were deleted.
    async fn forget_blobs(&self, blobs: &[BlobRef]) -> Result<(), StorageError>;

    /// Up to `max` kept blobs of a kind with addresses above `after`, in order of address. For checks of the whole
    /// library.
    async fn kept_blobs(
        &self,
        kind: BlobKind,
        after: Option<ContentHash>,
        max: u32,
    ) -> Result<Vec<BlobRef>, StorageError>;
}
