//! Leases jobs from the queues, runs them concurrently, and renews their leases.
//!
//! Jobs that make images visible have tasks, slots and memory of their own. All other jobs begin only while no image waits,
//! and they never hold up an image that arrives later.

use std::{collections::HashMap, sync::Arc, time::Duration};

use blobs::OwnerLock;
use domain::ContentHash;
use keys::new_id;
use storage::{IndexJob, JobId, LeaseRequest};
use tokio::{
    sync::watch,
    task::{self, JoinError, JoinHandle, JoinSet},
    time,
};
use tracing::{Instrument as _, Span};

use crate::{
    Indexer,
    indexer_role::{IndexerRole, IndexingScope},
    indexing::is_outdated,
    job_span::job_span,
    planner::{Plan, PlannedJob, Planner, RunningCounts},
    stages::StageWork,
};

/// How long a lease is valid.
const LEASE_MS: i64 = 15_000;
/// How often leases are renewed.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(5);
/// How often the queue is polled for jobs of other processes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How often a job may be leased without an outcome, for example because its process was killed, before it fails. A job
/// that is returned to the queue for a retry does not use up an attempt.
const MAX_ATTEMPTS: u32 = 10;

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

impl Indexer {
    /// Starts to index queued images, including those of other processes.
    ///
    /// # Errors
    /// The random source failed, so the worker has no name.
    pub fn start_indexing(&self, scope: IndexingScope) -> Result<Indexing, keys::RandomError> {
        let worker: Arc<str> = new_id(self.random())?.into();
        self.parts.running_stages.expect();
        let (stop, stopped) = watch::channel(false);
        let dispatcher = Dispatcher {
            indexer: self.clone(),
            scope,
            tasks: JoinSet::new(),
            running: HashMap::new(),
            role: IndexerRole::default(),
            planning: Planning::Absent,
            watches_stages: !scope.includes_upkeep(),
            worker,
        };
        Ok(Indexing { stop, dispatcher: tokio::spawn(dispatcher.run(stopped)) })
    }

    /// A request for up to `max` jobs.
    pub(crate) fn lease_request<'a>(&self, worker: &'a str, max: usize) -> LeaseRequest<'a> {
        let now = self.parts.clock.now();
        LeaseRequest {
            worker,
            at: now,
            until: now.plus_millis(LEASE_MS),
            max: u32::try_from(max).unwrap_or(u32::MAX),
            max_attempts: MAX_ATTEMPTS,
        }
    }
}

/// The leased job of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunningJob {
    Image(JobId),
    /// An image that older decoders read. It stays visible while it is read again.
    OutdatedImage(JobId),
    FullRendition(ContentHash),
    Embedding(JobId),
    Text(JobId),
}

impl RunningJob {
    /// The root span of a trace for this job.
    fn span(self) -> Span {
        let name = match self {
            Self::Image(_) | Self::OutdatedImage(_) => "index image",
            Self::FullRendition(_) => "make full rendition",
            Self::Embedding(_) => "make embedding",
            Self::Text(_) => "read text",
        };
        job_span(name)
    }
}

/// The planner. It runs in a task of its own, so that images can be leased meanwhile.
enum Planning {
    Idle(Box<Planner>),
    Running(JoinHandle<(Box<Planner>, Plan)>),
    /// There is no planner yet, or its task failed.
    Absent,
}

impl Planning {
    fn is_running(&self) -> bool {
        matches!(self, Self::Running(_))
    }

    /// Starts a round, unless one is running; returns whether it did.
    fn start<F: Future<Output = (Box<Planner>, Plan)> + Send + 'static>(
        &mut self,
        round: impl FnOnce(Box<Planner>) -> F,
    ) -> bool {
        let (planning, starts) = match std::mem::replace(self, Self::Absent) {
            Self::Idle(planner) => (Self::Running(tokio::spawn(round(planner))), true),
            other => (other, false),
        };
        *self = planning;
        starts
    }

    /// The result of the running round. Never completes if none is running.
    async fn next(&mut self) -> Plan {
        let Self::Running(round) = self else { return std::future::pending().await };
        let (planning, plan) = match round.await {
            Ok((planner, plan)) => (Self::Idle(planner), plan),
            Err(error) => {
                tracing::error!(%error, "planning the jobs that can wait failed");
                (Self::Absent, Plan::default())
            }
        };
        *self = planning;
        plan
    }
}

struct Dispatcher {
    indexer: Indexer,
    worker: Arc<str>,
    scope: IndexingScope,
    tasks: JoinSet<()>,
    running: HashMap<task::Id, RunningJob>,
    role: IndexerRole,
    planning: Planning,
    /// Whether to open the stages even if another process is the indexer.
    watches_stages: bool,
}

impl Dispatcher {
    async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        let owner = self.indexer.parts.roles.register_owner(&self.worker).await;
        let mut renewal = time::interval(RENEWAL_INTERVAL);
        // Whether something has happened since the last round of planning began.
        let mut is_plan_due = true;
        while !*stopped.borrow() {
            while let Some(ended) = self.tasks.try_join_next_with_id() {
                self.remove_task(ended);
                is_plan_due = true;
            }
            let is_indexer = self.may_take_jobs().await;
            if is_indexer {
                self.take_images().await;
            }
            if is_plan_due {
                is_plan_due = !self.start_planning(is_indexer);
            }
            let has_room = self.count(|job| matches!(job, RunningJob::Image(_))) < self.max_images();
            tokio::select! {
                _ = stopped.changed() => {}
                _ = renewal.tick() => self.renew_leases().await,
                Some(ended) = self.tasks.join_next_with_id() => {
                    self.remove_task(ended);
                    is_plan_due = true;
                }
                plan = self.planning.next() => {
                    is_plan_due |= plan.has_more;
                    self.start_jobs(plan);
                }
                () = self.indexer.parts.queue_changed.notified(), if has_room => is_plan_due = true,
                () = time::sleep(POLL_INTERVAL) => is_plan_due = true,
            }
        }
        // Released before the running jobs end, because the wait for these jobs may be abandoned.
        self.release_stages().await;
        while !self.tasks.is_empty() {
            tokio::select! {
                Some(ended) = self.tasks.join_next_with_id() => self.remove_task(ended),
                _ = renewal.tick() => self.renew_leases().await,
            }
        }
        self.release(owner).await;
    }

    async fn release(&self, owner: Option<OwnerLock>) {
        match self.indexer.parts.store.release_leases(&self.worker).await {
            Ok(()) => {
                if let Some(owner) = owner {
                    owner.remove();
                }
            }
            Err(error) => tracing::warn!(%error, "leases were not released; they will expire"),
        }
    }

    /// Lets other processes decide on the stages. Jobs that the planner has leased meanwhile are released with the others.
    async fn release_stages(&mut self) {
        if self.planning.is_running() {
            self.planning.next().await;
        }
        if let Planning::Idle(planner) = &mut self.planning {
            planner.release_stages().await;
        }
    }

    /// Whether this process is the indexer. Prepares the work when it becomes the indexer.
    async fn may_take_jobs(&mut self) -> bool {
        let was_indexer = self.role.is_held();
        let locks = &self.indexer.parts.blobs.locks;
        let is_idle = self.running.is_empty() && !self.planning.is_running();
        let may_take = self.role.may_take_jobs(locks, self.scope, is_idle);
        match (was_indexer, self.role.is_held()) {
            (false, true) => {
                self.free_killed_workers().await;
                self.retry_failed().await;
            }
            (true, false) => {
                self.release_stages().await;
                self.indexer.stop_idle_workers().await;
            }
            _ => {}
        }
        may_take
    }

    /// One more than there are decoders, so that file I/O overlaps with decoding.
    fn max_images(&self) -> usize {
        self.indexer.decode_workers() + 1
    }

    fn count(&self, is_counted: impl Fn(&RunningJob) -> bool) -> usize {
        self.running.values().filter(|job| is_counted(job)).count()
    }

    /// Takes images that are not visible, and images that older decoders read. While images of older decoders use up all
    /// tasks, images that are not visible get as many additional tasks.
    async fn take_images(&mut self) {
        let images = self.count(|job| matches!(job, RunningJob::Image(_)));
        let outdated = self.count(|job| matches!(job, RunningJob::OutdatedImage(_)));
        let (room, decoder_version) = match self.max_images().saturating_sub(images + outdated) {
            // Version 0 leases only images that are not visible: no image is queued for decoders of version 0.
            0 => (self.max_images().saturating_sub(images), 0),
            room => (room, media::DECODER_VERSION),
        };
        if room == 0 {
            return;
        }
        for job in self.lease_images(room, decoder_version).await {
            let (indexer, worker) = (self.indexer.clone(), self.worker.clone());
            let running =
                if is_outdated(&job) { RunningJob::OutdatedImage(job.id) } else { RunningJob::Image(job.id) };
            self.spawn(running, async move { indexer.run_job(job, &worker).await });
        }
    }

    /// Starts a round of planning, unless an image is being made visible; returns whether it did. If another process is
    /// the indexer, a round only opens the stages, and only once, because an import of this process waits for them.
    fn start_planning(&mut self, is_indexer: bool) -> bool {
        let mut running = RunningCounts::default();
        for job in self.running.values() {
            match job {
                RunningJob::Image(_) => return false,
                RunningJob::OutdatedImage(_) => running.outdated += 1,
                RunningJob::FullRendition(_) => running.full_renditions += 1,
                RunningJob::Embedding(_) => running.embeddings += 1,
                RunningJob::Text(_) => running.texts += 1,
            }
        }
        if matches!(self.planning, Planning::Absent) {
            let planner = Planner::new(self.indexer.clone(), self.worker.clone(), self.scope);
            self.planning = Planning::Idle(Box::new(planner));
        }
        if is_indexer {
            self.planning.start(async move |mut planner| {
                let plan = planner.plan(running).await;
                (planner, plan)
            })
        } else if !self.role.is_held() && std::mem::take(&mut self.watches_stages) {
            self.planning.start(async move |mut planner| {
                planner.watch_stages().await;
                (planner, Plan::default())
            })
        } else {
            false
        }
    }

    fn start_jobs(&mut self, plan: Plan) {
        for job in plan.jobs {
            let (indexer, worker) = (self.indexer.clone(), self.worker.clone());
            match job {
                PlannedJob::Stage(job, stage) => {
                    let running_job = match stage.work {
                        StageWork::Embedding { .. } => RunningJob::Embedding(job.id),
                        StageWork::Text => RunningJob::Text(job.id),
                    };
                    self.spawn(running_job, async move { indexer.run_stage_job(job, stage, &worker).await });
                }
                PlannedJob::FullRendition(job) => {
                    self.spawn(RunningJob::FullRendition(job.original), async move {
                        indexer.run_rendition_job(job, &worker).await;
                    });
                }
            }
        }
    }

    /// Releases the leases of processes of this machine that were killed, so that their jobs need not wait.
    async fn free_killed_workers(&self) {
        match self.indexer.parts.roles.free_ended_owners().await {
            Ok(0) => {}
            Ok(owners) => tracing::info!(owners, "leases of killed processes were released"),
            Err(error) => {
                tracing::warn!(%error, "leases of killed processes were not released; they will expire");
            }
        }
    }

    fn spawn(&mut self, job: RunningJob, work: impl Future<Output = ()> + Send + 'static) {
        // The task already runs in this process. Its lease had expired, for example because the machine was suspended,
        // and this process has leased the job again.
        if self.running.values().any(|running| *running == job) {
            return;
        }
        let task = self.tasks.spawn(work.instrument(job.span()));
        self.running.insert(task.id(), job);
    }

    async fn lease_images(&self, max: usize, decoder_version: u32) -> Vec<IndexJob> {
        let request = self.indexer.lease_request(&self.worker, max);
        let leased = self.indexer.parts.store.lease_jobs(request, decoder_version).await;
        leased.unwrap_or_else(|error| {
            tracing::warn!(%error, "the queue cannot be read");
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
        let parts = &self.indexer.parts;
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

    async fn renew_leases(&self) {
        let (mut images, mut originals, mut stage_jobs) = (Vec::new(), Vec::new(), Vec::new());
        for job in self.running.values() {
            match job {
                RunningJob::Image(job) | RunningJob::OutdatedImage(job) => images.push(*job),
                RunningJob::FullRendition(original) => originals.push(*original),
                RunningJob::Embedding(job) | RunningJob::Text(job) => stage_jobs.push(*job),
            }
        }
        let store = &self.indexer.parts.store;
        let until = self.indexer.parts.clock.now().plus_millis(LEASE_MS);
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
