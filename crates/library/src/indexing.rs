//! From a queued original to a visible image.

use std::io;

use blobs::BlobError;
use bytes::Bytes;
use domain::{BlobKind, Metadata};
use media::EncodedRendition;
use sandbox::{DecodeError, DecodeTask, FileFault, RefusalKind, RequestedRenditions, Urgency};
use storage::{
    AnnounceOutcome, BlobRef, DecodedPicture, IndexJob, IndexedImage, StorageError, StoredRendition,
};

use crate::{Library, localities};

/// How long a job waits after something other than the file failed. It is never given up for that.
const RETRY_MS: i64 = 5_000;

/// Why a job was not completed.
#[derive(Debug, thiserror::Error)]
enum IndexError {
    /// The file is at fault: final.
    #[error(transparent)]
    File(FileFault),
    /// The original is not what was stored: final.
    #[error("the file's bytes are missing from the blob store")]
    Lost,
    /// Something else is at fault: the job is tried again.
    #[error("no decoder can be run now: {0}")]
    Decoder(io::Error),
    #[error(transparent)]
    Blob(BlobError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl IndexError {
    /// The version of the decoders that failed. A decoder that is missing is older than any: the next start tries again.
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

impl Library {
    /// Indexes one image and writes the outcome down.
    pub(crate) async fn run_job(&self, job: IndexJob, worker: &str) {
        let outcome = match self.index(&job, worker).await {
            Ok(true) => return,
            Ok(false) => {
                // Another worker has the job, or an equal rendition was being removed: this one tries again then.
                tracing::debug!(image = %job.image, "the job was not completed");
                self.parts.store.retry_job(job.id, worker, self.parts.clock.now()).await
            }
            Err(error @ (IndexError::File(_) | IndexError::Lost)) => {
                tracing::info!(image = %job.image, %error, "an image could not be read");
                self.parts.store.fail_job(job.id, worker, &error.to_string(), error.decoder_version()).await
            }
            Err(error) => {
                tracing::warn!(image = %job.image, %error, "an image will be indexed later");
                let not_before = self.parts.clock.now().plus_millis(RETRY_MS);
                self.parts.store.retry_job(job.id, worker, not_before).await
            }
        };
        if let Err(error) = outcome {
            // The lease is renewed no more, runs out, and the job is tried again.
            tracing::warn!(image = %job.image, %error, "the outcome of a job was not noted");
        }
    }

    /// `false`: the job is not this worker's any more.
    async fn index(&self, job: &IndexJob, worker: &str) -> Result<bool, IndexError> {
        // A picture that these decoders made is as good as new: only its metadata are read again.
        let known = job.picture.as_ref().filter(|known| known.decoder_version >= media::DECODER_VERSION);
        let task = DecodeTask { renditions: wanted(job, known), read_metadata: Some(job.file.clone()) };
        let decoded = self.decode(job.original, job.original_bytes, &task, Urgency::Background).await?;
        let metadata = decoded
            .metadata
            .ok_or_else(|| IndexError::Decoder(io::Error::other("it left out the metadata")))?;
        let renditions = self.keep_renditions(decoded.rendered.renditions).await?;
        let picture = match known {
            // These decoders read the metadata. A newer program, whose picture it is, reads them again.
            Some(known) => DecodedPicture {
                decoder_version: known.decoder_version.min(media::DECODER_VERSION),
                ..known.clone()
            },
            None => DecodedPicture {
                size: decoded.rendered.full_size,
                damaged: decoded.rendered.damaged,
                decoder_version: media::DECODER_VERSION,
            },
        };
        let indexed = indexed(picture, metadata, renditions).await;
        Ok(self.parts.store.complete_job(job.id, worker, indexed).await?)
    }

    /// Announces and writes renditions; the operation that refers to them keeps them.
    pub(crate) async fn keep_renditions(
        &self,
        encoded: Vec<EncodedRendition>,
    ) -> Result<Vec<StoredRendition>, StorageErrorOrBlob> {
        if encoded.is_empty() {
            return Ok(Vec::new());
        }
        let stored: Vec<(StoredRendition, Bytes)> = encoded.into_iter().map(addressed).collect();
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
        let mut kept = Vec::with_capacity(stored.len());
        for (rendition, webp) in stored {
            self.parts.blobs.content.put_bytes(BlobKind::Rendition, webp).await?;
            kept.push(rendition);
        }
        Ok(kept)
    }
}

/// Which of the two stores failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StorageErrorOrBlob {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Blob(#[from] BlobError),
}

impl From<StorageErrorOrBlob> for IndexError {
    fn from(error: StorageErrorOrBlob) -> Self {
        match error {
            StorageErrorOrBlob::Storage(error) => Self::Storage(error),
            StorageErrorOrBlob::Blob(error) => Self::Blob(error),
        }
    }
}

/// Medium and thumb make an image visible, and full follows. All are made anew of what older decoders made.
fn wanted(job: &IndexJob, known: Option<&DecodedPicture>) -> RequestedRenditions {
    match (&job.picture, known) {
        (None, _) => RequestedRenditions::Displayable,
        (Some(_), None) => RequestedRenditions::Only(domain::Rendition::ALL.to_vec()),
        (Some(_), Some(_)) => RequestedRenditions::Only(Vec::new()),
    }
}

fn addressed(encoded: EncodedRendition) -> (StoredRendition, Bytes) {
    let rendition = StoredRendition {
        rendition: encoded.rendition,
        blob: blobs::content_hash(&encoded.webp),
        bytes: encoded.webp.len() as u64,
        size: encoded.size,
    };
    (rendition, encoded.webp.into())
}

async fn indexed(
    picture: DecodedPicture,
    metadata: Metadata,
    renditions: Vec<StoredRendition>,
) -> IndexedImage {
    let Metadata { capture, details } = metadata;
    let position = details.position;
    // Off the async threads: the first call unpacks the data.
    let located = tokio::task::spawn_blocking(move || localities::locate(capture, position)).await;
    let (capture, place) = match located {
        Ok(located) => (located.capture, located.place),
        Err(error) => {
            tracing::error!(%error, "a position could not be looked up");
            (capture, None)
        }
    };
    IndexedImage {
        metadata: Metadata { capture, details },
        size: picture.size,
        place,
        text: None,
        damaged: picture.damaged,
        decoder_version: picture.decoder_version,
        renditions,
    }
}
