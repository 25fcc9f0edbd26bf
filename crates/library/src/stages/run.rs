use std::io;

use blobs::BlobError;
use domain::{BlobKind, ContentHash};
use sandbox::{DecodeError, Look, Looked, Pool, TextReading, Urgency};
use storage::{NewVector, StageJob, StageOutcome, StorageError};
use tokio::sync::OnceCell;
use vision::{EncodeError, Picture};

use super::{Kind, OpenStage};
use crate::{Library, decoding::Stored, encoders::SharedEncoder};

/// How long a job waits after something other than its image failed. It is never given up for that.
const RETRY_MS: i64 = 10_000;

/// The workers that read words.
pub(crate) struct Reader {
    pool: Pool,
    version: OnceCell<String>,
}

impl Reader {
    pub(crate) fn new(pool: Pool) -> Self {
        Self { pool, version: OnceCell::new() }
    }

    /// By what words are read: with another release or other languages they are read anew.
    pub(super) async fn version(&self) -> io::Result<String> {
        let asked = self.version.get_or_try_init(|| async {
            match self.pool.text_reading().await? {
                TextReading::Ready { version, languages, .. } => {
                    Ok(format!("tesseract {version} {}", languages.join("+")))
                }
                TextReading::Off => Err(io::Error::other("the workers were not started to read")),
                TextReading::Unavailable { reason, .. } => Err(io::Error::other(reason)),
            }
        });
        asked.await.cloned()
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
                tracing::warn!(image = %job.image, %error, "what an image holds will be found out later");
                let not_before = self.parts.clock.now().plus_millis(RETRY_MS);
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
                let mut encoders = vec![encoder.clone()];
                // What comes now is found at once although the new model has not seen everything yet.
                encoders.extend(
                    before.iter().filter(|before| !job.encoders.contains(&before.name().to_owned())).cloned(),
                );
                self.see(job, encoders).await
            }
        }
    }

    /// Words are small: they are read in the original.
    async fn read_words(&self, job: &StageJob) -> Result<Option<String>, StageError> {
        let reader = self.parts.reader.as_ref();
        let reader = reader.ok_or_else(|| StageError::Worker(io::Error::other("there is no reader")))?;
        let original = Stored::original(&self.parts.blobs, job.original, job.original_bytes);
        let look = Look { max_side_px: None, read_text: true };
        Ok(reader.pool.look(&original, &look, Urgency::Background).await?.text)
    }

    async fn see(&self, job: &StageJob, encoders: Vec<SharedEncoder>) -> Result<StageOutcome, StageError> {
        let side = encoders.iter().map(|encoder| encoder.longest_side_px()).max();
        let look = Look { max_side_px: side, read_text: false };
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
            let vector = |encoder: &SharedEncoder| {
                let vector = vectors::encode_f16(&encoder.picture(&picture)?);
                Ok(NewVector { encoder: encoder.name().to_owned(), vector })
            };
            encoders.iter().map(vector).collect::<Result<Vec<_>, EncodeError>>()
        });
        let vectors = seen.await.map_err(|error| EncodeError(error.to_string()))??;
        Ok(StageOutcome::Vectors(vectors))
    }

    async fn look(
        &self,
        kind: BlobKind,
        (hash, bytes): (ContentHash, u64),
        look: &Look,
    ) -> Result<Looked, StageError> {
        let stored = Stored::new(&self.parts.blobs, kind, hash, bytes);
        Ok(self.parts.decoders.look(&stored, look, Urgency::Background).await?)
    }
}
