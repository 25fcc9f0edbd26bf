//! Indexes images: decodes a queued original, and stores its metadata and renditions.

use std::io;

use blobs::BlobError;
use bytes::Bytes;
use domain::{BlobKind, Metadata};
use media::EncodedRendition;
use roles::StoreFailure;
use sandbox::{DecodeError, DecodeTask, FileFault, RefusalKind, RequestedRenditions, Urgency};
use storage::{
    AnnounceOutcome, BlobRef, DecodedPicture, IndexJob, IndexedImage, StorageError, StoredRendition,
};

use crate::{Indexer, job_span::mark_failed, localities};

/// How long a job waits after something other than the file failed. Such a job is always retried.
const RETRY_MS: i64 = 5_000;

/// Why a job was not completed.
#[derive(Debug, thiserror::Error)]
enum IndexError {
    /// The file cannot be indexed. Final.
    #[error(transparent)]
    File(FileFault),
    /// The original is missing or was changed. Final.
    #[error("the file's bytes are missing from the blob store")]
    Lost,
    /// No decoder is available. The job is retried, as after the errors below.
    #[error("no decoder is available: {0}")]
    Decoder(io::Error),
    #[error(transparent)]
    Blob(BlobError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl IndexError {
    /// The version of the decoders that failed; 0 for a missing decoder, so that the next start retries.
    fn decoder_version(&self) -> u32 {
        match self {
            Self::File(FileFault::Refused { kind: RefusalKind::NoDecoder, .. }) => 0,
            _ => media::DECODER_VERSION,
        }
    }
}

impl From<BlobError> for IndexError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Missing { .. } => Self::Lost,
            other => Self::Blob(other),
        }
    }
}

impl From<DecodeError<BlobError>> for IndexError {
    fn from(error: DecodeError<BlobError>) -> Self {
        match error {
            DecodeError::File(fault) => Self::File(fault),
            DecodeError::Source(error) => error.into(),
            DecodeError::SourceLength { .. } => Self::Lost,
            DecodeError::Unavailable(error) => Self::Decoder(error),
        }
    }
}

impl Indexer {
    /// Indexes one image and records the outcome.
    pub(crate) async fn run_job(&self, job: IndexJob, worker: &str) {
        let outcome = match self.index(&job, worker).await {
            Ok(true) => return,
            Ok(false) => {
                // Another worker has leased the job, or an equal rendition was being removed and the job is retried.
                tracing::debug!(image = %job.image, "the job was not completed");
                self.parts.store.retry_job(job.id, worker, self.parts.clock.now()).await
            }
            Err(error @ (IndexError::File(_) | IndexError::Lost)) => {
                tracing::info!(image = %job.image, %error, "an image could not be read");
                mark_failed();
                self.parts.store.fail_job(job.id, worker, &error.to_string(), error.decoder_version()).await
            }
            Err(error) => {
                tracing::warn!(image = %job.image, %error, "an image will be indexed later");
                mark_failed();
                let not_before = self.parts.clock.now().plus_millis(RETRY_MS);
                self.parts.store.retry_job(job.id, worker, not_before).await
            }
        };
        if let Err(error) = outcome {
            // The lease is not renewed, expires, and the job is retried.
            tracing::warn!(image = %job.image, %error, "the outcome of a job was not recorded");
        }
    }

    /// `false` if this worker no longer holds the job.
    async fn index(&self, job: &IndexJob, worker: &str) -> Result<bool, IndexError> {
        // If the picture would be the same, only the metadata is read again, unless a sidecar may turn it.
        let is_turned = media::sidecar_orientation(&job.file.sidecars).is_some();
        let is_current =
            |picture: &&DecodedPicture| picture.decoder_version >= media::PICTURE_VERSION && !is_turned;
        let mut current = job.picture.as_ref().filter(is_current);
        let urgency = if is_outdated(job) { Urgency::Deferrable } else { Urgency::Background };
        let decode = async |current| {
            let renditions = requested_renditions(job, current);
            let task = DecodeTask { renditions, read_metadata: Some(job.file.clone()) };
            self.decode(job.original, job.original_bytes, &task, urgency).await
        };
        let mut decoded = decode(current).await?;
        // The size differs, because a sidecar that rotated the picture no longer exists. The picture is made again.
        if current.is_some_and(|current| current.size != decoded.rendered.full_size) {
            current = None;
            decoded = decode(current).await?;
        }
        let metadata = decoded
            .metadata
            .ok_or_else(|| IndexError::Decoder(io::Error::other("it returned no metadata")))?;
        let thumbhash = decoded.rendered.thumbhash;
        let renditions = self.store_renditions(decoded.rendered.renditions).await?;
        // These decoders read the metadata. If a newer program made the picture, it must read the metadata again.
        let decoder_version = media::DECODER_VERSION;
        let picture = match current {
            Some(current) => DecodedPicture { decoder_version, ..current.clone() },
            None => DecodedPicture {
                size: decoded.rendered.full_size,
                damaged: decoded.rendered.damaged,
                decoder_version,
            },
        };
        let indexed = IndexedImage { thumbhash, renditions, ..indexed_image(picture, metadata).await };
        Ok(self.parts.store.complete_job(job.id, worker, indexed).await?)
    }

    /// Announces and writes renditions. They are removed later unless an operation refers to them.
    pub(crate) async fn store_renditions(
        &self,
        encoded: Vec<EncodedRendition>,
    ) -> Result<Vec<StoredRendition>, StoreFailure> {
        if encoded.is_empty() {
            return Ok(Vec::new());
        }
        let stored: Vec<(StoredRendition, Bytes)> = encoded.into_iter().map(hash_rendition).collect();
        let blobs: Vec<BlobRef> = stored
            .iter()
            .map(|(rendition, _)| BlobRef {
                kind: BlobKind::Rendition,
                hash: rendition.blob,
                bytes: rendition.bytes,
            })
            .collect();
        if self.parts.store.announce_blobs(&blobs, self.parts.clock.now()).await?
            == AnnounceOutcome::BeingRemoved
        {
            return Err(StorageError::Unavailable("an equal rendition is just being removed".into()).into());
        }
        let mut written = Vec::with_capacity(stored.len());
        for (rendition, webp) in stored {
            self.parts.blobs.content.put_bytes(BlobKind::Rendition, webp).await?;
            written.push(rendition);
        }
        Ok(written)
    }
}

impl From<StoreFailure> for IndexError {
    fn from(error: StoreFailure) -> Self {
        match error {
            StoreFailure::Storage(error) => Self::Storage(error),
            StoreFailure::Blob(error) => Self::Blob(error),
        }
    }
}

/// Whether an image is visible, and is decoded again because older decoders made its picture.
pub(crate) fn is_outdated(job: &IndexJob) -> bool {
    job.picture.as_ref().is_some_and(|picture| picture.decoder_version < media::DECODER_VERSION)
}

/// A new image needs medium, thumb and preview to become visible; full follows later. If older decoders made the picture, all
/// renditions are made again.
fn requested_renditions(job: &IndexJob, current: Option<&DecodedPicture>) -> RequestedRenditions {
    match (&job.picture, current) {
        (None, _) => RequestedRenditions::Displayable,
        (Some(_), None) => RequestedRenditions::Only(domain::Rendition::ALL.to_vec()),
        (Some(_), Some(_)) => RequestedRenditions::Only(Vec::new()),
    }
}

fn hash_rendition(encoded: EncodedRendition) -> (StoredRendition, Bytes) {
    let rendition = StoredRendition {
        rendition: encoded.rendition,
        blob: blobs::content_hash(&encoded.webp),
        bytes: encoded.webp.len() as u64,
        size: encoded.size,
    };
    (rendition, encoded.webp.into())
}

async fn indexed_image(picture: DecodedPicture, metadata: Metadata) -> IndexedImage {
    let Metadata { capture, details, settings, marks } = metadata;
    let position = details.position;
    // On a blocking thread, because the first call unpacks the data.
    let located = tokio::task::spawn_blocking(move || localities::locate(capture, position)).await;
    let (capture, place) = match located {
        Ok(located) => (located.capture, located.place),
        Err(error) => {
            tracing::error!(%error, "a position could not be looked up");
            (capture, None)
        }
    };
    IndexedImage {
        metadata: Metadata { capture, details, settings, marks },
        size: picture.size,
        place,
        text: None,
        damaged: picture.damaged,
        decoder_version: picture.decoder_version,
        thumbhash: None,
        renditions: Vec::new(),
    }
}
