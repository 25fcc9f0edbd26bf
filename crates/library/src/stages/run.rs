use std::{
    io,
    time::{Duration, Instant},
};

use blobs::BlobError;
use domain::{BlobKind, ContentHash};
use sandbox::{Analysis, AnalysisTask, DecodeError, OCR_VERSION, OcrStatus, Pool, Urgency};
use storage::{NewVector, StageJob, StageOutcome, StorageError};
use tokio::sync::Mutex;
use vision::{EncodeError, Picture};

use super::{Kind, OpenStage};
use crate::{Library, decoding::Stored, encoders::SharedEncoder};

/// How long a job, or its stage, waits after something other than its image failed. It is never given up for that.
const RETRY_MS: i64 = 10_000;
const REST: Duration = Duration::from_millis(RETRY_MS.unsigned_abs());

/// How long it counts by what words are read: languages may be installed meanwhile.
const VERSION_HOLDS: Duration = Duration::from_secs(600);

/// The workers that read words.
pub(crate) struct Reader {
    pool: Pool,
    /// By what they read, and since when that is known.
    version: Mutex<Option<(Instant, String)>>,
}

impl Reader {
    pub(crate) fn new(pool: Pool) -> Self {
        Self { pool, version: Mutex::default() }
    }

    /// Ends the worker if it has nothing to do.
    pub(crate) async fn end_idle(&self) {
        self.pool.stop_idle_workers().await;
    }

    /// By what words are read: with another release or other languages they are read anew.
    pub(super) async fn version(&self) -> io::Result<String> {
        let mut known = self.version.lock().await;
        if let Some((asked, version)) = &*known
            && asked.elapsed() < VERSION_HOLDS
        {
            return Ok(version.clone());
        }
        let version = match self.pool.ocr_status().await? {
            OcrStatus::Ready { version, languages, .. } => {
                format!("tesseract {version} {}, reading {OCR_VERSION}", languages.join("+"))
            }
            OcrStatus::Off => return Err(io::Error::other("the workers were not started to read")),
            OcrStatus::Unavailable { reason, .. } => return Err(io::Error::other(reason)),
        };
        *known = Some((Instant::now(), version.clone()));
        Ok(version)
    }
}

/// Why a stage has no outcome for an image.
#[derive(Debug, thiserror::Error)]
enum StageError {
    /// The image is at fault: final.
    #[error("{0}")]
    Image(String),
    /// Something else is at fault: the job is tried again.
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

impl Library {
    /// Does a stage's work on one image and writes the outcome down.
    pub(crate) async fn run_stage_job(&self, job: StageJob, stage: OpenStage, worker: &str) {
        let store = &self.parts.store;
        let outcome = match self.find_out(&job, &stage).await {
            Ok(outcome) => match store.complete_stage_job(job.id, worker, &stage.version, outcome).await {
                Ok(true) => return,
                // The image has a new picture, or the stage a new version: the job has another owner then, or none.
                Ok(false) => store.retry_stage_job(job.id, worker, self.parts.clock.now()).await,
                Err(error) => Err(error),
            },
            Err(StageError::Image(reason)) => {
                tracing::info!(image = %job.image, reason, "search knows less of an image");
                store.fail_stage_job(job.id, worker, &reason).await
            }
            Err(error) => {
                let not_before = self.parts.clock.now().plus_millis(RETRY_MS);
                let now = self.parts.clock.monotonic();
                // What the images have in common failed: the next one would fail as well.
                let rests = matches!(error, StageError::Worker(_) | StageError::Encoder(_));
                if !rests || self.parts.stages_at_work.rest(&stage, now, now + REST) {
                    tracing::warn!(image = %job.image, %error, "what images hold will be found out later");
                }
                store.retry_stage_job(job.id, worker, not_before).await
            }
        };
        if let Err(error) = outcome {
            // The lease is renewed no more and runs out.
            tracing::warn!(image = %job.image, %error, "the outcome of a stage was not noted");
        }
    }

    async fn find_out(&self, job: &StageJob, stage: &OpenStage) -> Result<StageOutcome, StageError> {
        match &stage.kind {
            Kind::Text => Ok(StageOutcome::Text(self.read_words(job).await?)),
            Kind::Look { encoder, before } => {
                // What comes now is found at once although the new model has not seen everything yet.
                let has_not_seen =
                    |before: &&SharedEncoder| !job.encoders.iter().any(|name| name == before.name());
                self.see(job, encoder.clone(), before.as_ref().filter(has_not_seen).cloned()).await
            }
        }
    }

    /// Words are small: they are read in the original.
    async fn read_words(&self, job: &StageJob) -> Result<Option<String>, StageError> {
        let reader = self.parts.reader.as_ref();
        let reader = reader.ok_or_else(|| StageError::Worker(io::Error::other("there is no reader")))?;
        let original = Stored::original(&self.parts.blobs.content, job.original, job.original_bytes);
        let look = AnalysisTask { max_side_px: None, read_text: true };
        Ok(reader.pool.analyze(&original, &look, Urgency::Background).await?.text)
    }

    async fn see(
        &self,
        job: &StageJob,
        encoder: SharedEncoder,
        before: Option<SharedEncoder>,
    ) -> Result<StageOutcome, StageError> {
        let side =
            [Some(&encoder), before.as_ref()].into_iter().flatten().map(|one| one.longest_side_px()).max();
        let look = AnalysisTask { max_side_px: side, read_text: false };
        let looked = match job.medium {
            Some(medium) => match self.look(BlobKind::Rendition, medium, &look).await {
                // A lost rendition is made anew when somebody asks for it.
                Err(StageError::Image(_)) => None,
                looked => Some(looked?),
            },
            None => None,
        };
        let looked = match looked {
            Some(looked) => looked,
            None => self.look(BlobKind::Original, (job.original, job.original_bytes), &look).await?,
        };
        let picture = looked.picture.and_then(|raw| Picture::new(raw.size.width, raw.size.height, raw.rgb));
        let picture =
            picture.ok_or_else(|| StageError::Worker(io::Error::other("it left out the picture")))?;
        let seen = tokio::task::spawn_blocking(move || {
            let mut vectors = vec![vector(&encoder, &picture).map_err(|error| fault(&encoder, error))?];
            // Without the one before, whatever became of it, the image is found when the new one has seen everything.
            vectors.extend(before.and_then(|before| vector(&before, &picture).ok()));
            Ok::<_, StageError>(vectors)
        });
        let vectors = seen.await.map_err(|error| EncodeError(error.to_string()))??;
        Ok(StageOutcome::Vectors(vectors))
    }

    async fn look(
        &self,
        kind: BlobKind,
        (hash, bytes): (ContentHash, u64),
        look: &AnalysisTask,
    ) -> Result<Analysis, StageError> {
        let stored = Stored::new(&self.parts.blobs.content, kind, hash, bytes);
        Ok(self.parts.decoders.analyze(&stored, look, Urgency::Background).await?)
    }
}

fn vector(encoder: &SharedEncoder, picture: &Picture) -> Result<NewVector, EncodeError> {
    let vector = vectors::encode_f16(&encoder.encode_picture(picture)?);
    Ok(NewVector { encoder: encoder.name().to_owned(), vector })
}

/// Whose fault it is that an encoder has no vector for a picture: the picture's, when it has one for another.
fn fault(encoder: &SharedEncoder, error: EncodeError) -> StageError {
    const SIDE: u32 = 64;
    let shades = (0..SIDE * SIDE * 3).map(|at| u8::try_from(at % 251).unwrap_or(0));
    match Picture::new(SIDE, SIDE, shades.collect()).map(|other| encoder.encode_picture(&other)) {
        Some(Ok(_)) => StageError::Image(error.to_string()),
        _ => StageError::Encoder(error),
    }
}
