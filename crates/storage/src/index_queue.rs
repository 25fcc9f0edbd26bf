use async_trait::async_trait;
use domain::{AccountId, CaptureTime, ContentHash, ImageId, PixelSize, Position, Timestamp};

use crate::{StorageError, StoredRendition};

/// An image whose original stands in the blob store, about to come into the library.
#[derive(Debug, Clone)]
pub struct NewImage {
    /// Its new public id.
    pub id: ImageId,
    /// Whose it is.
    pub account: AccountId,
    /// Its original, announced and written.
    pub original: ContentHash,
    /// The original's length.
    pub original_bytes: u64,
    /// The original's media type, told by its content.
    pub media_type: &'static str,
    /// The name of the file.
    pub file_name: Option<String>,
    /// When the file was last modified, as its bringer says.
    pub modified_at: Option<Timestamp>,
    /// Now.
    pub added_at: Timestamp,
    /// The version of the decoders at hand: an image that failed under an older one is tried again.
    pub decoder_version: u32,
}

/// How far an image has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageState {
    /// It waits to be indexed.
    Pending,
    /// It can be seen.
    Ready,
    /// It could not be read.
    Failed {
        /// Why, in words for its owner.
        reason: String,
        /// The version of the decoders that failed.
        decoder_version: u32,
    },
}

/// An image that an account already has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownImage {
    /// Its id.
    pub id: ImageId,
    /// How far it has come.
    pub state: ImageState,
    /// Whether its owner deleted it.
    pub deleted: bool,
}

/// What became of an image that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddOutcome {
    /// It is new and waits to be indexed.
    Added,
    /// The account has these bytes already and nothing changed. One that failed under the same or a newer
    /// decoder is reported so as well.
    Duplicate(KnownImage),
    /// The account had deleted these bytes and has them back; indexed already, or waiting for it.
    Restored(KnownImage),
    /// It had failed under an older decoder and waits to be indexed again.
    Retried(ImageId),
    /// The original was removed meanwhile: announce and write it again.
    OriginalGone,
    /// The account was deleted.
    AccountGone,
}

/// Names a job of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobId(pub i64);

/// An image to index, leased to one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its name.
    pub id: JobId,
    /// The image.
    pub image: ImageId,
    /// Its original.
    pub original: ContentHash,
    /// The original's length.
    pub original_bytes: u64,
    /// The name of the file.
    pub file_name: Option<String>,
    /// When the file was last modified.
    pub modified_at: Option<Timestamp>,
    /// When it came.
    pub added_at: Timestamp,
    /// How often it was leased, this time included.
    pub attempts: u32,
}

/// A worker's request for jobs.
#[derive(Debug, Clone, Copy)]
pub struct LeaseRequest<'a> {
    /// The worker's own name, unlike any other's.
    pub worker: &'a str,
    /// Now: jobs whose lease ended before are free again.
    pub at: Timestamp,
    /// When the lease ends unless it is renewed.
    pub until: Timestamp,
    /// The most jobs.
    pub max: u32,
    /// Jobs that were leased so often without an end are failed instead of leased.
    pub max_attempts: u32,
    /// The version of the decoders at hand, noted with what is failed so.
    pub decoder_version: u32,
}

/// What indexing found out about an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Indexed {
    /// When it was taken. If another image of the account has that very moment, this one moves later by whole
    /// milliseconds to the first free one, for good.
    pub capture: CaptureTime,
    /// The size of the upright full rendition.
    pub size: PixelSize,
    /// Where it was taken.
    pub position: Option<Position>,
    /// The nearest city and country.
    pub place: Option<String>,
    /// What its metadata say about it.
    pub description: Option<String>,
    /// The words read in it.
    pub text: Option<String>,
    /// Who made the camera.
    pub camera_make: Option<String>,
    /// The camera's model.
    pub camera_model: Option<String>,
    /// What is wrong with the file, when it could be read only in part.
    pub damaged: Option<String>,
    /// The version of the decoders.
    pub decoder_version: u32,
    /// Its renditions, announced and written; at least medium and thumb.
    pub renditions: Vec<StoredRendition>,
}

/// How many images are on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueLength {
    /// Waiting or being indexed.
    pub pending: u64,
    /// Failed.
    pub failed: u64,
}

/// Images on their way into the library.
#[async_trait]
pub trait IndexQueue: Send + Sync + 'static {
    /// The image of the account that has these bytes.
    async fn known_image(
        &self,
        account: AccountId,
        original: &ContentHash,
    ) -> Result<Option<KnownImage>, StorageError>;

    /// Adds an image and queues it, keeps its original, and restores or retries one that the account has.
    async fn add_image(&self, image: NewImage) -> Result<AddOutcome, StorageError>;

    /// Leases waiting jobs, oldest first.
    async fn lease_jobs(&self, request: LeaseRequest<'_>) -> Result<Vec<Job>, StorageError>;

    /// Prolongs the leases of the jobs that a worker is at. One that it holds but is not at any more, because the
    /// outcome could not be written down, is left to run out.
    async fn renew_leases(&self, worker: &str, jobs: &[JobId], until: Timestamp) -> Result<(), StorageError>;

    /// Gives all jobs of a worker back, as if they had not been leased.
    async fn release_leases(&self, worker: &str) -> Result<(), StorageError>;

    /// Gives all jobs back, whoever holds them: for a process that knows itself alone, after others were killed.
    async fn release_all_leases(&self) -> Result<(), StorageError>;

    /// Makes an indexed image visible and keeps its renditions. `false`, and nothing changes, when the worker
    /// does not hold the job any more or a rendition's blob is being removed.
    async fn complete_job(&self, job: JobId, worker: &str, indexed: Indexed) -> Result<bool, StorageError>;

    /// Gives a job back to be tried again from `not_before` on. It counts as if it had not been leased: something
    /// other than the image was at fault.
    async fn retry_job(&self, job: JobId, worker: &str, not_before: Timestamp) -> Result<(), StorageError>;

    /// Ends a job without an image, with a reason for its owner.
    async fn fail_job(
        &self,
        job: JobId,
        worker: &str,
        reason: &str,
        decoder_version: u32,
    ) -> Result<(), StorageError>;

    /// Queues again what failed under decoders older than this; returns how many.
    async fn requeue_failed(&self, decoder_version: u32, at: Timestamp) -> Result<u32, StorageError>;

    /// How far images have come; unknown ids are left out.
    async fn image_states(&self, ids: &[ImageId]) -> Result<Vec<(ImageId, ImageState)>, StorageError>;

    /// How many images are on their way.
    async fn queue_length(&self) -> Result<QueueLength, StorageError>;
}
