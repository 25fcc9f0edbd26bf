//! Takes jobs from the queues while there is room for them, and keeps their leases alive.

use std::{collections::HashMap, sync::Arc, time::Duration};

use blobs::{BlobError, IndexerLock, ProcessLocks, ServiceLock};
use domain::ContentHash;
use keys::new_id;
use storage::{IndexJob, JobId, LeaseRequest, RenditionJob, StageJob};
use tokio::{
    sync::watch,
    task::{self, JoinError, JoinHandle, JoinSet},
    time::{self, Instant},
};

use crate::{
    Library,
    stages::{Kind, OpenStage},
};

/// How long a worker may hold a job without a sign of life, and how often it gives one.
const LEASE_MS: i64 = 15_000;
const RENEWAL: Duration = Duration::from_secs(5);
/// How often the queue is looked at for jobs that another process added.
const POLL: Duration = Duration::from_secs(1);
/// How many images' words are indexed anew in one write.
const WORDS_AT_ONCE: u32 = 200;
/// How often it is asked which stages there are.
const REOPEN: Duration = Duration::from_secs(3);
/// How often a job may be leased before it is given up: each time the process died over it.
const MAX_ATTEMPTS: u32 = 10;
/// How many images that older decoders read are queued again at once.
const OUTDATED_AT_ONCE: u32 = 500;

/// How much a process works on what is queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexingScope {
    /// Makes images visible and found: for a process that ends when they are.
    Images,
    /// When no image waits, makes full renditions before somebody asks for them, and does again what older decoders,
    /// models and readers did: for a process that stays.
    Everything,
}

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

impl Library {
    /// Starts workers that index what is queued, also by other processes.
    ///
    /// # Errors
    /// There is no randomness to name the worker by.
    pub fn start_indexing(&self, scope: IndexingScope) -> Result<Indexing, keys::RandomError> {
        let worker: Arc<str> = new_id(self.random())?.into();
        let (stop, stopped) = watch::channel(false);
        let dispatcher = Dispatcher {
            library: self.clone(),
            worker,
            scope,
            tasks: JoinSet::new(),
            at_work: HashMap::new(),
            some_are_outdated: scope == IndexingScope::Everything,
            some_words_are_outdated: scope == IndexingScope::Everything,
            words_are_newer: false,
            stages: Vec::new(),
            stages_opened: None,
            turn: Turn::default(),
        };
        Ok(Indexing { stop, dispatcher: tokio::spawn(dispatcher.run(stopped)) })
    }
}

/// What a task is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Image(JobId),
    FullRendition(ContentHash),
    Look(JobId),
    Words(JobId),
}

struct Dispatcher {
    library: Library,
    worker: Arc<str>,
    scope: IndexingScope,
    tasks: JoinSet<()>,
    at_work: HashMap<task::Id, Held>,
    some_are_outdated: bool,
    some_words_are_outdated: bool,
    /// Whether it was logged that a newer program made the index of words.
    words_are_newer: bool,
    stages: Vec<OpenStage>,
    /// When it was last asked which stages there are.
    stages_opened: Option<Instant>,
    turn: Turn,
}

/// Whether this process may take jobs. One process at a time does, so that the memory budget of its decoders holds for
/// all, and a process that stays comes before one that ends.
#[derive(Debug, Default)]
struct Turn {
    service: Option<ServiceLock>,
    indexer: Option<IndexerLock>,
    /// The locks cannot be used, and every process takes jobs.
    unlocked: bool,
}

impl Turn {
    fn is_held(&self) -> bool {
        self.indexer.is_some() || self.unlocked
    }

    /// Takes the turn if it is free, and gives it back to a process that stays once nothing is at work here.
    fn update(
        &mut self,
        locks: &ProcessLocks,
        scope: IndexingScope,
        is_idle: bool,
    ) -> Result<bool, BlobError> {
        let may_take = match scope {
            IndexingScope::Everything => {
                if self.service.is_none() {
                    self.service = locks.try_service()?;
                }
                true
            }
            IndexingScope::Images => !locks.has_service()?,
        };
        if may_take && self.indexer.is_none() {
            self.indexer = locks.try_indexer()?;
        } else if !may_take && is_idle {
            self.indexer = None;
        }
        Ok(may_take && self.indexer.is_some())
    }
}

impl Dispatcher {
    async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        let mut renewal = time::interval(RENEWAL);
        while !*stopped.borrow() {
            while let Some(ended) = self.tasks.try_join_next_with_id() {
                self.note_end(ended);
            }
            if self.may_take_jobs().await {
                self.take_jobs().await;
            }
            let has_room = self.at_work.len() < self.lanes();
            tokio::select! {
                _ = stopped.changed() => {}
                _ = renewal.tick() => self.renew().await,
                Some(ended) = self.tasks.join_next_with_id() => self.note_end(ended),
                () = self.library.parts.queue_changed.notified(), if has_room => {}
                () = time::sleep(POLL) => {}
            }
        }
        while let Some(ended) = self.tasks.join_next_with_id().await {
            self.note_end(ended);
        }
        if let Err(error) = self.library.parts.store.release_leases(&self.worker).await {
            tracing::warn!(%error, "leases were not given back; they run out by themselves");
        }
    }

    /// Whether it is this process's turn. When that begins, it does what each beginning needs.
    async fn may_take_jobs(&mut self) -> bool {
        let had_turn = self.turn.is_held();
        let updated = self.turn.update(&self.library.parts.blobs.locks, self.scope, self.at_work.is_empty());
        let may_take = updated.unwrap_or_else(|error| {
            if !self.turn.unlocked {
                tracing::warn!(%error, "processes cannot take turns at indexing; each takes memory of its own");
            }
            self.turn.unlocked = true;
            true
        });
        match (had_turn, self.turn.is_held()) {
            (false, true) => {
                self.retry_failed().await;
                // Before an image becomes visible, so that each waits for them.
                self.open_stages().await;
            }
            (true, false) => self.library.end_idle_workers().await,
            // An import waits for what others find out. To know the stages, it starts a reader.
            (false, false) if self.scope == IndexingScope::Images && self.stages_opened.is_none() => {
                self.open_stages().await;
                self.library.end_idle_workers().await;
            }
            _ => {}
        }
        may_take
    }

    fn decoders(&self) -> usize {
        self.library.parts.settings.decode_workers.max(1)
    }

    /// One more than decode at once, so that reading and writing files overlaps decoding.
    fn lanes(&self) -> usize {
        self.decoders() + 1
    }

    /// Images first; only when none waits or is at work, what can be done before somebody asks for it.
    async fn take_jobs(&mut self) {
        let room = self.lanes().saturating_sub(self.at_work.len());
        if room == 0 {
            return;
        }
        let jobs = self.lease_images(room).await;
        for job in &jobs {
            let (library, worker, job) = (self.library.clone(), self.worker.clone(), job.clone());
            self.spawn(Held::Image(job.id), async move { library.run_job(job, &worker).await });
        }
        if self.at_work.values().any(|held| matches!(held, Held::Image(_))) {
            return;
        }
        if self.some_words_are_outdated {
            self.reindex_words().await;
        }
        self.take_stage_jobs().await;
        if self.scope == IndexingScope::Images
            || self.at_work.values().any(|held| matches!(held, Held::Look(_)))
        {
            return;
        }
        // As many as decode at once: none waits for a decoder with a request for the same rendition behind it.
        let room = self.decoders().saturating_sub(self.at_work.len());
        let jobs = if room > 0 { self.lease_full_renditions(room).await } else { Vec::new() };
        for job in &jobs {
            let (library, worker, job) = (self.library.clone(), self.worker.clone(), *job);
            self.spawn(Held::FullRendition(job.original), async move {
                library.run_rendition_job(job, &worker).await;
            });
        }
        if self.at_work.is_empty() && self.some_are_outdated {
            self.requeue_outdated().await;
        }
    }

    /// What images look like, as many at once as decode; and words, in one image at a time.
    async fn take_stage_jobs(&mut self) {
        self.open_stages().await;
        let mut stages = std::mem::take(&mut self.stages);
        for stage in &mut stages {
            let held = match stage.kind {
                Kind::Look { .. } => Held::Look,
                Kind::Text => Held::Words,
            };
            let most = match stage.kind {
                Kind::Look { .. } => self.lanes().saturating_sub(self.at_work.len()),
                Kind::Text => usize::from(!self.at_work.values().any(|held| matches!(held, Held::Words(_)))),
            };
            let parts = &self.library.parts;
            if most == 0 || parts.stages_at_work.rests(stage, parts.clock.monotonic()) {
                continue;
            }
            let jobs = self.lease_stage_jobs(stage, most).await;
            for job in jobs {
                let (library, worker, stage) = (self.library.clone(), self.worker.clone(), stage.clone());
                self.spawn(held(job.id), async move { library.run_stage_job(job, stage, &worker).await });
            }
        }
        if self.at_work.is_empty()
            && self.scope == IndexingScope::Everything
            && let Err(error) = self.library.forget_old_vectors(&stages).await
        {
            tracing::warn!(%error, "what older models saw is not forgotten yet");
        }
        self.stages = stages;
    }

    /// Asks now and then which stages there are: a model may have been installed.
    async fn open_stages(&mut self) {
        if self.stages_opened.is_some_and(|opened| opened.elapsed() < REOPEN) {
            return;
        }
        match self.library.open_stages(self.scope, &self.stages).await {
            Ok(stages) => self.stages = stages,
            Err(error) => tracing::warn!(%error, "it cannot be told what is to be found out about images"),
        }
        if let Err(error) = self.check_words().await {
            tracing::warn!(%error, "the index of words cannot be read");
        }
        self.stages_opened = Some(Instant::now());
    }

    /// Looks whether another process of another version added words, or took the index over.
    async fn check_words(&mut self) -> Result<(), storage::StorageError> {
        let store = &self.library.parts.store;
        if store.word_index_is_newer().await? {
            if !self.words_are_newer {
                tracing::warn!(
                    "a newer version of this program made the index of words; this version leaves it alone"
                );
            }
            self.words_are_newer = true;
        } else if self.scope == IndexingScope::Everything && !self.some_words_are_outdated {
            self.some_words_are_outdated = store.count_outdated_words().await? > 0;
        }
        Ok(())
    }

    /// Jobs of a stage; queues more of them when there are none.
    async fn lease_stage_jobs(&self, stage: &mut OpenStage, most: usize) -> Vec<StageJob> {
        let store = &self.library.parts.store;
        loop {
            let more = match store.lease_stage_jobs(stage.id, self.lease(most)).await {
                Ok(jobs) if jobs.is_empty() => self.library.go_on_with(stage).await,
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

    fn spawn(&mut self, held: Held, work: impl Future<Output = ()> + Send + 'static) {
        let task = self.tasks.spawn(work);
        self.at_work.insert(task.id(), held);
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

    fn note_end(&mut self, ended: Result<(task::Id, ()), JoinError>) {
        let task = match ended {
            Ok((task, ())) => task,
            Err(error) => {
                tracing::error!(%error, "an indexing task failed; its job is tried again when the lease runs out");
                error.id()
            }
        };
        self.at_work.remove(&task);
    }

    /// Queues again what older decoders could not read.
    async fn retry_failed(&self) {
        let parts = &self.library.parts;
        match parts.store.requeue_failed(media::DECODER_VERSION, parts.clock.now()).await {
            Ok(0) => {}
            Ok(images) => tracing::info!(images, "images that older decoders could not read are tried again"),
            Err(error) => {
                tracing::warn!(%error, "images that older decoders could not read stay as they are");
            }
        }
    }

    /// Queues again some of what older decoders read: newer ones may know better, for example the colours.
    async fn requeue_outdated(&mut self) {
        let parts = &self.library.parts;
        let queued =
            parts.store.requeue_outdated(media::DECODER_VERSION, parts.clock.now(), OUTDATED_AT_ONCE).await;
        match queued {
            Ok(0) => self.some_are_outdated = false,
            Ok(images) => {
                tracing::info!(images, "images that older decoders read are read again");
                parts.queue_changed.notify_one();
            }
            Err(error) => {
                // The next start tries again.
                self.some_are_outdated = false;
                tracing::warn!(%error, "images that older decoders read stay as they are");
            }
        }
    }

    /// Indexes some of the words that were taken apart by an older version: photos are not found by them until then.
    async fn reindex_words(&mut self) {
        match self.library.parts.store.reindex_words(WORDS_AT_ONCE).await {
            Ok(0) => self.some_words_are_outdated = false,
            Ok(images) => {
                tracing::debug!(images, "words are indexed anew");
                self.library.parts.queue_changed.notify_one();
            }
            // It is tried again with the next round of work.
            Err(error) => tracing::warn!(%error, "words are not indexed anew yet"),
        }
    }

    async fn renew(&self) {
        let (mut images, mut originals, mut stage_jobs) = (Vec::new(), Vec::new(), Vec::new());
        for held in self.at_work.values() {
            match held {
                Held::Image(job) => images.push(*job),
                Held::FullRendition(original) => originals.push(*original),
                Held::Look(job) | Held::Words(job) => stage_jobs.push(*job),
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
            tracing::warn!(%error, "leases of stages were not renewed");
        }
    }
}
