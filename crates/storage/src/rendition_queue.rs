use async_trait::async_trait;
use domain::{ContentHash, Timestamp};

use crate::{LeaseRequest, StorageError};

/// A full rendition to make from an original, leased to one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenditionJob {
    /// The original, which identifies the job.
    pub original: ContentHash,
    pub original_bytes: u64,
    /// How many times it has been leased, including this time.
    pub attempts: u32,
}

/// The queue of full renditions that are made in the background, before the first request for them.
///
/// An original is queued, once, while it has no full rendition and some account has an undeleted ready image of it,
/// inside the free window or not. The operations that change this also update the queue: an image is indexed,
/// restored, deleted or purged, or its account is deleted. [`add_rendition`](crate::ImageStore::add_rendition)
/// completes a job. A dropped job is queued again when an image of its original is indexed or restored.
#[async_trait]
pub trait RenditionQueue: Send + Sync + 'static {
    /// Leases queued jobs, newest first, because new images are viewed first. Jobs that have been leased too often
    /// without completing are dropped instead.
    async fn lease_rendition_jobs(
        &self,
        request: LeaseRequest<'_>,
    ) -> Result<Vec<RenditionJob>, StorageError>;

    /// Renews the leases of the jobs that a worker is processing.
    /// [`release_leases`](crate::IndexQueue::release_leases) and
    /// [`abandon_leases`](crate::IndexQueue::abandon_leases) end them.
    async fn renew_rendition_leases(
        &self,
        worker: &str,
        originals: &[ContentHash],
        until: Timestamp,
    ) -> Result<(), StorageError>;

    /// Whether the worker still holds the job. It does not when the rendition was made in the meantime.
    async fn holds_rendition_job(&self, original: &ContentHash, worker: &str) -> Result<bool, StorageError>;

    /// Returns a job to the queue for a retry at `not_before` or later. The attempt does not count: the original was
    /// not the cause.
    async fn retry_rendition_job(
        &self,
        original: &ContentHash,
        worker: &str,
        not_before: Timestamp,
    ) -> Result<(), StorageError>;

    /// Removes a job whose rendition cannot be made. A request for the rendition still tries to make it.
    async fn drop_rendition_job(&self, original: &ContentHash, worker: &str) -> Result<(), StorageError>;
}
