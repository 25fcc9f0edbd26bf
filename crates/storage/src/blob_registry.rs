use async_trait::async_trait;
use domain::{BlobKind, ContentHash, Timestamp};

use crate::StorageError;

/// A blob and its length in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobRef {
    /// What it is.
    pub kind: BlobKind,
    /// Its address.
    pub hash: ContentHash,
    /// Its length.
    pub bytes: u64,
}

/// Whether announced blobs may be written now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnounceOutcome {
    /// Write them.
    Ready,
    /// One of them is just being removed: announce again in a moment.
    BeingRemoved,
}

/// The register of blobs: which exist or may exist, so that a process killed at any moment leaves none behind
/// for good.
///
/// A blob is announced before it is written, and kept once an image refers to it (the operations that make the
/// reference see to that). What was announced and never kept, or is referred to no more, is taken, deleted from
/// the blob store, and forgotten.
///
/// Somebody may be at work on what was announced, so it is taken only after it was idle for a while. What was
/// *released*, because [`purge_images`](crate::ImageStore::purge_images) removed the last image that referred to
/// it, nobody waits for: it can be taken at once, whatever `idle_since` is, unless it was announced again since it
/// was last kept.
#[async_trait]
pub trait BlobRegistry: Send + Sync + 'static {
    /// Notes that these blobs are about to be written, which puts their being taken off. A kept blob stays kept.
    async fn announce_blobs(&self, blobs: &[BlobRef], at: Timestamp)
    -> Result<AnnounceOutcome, StorageError>;

    /// Takes up to `max` blobs that nothing refers to: released ones at once, others when they were last announced
    /// before `idle_since`. Until they are forgotten nobody may write them. Only one sweeper may be at work at a
    /// time; seeing to that is the caller's part.
    async fn take_unreferenced_blobs(
        &self,
        idle_since: Timestamp,
        at: Timestamp,
        max: u32,
    ) -> Result<Vec<BlobRef>, StorageError>;

    /// Up to `max` blobs that were taken and not forgotten: what a sweeper that was killed left to its successor.
    async fn taken_blobs(&self, max: u32) -> Result<Vec<BlobRef>, StorageError>;

    /// Forgets blobs that were taken and are deleted now.
    async fn forget_blobs(&self, blobs: &[BlobRef]) -> Result<(), StorageError>;

    /// Up to `max` kept blobs of a kind in order of address, after `after`: for checks of the whole library.
    async fn kept_blobs(
        &self,
        kind: BlobKind,
        after: Option<ContentHash>,
        max: u32,
    ) -> Result<Vec<BlobRef>, StorageError>;
}
