use std::{collections::HashMap, sync::Arc, time::Duration};

use blobs::BlobError;
use bytes::Bytes;
use domain::{BlobKind, PixelSize, Rendition};
use keys::new_id;
use media::{EncodedRendition, Metadata, Rendered};
use storage::{Announced, BlobRef, Indexed, Job, JobId, LeaseRequest, StorageError, StoredRendition};
use tokio::{
    sync::watch,
    task::{JoinError, JoinHandle, JoinSet},
    time,
};

use crate::{Library, decoding::DecodeError};

/// How long a worker may hold a job without a sign of life, and how often it gives one.
const LEASE_MS: i64 = 15_000;
const RENEWAL: Duration = Duration::from_secs(5);
/// How often the queue is looked at for jobs that another process added.
const POLL: Duration = Duration::from_secs(1);
/// How often a job may be leased before it is given up: each time a worker died over it.
const MAX_ATTEMPTS: u32 = 10;
/// How long a job waits after a store failed. It is never given up for that.
const RETRY_MS: i64 = 5_000;

/// Workers that index images until they are stopped.
#[derive(Debug)]
pub struct Indexing {
    stop: watch::Sender<bool>,
    dispatcher: JoinHandle<()>,
}

impl Indexing {
    /// Takes no further jobs, waits for those at work, and gives back what was leased.
    pub async fn stop(self) {
        // Without a receiver the dispatcher has ended already.
        let _ = self.stop.send(true);
        if let Err(error) = self.dispatcher.await {
            tracing::error!(%error, "the indexing dispatcher failed");
        }
    }
}

/// Why a job was not completed.
#[derive(Debug, thiserror::Error)]
enum IndexError {
    /// The file is at fault: final.
    #[error(transparent)]
    File(#[from] DecodeError),
    /// The original is gone: final.
    #[error("the file's bytes are missing from the blob store")]
    Lost,
    /// Something else is at fault: the job is tried again.
    #[error(transparent)]
    Blob(BlobError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<BlobError> for IndexError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Missing { .. } => Self::Lost,
            other => Self::Blob(other),
        }
    }
}

impl Library {
    /// Starts workers that index what is queued, also by other processes.
    ///
    /// # Errors
    /// There is no randomness to name the worker by.
    pub fn start_indexing(&self) -> Result<Indexing, keys::RandomFailed> {
        let worker = new_id(self.random())?;
        let (stop, stopped) = watch::channel(false);
        let dispatcher = tokio::spawn(dispatch(self.clone(), worker, stopped));
        Ok(Indexing { stop, dispatcher })
    }

    async fn lease(&self, worker: &str, max: u32) -> Vec<Job> {
        let now = self.parts.clock.now();
        let request = LeaseRequest {
            worker,
            at: now,
            until: now.plus_millis(LEASE_MS),
            max,
            max_attempts: MAX_ATTEMPTS,
            decoder_version: media::DECODER_VERSION,
        };
        self.parts.store.lease_jobs(request).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the queue cannot be read");
            Vec::new()
        })
    }

    /// Indexes one image and writes the outcome down.
    async fn run_job(&self, job: Job, worker: &str) {
        let outcome = match self.index(&job, worker).await {
            Ok(true) => return,
            Ok(false) => {
                // Another worker has the job, or an equal rendition was being removed: this one tries again then.
                tracing::debug!(image = %job.image, "the job was not completed");
                self.parts.store.retry_job(job.id, worker, self.parts.clock.now()).await
            }
            Err(error @ (IndexError::File(_) | IndexError::Lost)) => {
                tracing::info!(image = %job.image, %error, "an image could not be read");
                self.parts.store.fail_job(job.id, worker, &error.to_string(), media::DECODER_VERSION).await
            }
            Err(error @ (IndexError::Blob(_) | IndexError::Storage(_))) => {
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
    async fn index(&self, job: &Job, worker: &str) -> Result<bool, IndexError> {
        let _memory = self.parts.decoder.admit(job.original_bytes).await?;
        let original =
            self.parts.blobs.open(BlobKind::Original, job.original, None).await?.into_bytes().await?;
        let (name, modified, added) = (job.file_name.clone(), job.modified_at, job.added_at);
        let read = move |file: &[u8]| {
            media::metadata(
                file,
                &media::FileFacts { file_name: name.as_deref(), modified, added, sidecars: &[] },
            )
        };
        let (rendered, metadata) = self.parts.decoder.render(original, displayed_first, read).await?;
        let renditions = self.keep_renditions(&rendered.renditions).await?;
        let indexed = indexed(&rendered, metadata, renditions);
        Ok(self.parts.store.complete_job(job.id, worker, indexed).await?)
    }

    /// Announces and writes renditions; the operation that refers to them keeps them.
    pub(crate) async fn keep_renditions(
        &self,
        encoded: &[EncodedRendition],
    ) -> Result<Vec<StoredRendition>, StorageErrorOrBlob> {
        let stored: Vec<(StoredRendition, Bytes)> = encoded.iter().map(addressed).collect();
        let blobs: Vec<BlobRef> = stored
            .iter()
            .map(|(rendition, _)| BlobRef {
                kind: BlobKind::Rendition,
                hash: rendition.blob,
                bytes: rendition.bytes,
            })
            .collect();
        if self.parts.store.announce_blobs(&blobs, self.parts.clock.now()).await? == Announced::BeingRemoved {
            return Err(StorageError::Unavailable("an equal rendition is just being removed".into()).into());
        }
        let mut kept = Vec::with_capacity(stored.len());
        for (rendition, webp) in stored {
            self.parts.blobs.put_bytes(BlobKind::Rendition, webp).await?;
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

/// Medium and thumb make an image visible; full comes at once only where it is the same picture as medium.
fn displayed_first(size: PixelSize) -> Vec<Rendition> {
    if size.longest() <= Rendition::Medium.longest_side_px() {
        Rendition::ALL.to_vec()
    } else {
        vec![Rendition::Medium, Rendition::Thumb]
    }
}

fn addressed(encoded: &EncodedRendition) -> (StoredRendition, Bytes) {
    let rendition = StoredRendition {
        rendition: encoded.rendition,
        blob: blobs::BlobStore::address(&encoded.webp),
        bytes: encoded.webp.len() as u64,
        size: encoded.size,
    };
    (rendition, Bytes::copy_from_slice(&encoded.webp))
}

fn indexed(rendered: &Rendered, metadata: Metadata, renditions: Vec<StoredRendition>) -> Indexed {
    Indexed {
        capture: metadata.capture,
        size: rendered.full_size,
        position: metadata.position,
        place: None,
        description: metadata.description,
        text: None,
        camera_make: metadata.camera_make,
        camera_model: metadata.camera_model,
        damaged: rendered.damaged.clone(),
        decoder_version: media::DECODER_VERSION,
        renditions,
    }
}

/// The jobs that a dispatcher's tasks are at, by task.
type AtWork = HashMap<tokio::task::Id, JobId>;

/// Leases jobs as workers become free, and keeps their leases alive.
async fn dispatch(library: Library, worker: String, mut stopped: watch::Receiver<bool>) {
    let worker: Arc<str> = worker.into();
    retry_outdated(&library).await;
    // One more than decode at once, so that reading and writing files overlaps decoding.
    let lanes = library.parts.settings.decode_workers.max(1) + 1;
    let mut tasks = JoinSet::new();
    let mut at_work = AtWork::new();
    let mut renewal = time::interval(RENEWAL);
    while !*stopped.borrow() {
        while let Some(ended) = tasks.try_join_next_with_id() {
            note_end(&mut at_work, ended);
        }
        let wanted = u32::try_from(lanes.saturating_sub(at_work.len())).unwrap_or(u32::MAX);
        let jobs = if wanted > 0 { library.lease(&worker, wanted).await } else { Vec::new() };
        for job in jobs {
            let (library, worker, id) = (library.clone(), worker.clone(), job.id);
            let task = tasks.spawn(async move { library.run_job(job, &worker).await });
            at_work.insert(task.id(), id);
        }
        let has_room = at_work.len() < lanes;
        tokio::select! {
            _ = stopped.changed() => {}
            _ = renewal.tick() => renew(&library, &worker, &at_work).await,
            Some(ended) = tasks.join_next_with_id() => note_end(&mut at_work, ended),
            () = library.parts.queue_changed.notified(), if has_room => {}
            () = time::sleep(POLL) => {}
        }
    }
    while let Some(ended) = tasks.join_next_with_id().await {
        note_end(&mut at_work, ended);
    }
    if let Err(error) = library.parts.store.release_leases(&worker).await {
        tracing::warn!(%error, "leases were not given back; they run out by themselves");
    }
}

fn note_end(at_work: &mut AtWork, ended: Result<(tokio::task::Id, ()), JoinError>) {
    let task = match ended {
        Ok((task, ())) => task,
        Err(error) => {
            tracing::error!(%error, "an indexing task failed; its job is tried again when the lease runs out");
            error.id()
        }
    };
    at_work.remove(&task);
}

/// Queues again what older decoders could not read.
async fn retry_outdated(library: &Library) {
    match library.parts.store.requeue_failed(media::DECODER_VERSION, library.parts.clock.now()).await {
        Ok(0) => {}
        Ok(images) => tracing::info!(images, "images that older decoders could not read are tried again"),
        Err(error) => tracing::warn!(%error, "images that older decoders could not read stay as they are"),
    }
}

async fn renew(library: &Library, worker: &str, at_work: &AtWork) {
    let jobs: Vec<JobId> = at_work.values().copied().collect();
    if jobs.is_empty() {
        return;
    }
    let until = library.parts.clock.now().plus_millis(LEASE_MS);
    if let Err(error) = library.parts.store.renew_leases(worker, &jobs, until).await {
        tracing::warn!(%error, "leases were not renewed");
    }
}
