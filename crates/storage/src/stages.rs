use async_trait::async_trait;
use domain::{AccountId, ContentHash, ImageId, Timestamp};

use crate::{JobId, LeaseRequest, StorageError};

/// Names a stage within its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StageId(pub i64);

/// A kind of work that is done on every image once it can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Its name within the store.
    pub id: StageId,
    /// Its name.
    pub name: String,
    /// By what the work is done: with another version it is done anew.
    pub version: String,
    /// The number of the program's part in the work.
    pub revision: u32,
    /// The version under which every image was done at last; `None` before there was one.
    pub complete_version: Option<String>,
}

/// What becomes of a stage that the store knows under another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionPolicy {
    /// It changes to this one, and every image is done anew: for the process that serves the library.
    Replace,
    /// It stays: for commands that merely help out.
    Keep,
}

/// Which images a stage still has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackfillFilter<'a> {
    /// All of them.
    All,
    /// Those without a vector of the encoder of that name.
    WithoutVector(&'a str),
}

/// An image that a stage has to do, leased to one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageJob {
    /// The job's name.
    pub id: JobId,
    /// The image.
    pub image: ImageId,
    /// Its original.
    pub original: ContentHash,
    /// The original's length.
    pub original_bytes: u64,
    /// The blob of its medium rendition and that one's length.
    pub medium: Option<(ContentHash, u64)>,
    /// The names of the encoders that have seen it.
    pub encoders: Vec<String>,
}

/// What a stage found out about an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StageOutcome {
    /// The words read in it, which take the place of those that were known.
    Text(Option<String>),
    /// What it looks like, by one or more encoders.
    Vectors(Vec<NewVector>),
}

/// What an image looks like to an encoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVector {
    /// The encoder's name.
    pub encoder: String,
    /// Its numbers as the caller codes them.
    pub vector: Vec<u8>,
}

/// How far a stage has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageProgress {
    /// The stage.
    pub stage: Stage,
    /// Images that wait for it, or are being done.
    pub waiting: u64,
    /// Images that could not be done.
    pub failed: u64,
}

/// Work that is done on images once they can be seen.
///
/// Every image that becomes visible, or whose picture is decoded anew, waits for every stage that the store knows. A
/// stage that is new or has a new version has all other images to do as well: [`queue_undone`](Self::queue_undone) takes
/// them into the queue batch by batch, so that this can be interrupted, too.
#[async_trait]
pub trait StageQueue: Send + Sync + 'static {
    /// The stage of that name, made when there is none.
    ///
    /// `version` names what does the work: the operator's choice of a model or of languages, which may change to anything
    /// and back. `revision` numbers the program's part in it and only goes up: a stage with a higher revision belongs to
    /// a newer program and stays as it is. Two revisions never have the same version.
    async fn open_stage(
        &self,
        name: &str,
        version: &str,
        revision: u32,
        other_version: VersionPolicy,
    ) -> Result<Stage, StorageError>;

    /// The stage of that name, if there is one.
    async fn stage(&self, name: &str) -> Result<Option<Stage>, StorageError>;

    /// Has [`queue_undone`](Self::queue_undone) look at all images once more.
    async fn restart_backfill(&self, stage: StageId) -> Result<(), StorageError>;

    /// Looks at up to `max` further images, newest first, and queues those among them that are undone. `false` when
    /// there were none left to look at.
    async fn backfill_stage(
        &self,
        stage: StageId,
        undone: BackfillFilter<'_>,
        max: u32,
    ) -> Result<bool, StorageError>;

    /// Leases waiting jobs of a stage, of the newest images first. What was leased so often without an end is failed.
    async fn lease_stage_jobs(
        &self,
        stage: StageId,
        request: LeaseRequest<'_>,
    ) -> Result<Vec<StageJob>, StorageError>;

    /// Prolongs the leases of the jobs that a worker is at.
    /// [`release_leases`](crate::IndexQueue::release_leases) and
    /// [`release_all_leases`](crate::IndexQueue::release_all_leases) give them back.
    async fn renew_stage_leases(
        &self,
        worker: &str,
        jobs: &[JobId],
        until: Timestamp,
    ) -> Result<(), StorageError>;

    /// Ends a job and puts down what was found out. `false`, and nothing changes, when the worker does not hold it any
    /// more, or the stage has another version by now.
    async fn complete_stage_job(
        &self,
        job: JobId,
        worker: &str,
        version: &str,
        outcome: StageOutcome,
    ) -> Result<bool, StorageError>;

    /// Gives a job back to be tried again from `not_before` on. It counts as if it had not been leased.
    async fn retry_stage_job(
        &self,
        job: JobId,
        worker: &str,
        not_before: Timestamp,
    ) -> Result<(), StorageError>;

    /// Ends a job without an outcome. What an earlier version found out stays.
    async fn fail_stage_job(&self, job: JobId, worker: &str, reason: &str) -> Result<(), StorageError>;

    /// Notes that every image is done under this version, if that is so; returns whether it is.
    async fn mark_stage_complete(&self, stage: StageId, version: &str) -> Result<bool, StorageError>;

    /// How far each stage has come; of one account, or of all. It counts what waits.
    async fn stage_progress(&self, account: Option<AccountId>) -> Result<Vec<StageProgress>, StorageError>;

    /// Those of these images for which some of the stages is still to be done.
    async fn images_with_pending_stages(
        &self,
        images: &[ImageId],
        stages: &[StageId],
    ) -> Result<Vec<ImageId>, StorageError>;

    /// Forgets up to `max` vectors of encoders that are not among these; returns how many went.
    async fn prune_vectors(&self, names: &[&str], max: u32) -> Result<u32, StorageError>;
}
