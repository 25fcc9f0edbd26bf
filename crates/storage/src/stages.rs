use async_trait::async_trait;
use domain::{AccountId, ContentHash, ImageId, Rendition, Timestamp};

use crate::{JobId, LeaseRequest, StorageError};

/// The id of a stage in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StageId(pub i64);

/// A kind of background work that is done once for every visible image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    pub id: StageId,
    pub name: String,
    /// What does the work, such as a model. When it changes, all images are processed again.
    pub version: String,
    /// The revision of the program code that does the work.
    pub revision: u32,
    /// The latest version with which all images were processed; `None` if there is none yet.
    pub complete_version: Option<String>,
}

/// What [`open_stage`](StageQueue::open_stage) does with a stage that has another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionPolicy {
    /// Changes it to this version, so that all images are processed again: for the process that serves the library.
    Replace,
    /// Keeps its version: for commands that only process queued jobs.
    Keep,
}

/// Which images a backfill queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackfillFilter<'a> {
    /// All images.
    All,
    /// Images without a vector of the named encoder.
    WithoutVector(&'a str),
}

/// An image that a stage must process, leased to one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageJob {
    pub id: JobId,
    pub image: ImageId,
    pub original: ContentHash,
    pub original_bytes: u64,
    /// The blobs of its renditions medium and thumb that exist, the smaller first.
    pub renditions: Vec<RenditionBlob>,
    /// The names of the encoders that it has vectors of.
    pub encoders: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenditionBlob {
    pub rendition: Rendition,
    pub blob: ContentHash,
    pub bytes: u64,
}

/// The result of a stage for an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StageOutcome {
    /// The words read in it by OCR. They replace the stored ones.
    Text(Option<String>),
    /// Its vectors, of one or more encoders.
    Vectors(Vec<NewVector>),
}

/// The embedding of an image by an encoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVector {
    pub encoder: String,
    /// The components in the caller's encoding.
    pub vector: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageProgress {
    pub stage: Stage,
    /// Images that are queued or being processed.
    pub waiting: u64,
    /// Images that could not be processed.
    pub failed: u64,
}

/// Queues for background work on visible images, one per stage.
///
/// An image is queued for every stage of the store when it becomes visible or its picture is decoded again. A stage
/// that is new or has a new version must also process all other images: [`backfill_stage`](Self::backfill_stage)
/// queues them in batches, so that a backfill can be interrupted.
#[async_trait]
pub trait StageQueue: Send + Sync + 'static {
    /// The stage of that name, created if it does not exist.
    ///
    /// `version` names what does the work, such as the operator's choice of a model or of languages. It may change in
    /// any way. `revision` numbers the program code that does the work and only increases: a stage with a higher
    /// revision belongs to a newer program and stays unchanged. Two revisions never have the same version.
    async fn open_stage(
        &self,
        name: &str,
        version: &str,
        revision: u32,
        other_version: VersionPolicy,
    ) -> Result<Stage, StorageError>;

    /// The stage of that name, if it exists.
    async fn stage(&self, name: &str) -> Result<Option<Stage>, StorageError>;

    /// Makes [`backfill_stage`](Self::backfill_stage) check all images again.
    async fn restart_backfill(&self, stage: StageId) -> Result<(), StorageError>;

    /// Checks the next `max` images at most, newest first, and queues those that match the filter. `false` when no
    /// images are left to check.
    async fn backfill_stage(
        &self,
        stage: StageId,
        undone: BackfillFilter<'_>,
        max: u32,
    ) -> Result<bool, StorageError>;

    /// Leases queued jobs of a stage, newest images first. Jobs that have been leased too often without
    /// completing fail.
    async fn lease_stage_jobs(
        &self,
        stage: StageId,
        request: LeaseRequest<'_>,
    ) -> Result<Vec<StageJob>, StorageError>;

    /// Renews the leases of the jobs that a worker is processing.
    /// [`release_leases`](crate::IndexQueue::release_leases) and
    /// [`abandon_leases`](crate::IndexQueue::abandon_leases) end them.
    async fn renew_stage_leases(
        &self,
        worker: &str,
        jobs: &[JobId],
        until: Timestamp,
    ) -> Result<(), StorageError>;

    /// Completes a job and stores its result. Returns `false` and changes nothing when the worker has lost the lease
    /// or the stage now has another version.
    async fn complete_stage_job(
        &self,
        job: JobId,
        worker: &str,
        version: &str,
        outcome: StageOutcome,
    ) -> Result<bool, StorageError>;

    /// Returns a job to the queue for a retry at `not_before` or later. The attempt does not count.
    async fn retry_stage_job(
        &self,
        job: JobId,
        worker: &str,
        not_before: Timestamp,
    ) -> Result<(), StorageError>;

    /// Fails a job. The result of an earlier version stays.
    async fn fail_stage_job(&self, job: JobId, worker: &str, reason: &str) -> Result<(), StorageError>;

    /// Records that all images were processed with this version, if that is the case; returns whether it is.
    async fn mark_stage_complete(&self, stage: StageId, version: &str) -> Result<bool, StorageError>;

    /// The progress of each stage, for one account or for all. It counts queued jobs.
    async fn stage_progress(&self, account: Option<AccountId>) -> Result<Vec<StageProgress>, StorageError>;

    /// The images among these that one of the stages has yet to process.
    async fn images_with_pending_stages(
        &self,
        images: &[ImageId],
        stages: &[StageId],
    ) -> Result<Vec<ImageId>, StorageError>;

    /// Deletes up to `max` vectors of encoders other than these; returns their number.
    async fn prune_vectors(&self, names: &[&str], max: u32) -> Result<u32, StorageError>;
}
