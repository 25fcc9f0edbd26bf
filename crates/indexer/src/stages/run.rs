use std::{io, time::Duration};

use blobs::BlobError;
use domain::{BlobKind, ContentHash};
use sandbox::{Analysis, AnalysisTask, DecodeError, Urgency};
use storage::{NewVector, RenditionBlob, StageJob, StageOutcome, StorageError};
use threads::run_low_priority;
use vision::{EncodeError, Picture};

use super::{OpenStage, StageWork};
use crate::{Indexer, decoding::BlobSource, encoders::SharedEncoder, job_span::mark_failed};

/// How long a job or its stage waits after something other than the image failed. Such a job is always retried.
const RETRY_MS: i64 = 10_000;
const PAUSE: Duration = Duration::from_millis(RETRY_MS.unsigned_abs());

/// Why a stage failed for an image.
#[derive(Debug, thiserror::Error)]
enum StageError {
    /// The image cannot be processed. Final.
    #[error("{0}")]
    Image(String),
    /// No worker is available. The job is retried, as after the errors below.
    #[error("no worker can be run now: {0}")]
    Worker(io::Error),
    #[error(transparent)]
    Encoder(#[from] EncodeError),
    #[error(transparent)]
    Blob(BlobError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<DecodeError<BlobError>> for StageError {
    fn from(error: DecodeError<BlobError>) -> Self {
        match error {
            DecodeError::File(fault) => Self::Image(fault.to_string()),
            DecodeError::Source(BlobError::Missing { .. }) | DecodeError::SourceLength { .. } => {
                Self::Image("its bytes are missing from the blob store".to_owned())
            }
            DecodeError::Source(error) => Self::Blob(error),
            DecodeError::Unavailable(error) => Self::Worker(error),
        }
    }
}

impl Indexer {
    /// Runs a stage for one image and records the outcome.
    pub(crate) async fn run_stage_job(&self, job: StageJob, stage: OpenStage, worker: &str) {
        let store = &self.parts.store;
        let result = self.run_stage(&job, &stage).await;
        if result.is_err() {
            mark_failed();
        }
        let outcome = match result {
            Ok(outcome) => match store.complete_stage_job(job.id, worker, &stage.version, outcome).await {
                Ok(true) => return,
                // The image has a new picture or the stage a new version, so this job is obsolete or has another owner.
                Ok(false) => store.retry_stage_job(job.id, worker, self.parts.clock.now()).await,
                Err(error) => Err(error),
            },
            Err(StageError::Image(reason)) => {
                tracing::info!(image = %job.image, reason, "a search stage failed for an image");
                store.fail_stage_job(job.id, worker, &reason).await
            }
            Err(error) => {
                let not_before = self.parts.clock.now().plus_millis(RETRY_MS);
                let now = self.parts.clock.monotonic();
                // The worker or the encoder failed, so the next image would fail as well.
                let affects_all = matches!(error, StageError::Worker(_) | StageError::Encoder(_));
                if !affects_all || self.parts.running_stages.pause(&stage, now, now + PAUSE) {
                    tracing::warn!(image = %job.image, %error, "a search stage failed; it will be retried");
                }
                store.retry_stage_job(job.id, worker, not_before).await
            }
        };
        if let Err(error) = outcome {
            // The lease is not renewed and expires.
            tracing::warn!(image = %job.image, %error, "the outcome of a stage job was not recorded");
        }
    }

    async fn run_stage(&self, job: &StageJob, stage: &OpenStage) -> Result<StageOutcome, StageError> {
        match &stage.work {
            StageWork::Text => Ok(StageOutcome::Text(self.read_text(job).await?)),
            StageWork::Embedding { encoder, previous } => {
                // With the previous model's vector, searches find the image before the new model has processed all images.
                let has_no_vector =
                    |previous: &&SharedEncoder| !job.encoders.iter().any(|name| name == previous.name());
                let previous = previous.as_ref().filter(has_no_vector).cloned();
                self.encode_image(job, encoder.clone(), previous, stage.urgency()).await
            }
        }
    }

    /// Reads the text in the original: it may be too small in a rendition.
    async fn read_text(&self, job: &StageJob) -> Result<Option<String>, StageError> {
        let reader = self.parts.text_reader.as_ref();
        let reader = reader.ok_or_else(|| StageError::Worker(io::Error::other("OCR is off")))?;
        let original = BlobSource::original(&self.parts.blobs.content, job.original, job.original_bytes);
        let task = AnalysisTask { max_side_px: None, read_text: true };
        Ok(reader.pool.analyze(&original, &task, Urgency::Deferrable).await?.text)
    }

    async fn encode_image(
        &self,
        job: &StageJob,
        encoder: SharedEncoder,
        previous: Option<SharedEncoder>,
        urgency: Urgency,
    ) -> Result<StageOutcome, StageError> {
        let encoders = [Some(&encoder), previous.as_ref()];
        let max_side_px = encoders.into_iter().flatten().map(|encoder| encoder.longest_side_px()).max();
        let task = AnalysisTask { max_side_px, read_text: false };
        // The smallest rendition that is large enough, because it is decoded first.
        let side_px = max_side_px.unwrap_or_default();
        let is_large = |blob: &&RenditionBlob| blob.rendition.longest_side_px() >= side_px;
        let rendition = job.renditions.iter().find(is_large).or(job.renditions.last());
        let analysis = match rendition {
            Some(blob) => {
                match self.analyze(BlobKind::Rendition, (blob.blob, blob.bytes), &task, urgency).await {
                    // The rendition is lost. The next request for it makes it again.
                    Err(StageError::Image(_)) => None,
                    analysis => Some(analysis?),
                }
            }
            None => None,
        };
        let analysis = match analysis {
            Some(analysis) => analysis,
            None => {
                let original = (job.original, job.original_bytes);
                self.analyze(BlobKind::Original, original, &task, urgency).await?
            }
        };
        let picture = analysis.picture.and_then(|raw| Picture::new(raw.size.width, raw.size.height, raw.rgb));
        let picture =
            picture.ok_or_else(|| StageError::Worker(io::Error::other("it returned no picture")))?;
        let encode_all = move || {
            let mut vectors = vec![encode(&encoder, &picture).map_err(|error| stage_error(&encoder, error))?];
            // If the previous model fails, searches find the image once the new model has processed all images.
            vectors.extend(previous.and_then(|previous| encode(&previous, &picture).ok()));
            Ok::<_, StageError>(vectors)
        };
        let vectors =
            run_low_priority(encode_all).await.map_err(|error| EncodeError(error.to_string()))??;
        Ok(StageOutcome::Vectors(vectors))
    }

    async fn analyze(
        &self,
        kind: BlobKind,
        (hash, bytes): (ContentHash, u64),
        task: &AnalysisTask,
        urgency: Urgency,
    ) -> Result<Analysis, StageError> {
        let blob = BlobSource::new(&self.parts.blobs.content, kind, hash, bytes);
        Ok(self.parts.decoders.analyze(&blob, task, urgency).await?)
    }
}

fn encode(encoder: &SharedEncoder, picture: &Picture) -> Result<NewVector, EncodeError> {
    let vector = vectors::encode_f16(&encoder.encode_picture(picture)?);
    Ok(NewVector { encoder: encoder.name().to_owned(), vector })
}

/// Attributes an encoder's error to the picture if the encoder can process another one, otherwise to the encoder.
fn stage_error(encoder: &SharedEncoder, error: EncodeError) -> StageError {
    const SIDE: u32 = 64;
    let gradient = (0..SIDE * SIDE * 3).map(|at| u8::try_from(at % 251).unwrap_or(0));
    match Picture::new(SIDE, SIDE, gradient.collect()).map(|other| encoder.encode_picture(&other)) {
        Some(Ok(_)) => StageError::Image(error.to_string()),
        _ => StageError::Encoder(error),
    }
}
