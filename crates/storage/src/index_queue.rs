use async_trait::async_trait;
use domain::{AccountId, ContentHash, Email, FileInfo, ImageId, Metadata, PixelSize, Sidecar, Timestamp};

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
    /// The sidecars that came with the file, stored whole; the caller limits their length. The last of each kind
    /// counts. A kind that is missing here keeps the content that the store has.
    pub sidecars: Vec<Sidecar>,
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
pub struct ExistingImage {
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
    /// The account has these bytes already and nothing changed.
    Duplicate(ExistingImage),
    /// The account has these bytes already, and a sidecar that came with them says something new: the image is
    /// indexed with it. One that is ready stays so, and is seen as it was until then.
    Reindexed(ExistingImage),
    /// The account had deleted these bytes and has them back; indexed already, or waiting for it. A sidecar that
    /// says something new counts as for [`Reindexed`](Self::Reindexed).
    Restored(ExistingImage),
    /// It had failed and waits to be indexed again.
    Retried(ImageId),
    /// The original was removed meanwhile: announce and write it again.
    OriginalGone,
    /// The account was deleted.
    AccountGone,
}

/// Names a job of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobId(pub i64);

/// What is known of the picture of an image that is indexed again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedPicture {
    /// The size of the upright full rendition.
    pub size: PixelSize,
    /// What is wrong with the file, when it could be read only in part.
    pub damaged: Option<String>,
    /// The version of the decoders that were at it last.
    pub decoder_version: u32,
}

/// An image to index, leased to one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexJob {
    /// Its name.
    pub id: JobId,
    /// The image.
    pub image: ImageId,
    /// Its original.
    pub original: ContentHash,
    /// The original's length.
    pub original_bytes: u64,
    /// What is known about its file; the sidecars are in the order of their kinds.
    pub file: FileInfo,
    /// Its picture, when it is ready and indexed again: a worker whose decoders are no newer can give these back
    /// with [`IndexedImage`], without renditions, and need not decode anything.
    pub picture: Option<DecodedPicture>,
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
    /// Jobs that were leased so often without an end are given up instead of leased.
    pub max_attempts: u32,
}

/// The result of indexing an image.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedImage {
    /// What its file and sidecars say about it. If another image of the account has the same capture time, the store
    /// moves this image to the first free millisecond after it. The image keeps that time when it is indexed again
    /// with the same capture time.
    pub metadata: Metadata,
    /// The size of the upright full rendition.
    pub size: PixelSize,
    /// The nearest city and country.
    pub place: Option<String>,
    /// The words read in it by OCR. `None` keeps the text that the store has, which a stage writes (see
    /// [`StageQueue`](crate::StageQueue)).
    pub text: Option<String>,
    /// Why the file could be read only in part, if so.
    pub damaged: Option<String>,
    /// The version of the decoders.
    pub decoder_version: u32,
    /// Its renditions, announced and written; at least medium and thumb. When it is indexed again, renditions that are
    /// missing here stay.
    pub renditions: Vec<StoredRendition>,
}

/// An image that could not be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedImage {
    /// Whose it is.
    pub email: Email,
    /// What its file was called, if it was told.
    pub file_name: Option<String>,
    /// Why, in words for its owner.
    pub reason: String,
}

/// How much there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueLength {
    /// Images that wait to be seen, or are being indexed for it.
    pub pending: u64,
    /// Images that failed.
    pub failed: u64,
    /// Images that are seen and wait to be indexed again, or are just being so.
    pub reindexes: u64,
    /// Full renditions that wait to be made in the background, or are just being made.
    pub renditions: u64,
}

/// Images on their way into the library, and ready ones that are indexed again.
///
/// An image is indexed again because of a sidecar or of newer decoders. It is ready all the while: it is seen as it
/// was until [`complete_job`](Self::complete_job) puts what was found out anew in its place, and stays as it was
/// when that fails.
#[async_trait]
pub trait IndexQueue: Send + Sync + 'static {
    /// The image of the account that has these bytes.
    async fn image_by_original(
        &self,
        account: AccountId,
        original: &ContentHash,
    ) -> Result<Option<ExistingImage>, StorageError>;

    /// Adds an image and queues it, keeps its original and its sidecars. One that the account has is restored if it
    /// was deleted, tried again if it failed, and indexed again if a sidecar differs from what the store has: the
    /// worker that may be at it loses its lease then, for it knows the older one.
    async fn add_image(&self, image: NewImage) -> Result<AddOutcome, StorageError>;

    /// Leases waiting jobs: first those of images that are not seen yet, then those of images that got a sidecar,
    /// then those that [`requeue_outdated`](Self::requeue_outdated) queued; of each the oldest first. What is given
    /// up is failed as [`fail_job`](Self::fail_job) does it, under this version of the decoders.
    async fn lease_jobs(
        &self,
        request: LeaseRequest<'_>,
        decoder_version: u32,
    ) -> Result<Vec<IndexJob>, StorageError>;

    /// Prolongs the leases of the jobs that a worker is at. One that it holds but is not at any more, because the
    /// outcome could not be written down, is left to run out.
    async fn renew_leases(&self, worker: &str, jobs: &[JobId], until: Timestamp) -> Result<(), StorageError>;

    /// Gives all jobs of a worker back, those of the [`RenditionQueue`](crate::RenditionQueue) and of the
    /// [`StageQueue`](crate::StageQueue) as well, as if they had not been leased.
    async fn release_leases(&self, worker: &str) -> Result<(), StorageError>;

    /// Gives all jobs back, those of the [`RenditionQueue`](crate::RenditionQueue) and of the
    /// [`StageQueue`](crate::StageQueue) as well, whoever holds them: for a process that knows itself alone, after others
    /// were killed.
    async fn release_all_leases(&self) -> Result<(), StorageError>;

    /// Makes an indexed image visible and keeps its renditions; queues its full one to be made unless it is there.
    /// Of an image that is ready it replaces all that [`IndexedImage`] says. `false`, and nothing changes, when the
    /// worker does not hold the job any more or a rendition's blob is being removed.
    async fn complete_job(
        &self,
        job: JobId,
        worker: &str,
        indexed: IndexedImage,
    ) -> Result<bool, StorageError>;

    /// Gives a job back to be tried again from `not_before` on. It counts as if it had not been leased: something
    /// other than the image was at fault.
    async fn retry_job(&self, job: JobId, worker: &str, not_before: Timestamp) -> Result<(), StorageError>;

    /// Ends a job without an image, with a reason for its owner. An image that is ready stays as it is, and decoders
    /// of this version are not set to it again.
    async fn fail_job(
        &self,
        job: JobId,
        worker: &str,
        reason: &str,
        decoder_version: u32,
    ) -> Result<(), StorageError>;

    /// Queues again what failed under decoders older than this; returns how many.
    async fn requeue_failed(&self, decoder_version: u32, at: Timestamp) -> Result<u32, StorageError>;

    /// Queues up to `max` ready images to be indexed again that were read by decoders older than this; returns how
    /// many. Ones that are queued already, deleted ones and those of deleted accounts are left out. It passes over
    /// all that are queued, so that the next batch is best asked for when this one is done.
    async fn requeue_outdated(
        &self,
        decoder_version: u32,
        at: Timestamp,
        max: u32,
    ) -> Result<u32, StorageError>;

    /// How far images have come; unknown ids are left out. One that is ready and indexed again is ready.
    async fn image_states(&self, ids: &[ImageId]) -> Result<Vec<(ImageId, ImageState)>, StorageError>;

    /// Up to `max` images that failed, the newest first, without images of deleted accounts.
    async fn failed_images(&self, max: u32) -> Result<Vec<FailedImage>, StorageError>;

    /// How much there is to do.
    async fn queue_length(&self) -> Result<QueueLength, StorageError>;
}
