use async_trait::async_trait;
use domain::{
    AccountId, ContentHash, Email, FileInfo, ImageId, Metadata, PixelSize, Sidecar, Thumbhash, Timestamp,
};

use crate::{StorageError, StoredRendition};

/// An image to add to the library. Its original is in the blob store.
#[derive(Debug, Clone)]
pub struct NewImage {
    pub id: ImageId,
    pub account: AccountId,
    /// The original, announced and written.
    pub original: ContentHash,
    pub original_bytes: u64,
    /// The media type of the original, detected from its content.
    pub media_type: &'static str,
    pub file_name: Option<String>,
    /// When the file was last modified, according to the client that sent it.
    pub modified_at: Option<Timestamp>,
    pub added_at: Timestamp,
    /// The sidecars that came with the file, stored whole; the caller limits their length. The last of each kind
    /// counts. A kind that is missing here keeps the content that the store has.
    pub sidecars: Vec<Sidecar>,
    /// Sidecars that are stored only if the image has none of their kind, from [`sidecars`](Self::sidecars) or from before.
    pub sidecars_if_missing: Vec<Sidecar>,
    /// What happens to an image with these bytes that its owner deleted.
    pub restore_deleted: RestoreDeleted,
    /// Whether a new image is deleted from the start, at `added_at`, so that its owner can restore it.
    pub is_deleted: bool,
    /// Maximum number of bytes that the account may store; `None` for no limit. It applies to new originals only.
    pub quota_bytes: Option<u64>,
}

/// What adding the bytes of a deleted image does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RestoreDeleted {
    #[default]
    Always,
    /// It is restored if it was deleted because its last file was deleted.
    IfDeletedWithFiles,
    /// It stays deleted.
    Never,
}

impl RestoreDeleted {
    /// Whether a deleted image is restored.
    pub fn applies(self, deleted_with_files: bool) -> bool {
        match self {
            Self::Always => true,
            Self::IfDeletedWithFiles => deleted_with_files,
            Self::Never => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageState {
    /// It is queued for indexing.
    Pending,
    /// It is indexed and visible.
    Ready,
    /// It could not be decoded.
    Failed {
        /// The reason, shown to its owner.
        reason: String,
        /// The version of the decoders that failed.
        decoder_version: u32,
    },
}

/// An image that an account already has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExistingImage {
    pub id: ImageId,
    pub state: ImageState,
    /// Whether its owner deleted it.
    pub deleted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddOutcome {
    /// It is new and queued for indexing.
    Added,
    /// The account already has an image with these bytes, and nothing changed.
    Duplicate(ExistingImage),
    /// The account already has an image with these bytes, and a sidecar is new or differs: the image is queued to be
    /// indexed again. A ready image stays visible unchanged until then.
    Reindexed(ExistingImage),
    /// The account had deleted the image with these bytes. It is restored; it is indexed already or queued. A sidecar
    /// that is new or differs has the same effect as for [`Reindexed`](Self::Reindexed).
    Restored(ExistingImage),
    /// It had failed and is queued for indexing again.
    Retried(ImageId),
    /// Its owner deleted the image with these bytes, and `restore_deleted` does not apply. Nothing changed.
    StaysDeleted(ExistingImage),
    QuotaExceeded,
    /// The original was removed in the meantime: announce and write it again.
    OriginalGone,
    AccountGone,
}

/// The id of a job in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobId(pub i64);

/// The decoded picture of a ready image that is indexed again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedPicture {
    /// The size of the upright full rendition.
    pub size: PixelSize,
    /// Why the file could be read only in part, if so.
    pub damaged: Option<String>,
    /// The version of the decoders that decoded it last.
    pub decoder_version: u32,
}

/// An image to index, leased to one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexJob {
    pub id: JobId,
    pub image: ImageId,
    pub original: ContentHash,
    pub original_bytes: u64,
    /// What is known about its file; the sidecars are in the order of their kinds.
    pub file: FileInfo,
    /// The decoded picture of a ready image that is indexed again, if the image has all renditions of
    /// [`Rendition::displayable`](domain::Rendition::displayable). A worker whose decoders are not newer can return it
    /// in [`IndexedImage`], without renditions, and skip decoding.
    pub picture: Option<DecodedPicture>,
    /// How many times it has been leased, including this time.
    pub attempts: u32,
}

/// A request of a worker for jobs.
#[derive(Debug, Clone, Copy)]
pub struct LeaseRequest<'a> {
    /// The unique name of the worker.
    pub worker: &'a str,
    /// The current time; leases that expire before it no longer count.
    pub at: Timestamp,
    /// When the lease expires unless it is renewed.
    pub until: Timestamp,
    pub max: u32,
    /// Jobs that have been leased this often without completing are given up instead of leased.
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
    pub decoder_version: u32,
    /// A preview of a few bytes. `None` keeps the one that the store has.
    pub thumbhash: Option<Thumbhash>,
    /// Its renditions, announced and written; at least those of
    /// [`Rendition::displayable`](domain::Rendition::displayable). When it is indexed again, renditions that are
    /// missing here stay.
    pub renditions: Vec<StoredRendition>,
}

/// An image that could not be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedImage {
    pub email: Email,
    /// The name of its file, if known.
    pub file_name: Option<String>,
    /// The reason, shown to its owner.
    pub reason: String,
}

/// The number of images in the queue and of failed ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueLength {
    /// Images that are not visible yet: queued or being indexed.
    pub pending: u64,
    /// When the image of the first pending job was added. Images that failed before and are tried again do not count.
    pub oldest_pending: Option<Timestamp>,
    /// Images that could not be decoded.
    pub failed: u64,
    /// Ready images that are queued to be indexed again, or being indexed again.
    pub reindexes: u64,
    /// Full renditions that are queued to be made in the background, or being made.
    pub renditions: u64,
}

/// The queue of images to index: new ones, and ready ones that are indexed again.
///
/// An image is indexed again because of a new sidecar or newer decoders. Meanwhile it stays ready and visible
/// unchanged, until [`complete_job`](Self::complete_job) replaces its data. When indexing fails it stays unchanged.
#[async_trait]
pub trait IndexQueue: Send + Sync + 'static {
    async fn image_by_original(
        &self,
        account: AccountId,
        original: &ContentHash,
    ) -> Result<Option<ExistingImage>, StorageError>;

    /// Which of at most 1000 originals an account has as images that are neither deleted nor failed.
    async fn known_originals(
        &self,
        account: AccountId,
        originals: &[ContentHash],
    ) -> Result<Vec<ContentHash>, StorageError>;

    /// Adds an image, queues it, keeps its original and stores its sidecars.
    ///
    /// An image that the account already has is restored if it was deleted, retried if it failed, and indexed again
    /// if a sidecar differs from the stored one. In the last case a worker that is indexing it loses its lease,
    /// because it works with the old sidecar.
    async fn add_image(&self, image: NewImage) -> Result<AddOutcome, StorageError>;

    /// Stores sidecars of an image of the account, as [`add_image`](Self::add_image) does; `false` when there is no such
    /// image or its owner deleted it.
    async fn add_sidecars(
        &self,
        account: AccountId,
        image: &ImageId,
        sidecars: Vec<Sidecar>,
        at: Timestamp,
    ) -> Result<bool, StorageError>;

    /// Leases queued jobs: first those of images that are not visible yet, then those of images with a new sidecar,
    /// then those queued by [`requeue_outdated`](Self::requeue_outdated); in each group the oldest first. Jobs that are
    /// given up fail as with [`fail_job`](Self::fail_job), under this version of the decoders. Jobs that
    /// `requeue_outdated` queued for newer decoders than this are left to a newer program.
    async fn lease_jobs(
        &self,
        request: LeaseRequest<'_>,
        decoder_version: u32,
    ) -> Result<Vec<IndexJob>, StorageError>;

    /// Renews the leases of the jobs that a worker is processing. The caller leaves out jobs whose outcome could not
    /// be stored, so that their leases expire.
    async fn renew_leases(&self, worker: &str, jobs: &[JobId], until: Timestamp) -> Result<(), StorageError>;

    /// Returns all jobs of a worker to the queue, including those of the [`RenditionQueue`](crate::RenditionQueue)
    /// and the [`StageQueue`](crate::StageQueue). The attempts do not count.
    async fn release_leases(&self, worker: &str) -> Result<(), StorageError>;

    /// Returns all jobs of a worker that was killed to the queue, as [`release_leases`](Self::release_leases) does. The
    /// attempts count, because one of the jobs may have killed it.
    async fn abandon_leases(&self, worker: &str) -> Result<(), StorageError>;

    /// Makes an indexed image visible, keeps its renditions, and queues its full rendition unless that exists. For a
    /// ready image it replaces everything in [`IndexedImage`]. Returns `false` and changes nothing when the worker
    /// has lost the lease or the blob of a rendition is being removed.
    async fn complete_job(
        &self,
        job: JobId,
        worker: &str,
        indexed: IndexedImage,
    ) -> Result<bool, StorageError>;

    /// Returns a job to the queue for a retry at `not_before` or later. The attempt does not count: the image was not
    /// the cause.
    async fn retry_job(&self, job: JobId, worker: &str, not_before: Timestamp) -> Result<(), StorageError>;

    /// Fails a job with a reason for the image's owner. A ready image stays unchanged and is not queued again for
    /// this version of the decoders.
    async fn fail_job(
        &self,
        job: JobId,
        worker: &str,
        reason: &str,
        decoder_version: u32,
    ) -> Result<(), StorageError>;

    /// Queues images that failed under decoders older than this; returns their number.
    async fn requeue_failed(&self, decoder_version: u32, at: Timestamp) -> Result<u32, StorageError>;

    /// Queues up to `max` ready images that were decoded by decoders older than this; returns their number. Images
    /// that are queued or deleted, and images of deleted accounts, are left out. A call scans past all queued images,
    /// so request the next batch when this one is done.
    async fn requeue_outdated(
        &self,
        decoder_version: u32,
        at: Timestamp,
        max: u32,
    ) -> Result<u32, StorageError>;

    /// The states of images; unknown ids are left out. A ready image that is indexed again counts as ready.
    async fn image_states(&self, ids: &[ImageId]) -> Result<Vec<(ImageId, ImageState)>, StorageError>;

    /// Which of these images are queued to be indexed for the first time or again. Unknown and deleted images are left
    /// out.
    async fn queued_images(&self, ids: &[ImageId]) -> Result<Vec<ImageId>, StorageError>;

    /// Up to `max` failed images, newest first, without those of deleted accounts.
    async fn failed_images(&self, max: u32) -> Result<Vec<FailedImage>, StorageError>;

    /// The number of images in the queue and of failed ones.
    async fn queue_length(&self) -> Result<QueueLength, StorageError>;
}
