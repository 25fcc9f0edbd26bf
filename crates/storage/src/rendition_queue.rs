use async_trait::async_trait;
use domain::{ContentHash, Timestamp};

use crate::{LeaseRequest, StorageError};

/// An original whose full rendition is to be made, leased to one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenditionJob {
    /// The original; it names the job.
    pub original: ContentHash,
    /// The original's length.
    pub original_bytes: u64,
    /// How often it was leased, this time included.
    pub attempts: u32,
}

/// Full renditions that are made in the background, before somebody asks for them.
///
/// An original waits here as long as somebody can see an image of it, however old, and it has no full rendition.
/// However many images and accounts have it, it waits once. The operations that make that true or end it see to
/// that: an image becomes visible, comes back, is deleted or purged, its account is deleted, and
/// [`add_rendition`](crate::ImageStore::add_rendition), which is how a job ends well. A job that was dropped comes
/// back when an image of its original becomes visible or is indexed again.
#[async_trait]
pub trait RenditionQueue: Send + Sync + 'static {
    /// Leases waiting jobs: the ones that came last first, because they are looked at first. One that was leased
    /// so often without an end is dropped instead.
    async fn lease_rendition_jobs(
        &self,
        request: LeaseRequest<'_>,
    ) -> Result<Vec<RenditionJob>, StorageError>;

    /// Prolongs the leases of the jobs that a worker is at.
    /// [`release_leases`](crate::IndexQueue::release_leases) and
    /// [`release_all_leases`](crate::IndexQueue::release_all_leases) give them back.
    async fn renew_rendition_leases(
        &self,
        worker: &str,
        originals: &[ContentHash],
        until: Timestamp,
    ) -> Result<(), StorageError>;

    /// Whether the job is still there and the worker's: not when somebody has made the rendition meanwhile.
    async fn holds_rendition_job(&self, original: &ContentHash, worker: &str) -> Result<bool, StorageError>;

    /// Gives a job back to be tried again from `not_before` on. It counts as if it had not been leased: something
    /// other than the original was at fault.
    async fn retry_rendition_job(
        &self,
        original: &ContentHash,
        worker: &str,
        not_before: Timestamp,
    ) -> Result<(), StorageError>;

    /// Ends a job whose rendition cannot be made. Whoever asks for the rendition has it tried all the same.
    async fn drop_rendition_job(&self, original: &ContentHash, worker: &str) -> Result<(), StorageError>;
}
