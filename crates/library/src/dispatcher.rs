//! Takes jobs from the queues while there is room for them, and keeps their leases alive.

use std::{collections::HashMap, sync::Arc, time::Duration};

use domain::ContentHash;
use keys::new_id;
use storage::{Job, JobId, LeaseRequest, RenditionJob};
use tokio::{
    sync::watch,
    task::{self, JoinError, JoinHandle, JoinSet},
    time,
};

use crate::Library;

/// How long a worker may hold a job without a sign of life, and how often it gives one.
const LEASE_MS: i64 = 15_000;
const RENEWAL: Duration = Duration::from_secs(5);
/// How often the queue is looked at for jobs that another process added.
const POLL: Duration = Duration::from_secs(1);
/// How often a job may be leased before it is given up: each time the process died over it.
const MAX_ATTEMPTS: u32 = 10;
/// How many images that older decoders read are queued again at once.
const OUTDATED_AT_ONCE: u32 = 500;

/// How much a process works on what is queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexingScope {
    /// Makes images visible: for a process that ends when they are.
    Images,
    /// When no image waits, makes full renditions before somebody asks for them, and reads again what older decoders
    /// read: for a process that stays.
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
    pub fn start_indexing(&self, scope: IndexingScope) -> Result<Indexing, keys::RandomFailed> {
        let worker: Arc<str> = new_id(self.random())?.into();
        let (stop, stopped) = watch::channel(false);
        let dispatcher = Dispatcher {
            library: self.clone(),
            worker,
            scope,
            tasks: JoinSet::new(),
            at_work: HashMap::new(),
            some_are_outdated: scope == IndexingScope::Everything,
        };
        Ok(Indexing { stop, dispatcher: tokio::spawn(dispatcher.run(stopped)) })
    }
}

/// What a task is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Image(JobId),
    FullRendition(ContentHash),
}

struct Dispatcher {
    library: Library,
    worker: Arc<str>,
    scope: IndexingScope,
    tasks: JoinSet<()>,
    at_work: HashMap<task::Id, Held>,
    some_are_outdated: bool,
}

impl Dispatcher {
    async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        self.retry_failed().await;
        let mut renewal = time::interval(RENEWAL);
        while !*stopped.borrow() {
            while let Some(ended) = self.tasks.try_join_next_with_id() {
                self.note_end(ended);
            }
            self.take_jobs().await;
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
        let images_at_work = self.at_work.values().any(|held| matches!(held, Held::Image(_)));
        if self.scope == IndexingScope::Images || images_at_work {
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

    async fn lease_images(&self, max: usize) -> Vec<Job> {
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

    async fn renew(&self) {
        let (mut images, mut originals) = (Vec::new(), Vec::new());
        for held in self.at_work.values() {
            match held {
                Held::Image(job) => images.push(*job),
                Held::FullRendition(original) => originals.push(*original),
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
    }
}
