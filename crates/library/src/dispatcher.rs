//! Leases jobs from the queues, runs them concurrently, and renews their leases.

use std::{collections::HashMap, sync::Arc, time::Duration};

use blobs::OwnerLock;
use domain::{ContentHash, TRACE_TARGET};
use keys::new_id;
use storage::{IndexJob, JobId, LeaseRequest, RenditionJob, StageJob, StorageError};
use tokio::{
    sync::watch,
    task::{self, JoinError, JoinHandle, JoinSet},
    time::{self, Instant},
};
use tracing::{Instrument as _, Span, field::Empty};

use crate::{
    Library,
    indexer_role::{IndexerRole, IndexingScope},
    stages::{OpenStage, StageKeeper, StageWork},
};

/// How long a lease is valid.
const LEASE_MS: i64 = 15_000;
/// How often leases are renewed.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(5);
/// How often the queue is polled for jobs of other processes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How often the stages are opened again.
const STAGES_INTERVAL: Duration = Duration::from_secs(3);
/// How often the store is searched for images of older decoders. An older program may have indexed some meanwhile.
const OUTDATED_INTERVAL: Duration = Duration::from_secs(3600);
/// How often a job may be leased before it fails. It is leased again only if its process was killed.
const MAX_ATTEMPTS: u32 = 10;
/// How many images have their words indexed again in one write.
const WORDS_BATCH: u32 = 200;
/// How many images that are older than the map are added to it in one write.
const MAP_BATCH: u32 = 200;
/// How many outdated images are queued again in one write.
const OUTDATED_BATCH: u32 = 500;

/// The background task that indexes images until it is stopped.
#[derive(Debug)]
pub struct Indexing {
    stop: watch::Sender<bool>,
    dispatcher: JoinHandle<()>,
}

impl Indexing {
    /// Takes no further jobs, waits for the running ones, and releases the leases.
    pub async fn stop(self) {
        // Fails only if the dispatcher has already ended.
        let _ = self.stop.send(true);
        if let Err(error) = self.dispatcher.await {
            tracing::error!(%error, "the indexing dispatcher failed");
        }
    }
}

impl Library {
    /// Starts to index queued images, including those of other processes.
    ///
    /// # Errors
    /// The random source failed, so the worker has no name.
    pub fn start_indexing(&self, scope: IndexingScope) -> Result<Indexing, keys::RandomError> {
        let worker: Arc<str> = new_id(self.random())?.into();
        let (stop, stopped) = watch::channel(false);
        let dispatcher = Dispatcher {
            library: self.clone(),
            worker,
            scope,
            tasks: JoinSet::new(),
            running: HashMap::new(),
            has_outdated_images: scope.includes_upkeep(),
            outdated_checked: Instant::now(),
            has_outdated_words: scope.includes_upkeep(),
            fills_map: scope.includes_upkeep(),
            newer_words_logged: false,
            stages: Vec::new(),
            stages_opened: None,
            role: IndexerRole::default(),
            stage_keeper: StageKeeper::default(),
        };
        Ok(Indexing { stop, dispatcher: tokio::spawn(dispatcher.run(stopped)) })
    }
}

/// The leased job of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunningJob {
    Image(JobId),
    FullRendition(ContentHash),
    Embedding(JobId),
    Text(JobId),
}

impl RunningJob {
    /// A trace of its own.
    fn span(self) -> Span {
        let name = match self {
            Self::Image(_) => "index image",
            Self::FullRendition(_) => "make full rendition",
            Self::Embedding(_) => "make embedding",
            Self::Text(_) => "read text",
        };
        tracing::info_span!(
            target: TRACE_TARGET, parent: None, "job", otel.name = name, otel.status_code = Empty,
        )
    }
}

/// Marks the job of this task as failed in its trace.
pub(crate) fn mark_failed() {
    Span::current().record("otel.status_code", "ERROR");
}

struct Dispatcher {
    library: Library,
    worker: Arc<str>,
    scope: IndexingScope,
    tasks: JoinSet<()>,
    running: HashMap<task::Id, RunningJob>,
    has_outdated_images: bool,
    /// When no outdated image was found last.
    outdated_checked: Instant,
    has_outdated_words: bool,
    /// Whether images may be missing in the map because they are older than it.
    fills_map: bool,
    /// Whether it was logged that a newer program made the word index.
    newer_words_logged: bool,
    stages: Vec<OpenStage>,
    /// When the stages were last opened.
    stages_opened: Option<Instant>,
    role: IndexerRole,
    stage_keeper: StageKeeper,
}

impl Dispatcher {
    async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        let owner = self.library.register_owner(&self.worker).await;
        let mut renewal = time::interval(RENEWAL_INTERVAL);
        while !*stopped.borrow() {
            while let Some(ended) = self.tasks.try_join_next_with_id() {
                self.remove_task(ended);
            }
            if self.may_take_jobs().await {
                self.take_jobs().await;
            }
            let has_room = self.running.len() < self.max_tasks();
            tokio::select! {
                _ = stopped.changed() => {}
                _ = renewal.tick() => self.renew_leases().await,
                Some(ended) = self.tasks.join_next_with_id() => self.remove_task(ended),
                () = self.library.parts.queue_changed.notified(), if has_room => {}
                () = time::sleep(POLL_INTERVAL) => {}
            }
        }
        // Before the running jobs end, because these may be abandoned.
        self.stage_keeper.release().await;
        while !self.tasks.is_empty() {
            tokio::select! {
                Some(ended) = self.tasks.join_next_with_id() => self.remove_task(ended),
                _ = renewal.tick() => self.renew_leases().await,
            }
        }
        self.release(owner).await;
    }

    async fn release(&self, owner: Option<OwnerLock>) {
        match self.library.parts.store.release_leases(&self.worker).await {
            Ok(()) => {
                if let Some(owner) = owner {
                    owner.remove();
                }
            }
            Err(error) => tracing::warn!(%error, "leases were not released; they will expire"),
        }
    }

    /// Whether this process is the indexer. Prepares the work when it becomes the indexer.
    async fn may_take_jobs(&mut self) -> bool {
        let was_indexer = self.role.is_held();
        let locks = &self.library.parts.blobs.locks;
        let may_take = self.role.may_take_jobs(locks, self.scope, self.running.is_empty());
        match (was_indexer, self.role.is_held()) {
            (false, true) => {
                self.free_killed_workers().await;
                self.retry_failed().await;
                // Before an image becomes visible, so that each one is queued for all stages.
                self.open_stages().await;
            }
            (true, false) => {
                self.stage_keeper.release().await;
                self.library.stop_idle_workers().await;
            }
            // An import also waits for the stages of another process. It starts an OCR worker to read the version of
            // the OCR stage.
            (false, false) if self.scope == IndexingScope::Images && self.stages_opened.is_none() => {
                self.open_stages().await;
                self.library.stop_idle_workers().await;
            }
            _ => {}
        }
        may_take
    }

    fn decoders(&self) -> usize {
        self.library.parts.settings.decode_workers.max(1)
    }

    /// One more than there are decoders, so that file I/O overlaps with decoding.
    fn max_tasks(&self) -> usize {
        self.decoders() + 1
    }

    /// Takes image jobs first. Takes other jobs only when no image is waiting or running.
    async fn take_jobs(&mut self) {
        let room = self.max_tasks().saturating_sub(self.running.len());
        if room == 0 {
            return;
        }
        let jobs = self.lease_images(room).await;
        for job in &jobs {
            let (library, worker, job) = (self.library.clone(), self.worker.clone(), job.clone());
            self.spawn(RunningJob::Image(job.id), async move { library.run_job(job, &worker).await });
        }
        if self.running.values().any(|job| matches!(job, RunningJob::Image(_))) {
            return;
        }
        if self.has_outdated_words {
            self.reindex_words().await;
        }
        if self.fills_map {
            self.fill_map().await;
        }
        self.take_stage_jobs().await;
        if self.scope == IndexingScope::Images
            || self.running.values().any(|job| matches!(job, RunningJob::Embedding(_)))
        {
            return;
        }
        // No more than there are decoders, so that no job waits for a decoder while a request waits for the same rendition.
        let room = self.decoders().saturating_sub(self.running.len());
        let jobs = if room > 0 { self.lease_full_renditions(room).await } else { Vec::new() };
        for job in &jobs {
            let (library, worker, job) = (self.library.clone(), self.worker.clone(), *job);
            self.spawn(RunningJob::FullRendition(job.original), async move {
                library.run_rendition_job(job, &worker).await;
            });
        }
        self.has_outdated_images |= self.outdated_checked.elapsed() > OUTDATED_INTERVAL;
        if self.running.is_empty() && self.has_outdated_images {
            self.requeue_outdated().await;
        }
    }

    /// Takes embedding jobs for all free tasks, and at most one OCR job at a time.
    async fn take_stage_jobs(&mut self) {
        self.open_stages().await;
        let mut stages = std::mem::take(&mut self.stages);
        for stage in &mut stages {
            let running_job = match stage.work {
                StageWork::Embedding { .. } => RunningJob::Embedding,
                StageWork::Text => RunningJob::Text,
            };
            let max = match stage.work {
                StageWork::Embedding { .. } => self.max_tasks().saturating_sub(self.running.len()),
                StageWork::Text => {
                    usize::from(!self.running.values().any(|job| matches!(job, RunningJob::Text(_))))
                }
            };
            let parts = &self.library.parts;
            if max == 0 || parts.running_stages.is_paused(stage, parts.clock.monotonic()) {
                continue;
            }
            let jobs = self.lease_stage_jobs(stage, max).await;
            for job in jobs {
                let (library, worker, stage) = (self.library.clone(), self.worker.clone(), stage.clone());
                self.spawn(
                    running_job(job.id),
                    async move { library.run_stage_job(job, stage, &worker).await },
                );
            }
        }
        if self.running.is_empty()
            && let Err(error) = self.library.prune_old_vectors(&mut self.stage_keeper, &stages).await
        {
            tracing::warn!(%error, "the vectors of older models were not deleted; it will be retried");
        }
        self.stages = stages;
    }

    /// Opens the stages again from time to time, because a model may have been installed.
    async fn open_stages(&mut self) {
        if self.stages_opened.is_some_and(|opened| opened.elapsed() < STAGES_INTERVAL) {
            return;
        }
        self.stage_keeper.set_may_decide(self.scope.includes_upkeep() && self.role.is_held());
        match self.library.open_stages(&mut self.stage_keeper, &self.stages).await {
            Ok(stages) => self.stages = stages,
            Err(error) => tracing::warn!(%error, "the search stages cannot be opened"),
        }
        if let Err(error) = self.check_words().await {
            tracing::warn!(%error, "the word index cannot be read");
        }
        self.stages_opened = Some(Instant::now());
    }

    /// Releases the leases of processes of this machine that were killed, so that their jobs need not wait.
    async fn free_killed_workers(&self) {
        match self.library.free_ended_owners().await {
            Ok(0) => {}
            Ok(owners) => tracing::info!(owners, "leases of killed processes were released"),
            Err(error) => {
                tracing::warn!(%error, "leases of killed processes were not released; they will expire");
            }
        }
    }

    /// Checks whether a process of another version added words or took over the word index.
    async fn check_words(&mut self) -> Result<(), StorageError> {
        let store = &self.library.parts.store;
        if store.word_index_is_newer().await? {
            if !self.newer_words_logged {
                tracing::warn!(
                    "a newer version of this program made the word index; this version leaves it unchanged"
                );
            }
            self.newer_words_logged = true;
        } else if self.scope.includes_upkeep() && !self.has_outdated_words {
            self.has_outdated_words = store.count_outdated_words().await? > 0;
        }
        Ok(())
    }

    /// Leases jobs of a stage. Queues more of them if there are none.
    async fn lease_stage_jobs(&self, stage: &mut OpenStage, max: usize) -> Vec<StageJob> {
        let store = &self.library.parts.store;
        loop {
            let more = match store.lease_stage_jobs(stage.id, self.lease(max)).await {
                Ok(jobs) if jobs.is_empty() => self.library.queue_more(stage).await,
                Ok(jobs) => return jobs,
                Err(error) => Err(error),
            };
            match more {
                Ok(true) => {}
                Ok(false) => return Vec::new(),
                Err(error) => {
                    tracing::warn!(%error, "the queue of a stage cannot be read");
                    return Vec::new();
                }
            }
        }
    }

    fn spawn(&mut self, job: RunningJob, work: impl Future<Output = ()> + Send + 'static) {
        // The lease expired, for example because the machine was suspended, and nobody else has leased the job since. So
        // the running task holds it again.
        if self.running.values().any(|running| *running == job) {
            return;
        }
        let task = self.tasks.spawn(work.instrument(job.span()));
        self.running.insert(task.id(), job);
    }

    fn lease(&self, max: usize) -> LeaseRequest<'_> {
        let now = self.library.parts.clock.now();
        LeaseRequest {
            worker: &self.worker,
            at: now,
            until: now.plus_millis(LEASE_MS),
            max: u32::try_from(max).unwrap_or(u32::MAX),
            max_attempts: MAX_ATTEMPTS,
        }
    }

    async fn lease_images(&self, max: usize) -> Vec<IndexJob> {
        let leased = self.library.parts.store.lease_jobs(self.lease(max), media::DECODER_VERSION).await;
        leased.unwrap_or_else(|error| {
            tracing::warn!(%error, "the queue cannot be read");
            Vec::new()
        })
    }

    async fn lease_full_renditions(&self, max: usize) -> Vec<RenditionJob> {
        let leased = self.library.parts.store.lease_rendition_jobs(self.lease(max)).await;
        leased.unwrap_or_else(|error| {
            tracing::warn!(%error, "the queue of full renditions cannot be read");
            Vec::new()
        })
    }

    fn remove_task(&mut self, ended: Result<(task::Id, ()), JoinError>) {
        let task = match ended {
            Ok((task, ())) => task,
            Err(error) => {
                tracing::error!(%error, "an indexing task failed; its job is retried when the lease expires");
                error.id()
            }
        };
        self.running.remove(&task);
    }

    /// Queues images again that older decoders could not read.
    async fn retry_failed(&self) {
        let parts = &self.library.parts;
        match parts.store.requeue_failed(media::DECODER_VERSION, parts.clock.now()).await {
            Ok(0) => {}
            Ok(images) => {
                tracing::info!(images, "images that older decoders could not read are queued again");
            }
            Err(error) => {
                tracing::warn!(%error, "images that older decoders could not read were not queued again");
            }
        }
    }

    /// Queues some images again that older decoders read: newer decoders may read more, for example better colours.
    async fn requeue_outdated(&mut self) {
        let parts = &self.library.parts;
        let queued =
            parts.store.requeue_outdated(media::DECODER_VERSION, parts.clock.now(), OUTDATED_BATCH).await;
        match queued {
            Ok(0) => {
                self.has_outdated_images = false;
                self.outdated_checked = Instant::now();
            }
            Ok(images) => {
                tracing::info!(images, "images that older decoders read are queued again");
                parts.queue_changed.notify_one();
            }
            Err(error) => {
                // The next start retries.
                self.has_outdated_images = false;
                tracing::warn!(%error, "images that older decoders read were not queued again");
            }
        }
    }

    /// Indexes some words again that an older version tokenized. Until then, searches do not find photos by them.
    async fn reindex_words(&mut self) {
        match self.library.parts.store.reindex_words(WORDS_BATCH).await {
            Ok(0) => self.has_outdated_words = false,
            Ok(images) => {
                tracing::debug!(images, "words were indexed again");
                self.library.parts.queue_changed.notify_one();
            }
            // The next round retries.
            Err(error) => tracing::warn!(%error, "words were not indexed again; it will be retried"),
        }
    }

    /// Adds some images to the map that are older than it.
    async fn fill_map(&mut self) {
        match self.library.parts.store.fill_map(MAP_BATCH).await {
            Ok(0) => self.fills_map = false,
            Ok(images) => {
                tracing::debug!(images, "images were added to the map");
                self.library.parts.queue_changed.notify_one();
            }
            // The next round retries.
            Err(error) => tracing::warn!(%error, "images were not added to the map; it will be retried"),
        }
    }

    async fn renew_leases(&self) {
        let (mut images, mut originals, mut stage_jobs) = (Vec::new(), Vec::new(), Vec::new());
        for job in self.running.values() {
            match job {
                RunningJob::Image(job) => images.push(*job),
                RunningJob::FullRendition(original) => originals.push(*original),
                RunningJob::Embedding(job) | RunningJob::Text(job) => stage_jobs.push(*job),
            }
        }
        let store = &self.library.parts.store;
        let until = self.library.parts.clock.now().plus_millis(LEASE_MS);
        if !images.is_empty()
            && let Err(error) = store.renew_leases(&self.worker, &images, until).await
        {
            tracing::warn!(%error, "leases were not renewed");
        }
        if !originals.is_empty()
            && let Err(error) = store.renew_rendition_leases(&self.worker, &originals, until).await
        {
            tracing::warn!(%error, "leases of full renditions were not renewed");
        }
        if !stage_jobs.is_empty()
            && let Err(error) = store.renew_stage_leases(&self.worker, &stage_jobs, until).await
        {
            tracing::warn!(%error, "leases of stage jobs were not renewed");
        }
    }
}
