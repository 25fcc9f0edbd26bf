//! Schedules jobs, runs them in workers, and retries after failures.

use std::{
    convert::Infallible,
    io,
    sync::{Arc, Once, Weak},
    time::Duration,
};

use bytes::Bytes;
use media::{DECODER_VERSION, ViewOptions};
use tokio::time::{self, Instant};

use crate::{
    Analysis, AnalysisTask, DecodeError, DecodeTask, DecodedPhoto, FileFault, FileSource, OcrStatus,
    PoolOptions, Protections, Urgency,
    budget::{Budget, Closed, Preempted, Reserves},
    exchange::{self, ExchangeError, WorkerJob},
    process::{JobLimits, TimeLimit, Worker},
    spawner::Spawner,
    view::ViewTask,
    wire::JobRequest,
    workers::{BusyGuard, Workers},
};

const UNIT_BYTES: u64 = 1 << 20;

/// The memory of a worker besides its photo: unshared code and data, and its heap.
const PROCESS_BYTES: u64 = 24 << 20;

/// A worker may exceed the estimate by a quarter and by this, because code, stacks and heap grow a little, too.
const SPARE_BYTES: u64 = 64 << 20;

/// Worker processes that decode photos. They are started on demand and reused. They end after an idle time, or with the
/// pool.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolLoad {
    /// Jobs that are being decoded.
    pub running: usize,
    /// Jobs that wait for a worker or for memory.
    pub waiting: usize,
}

/// A job waits for a slot, then for memory for the file, then for memory for decoding. The order is always the same, and a
/// job with memory for decoding waits for nothing else, so there is no deadlock.
#[derive(Debug)]
struct Shared {
    options: PoolOptions,
    slots: Budget,
    memory: Arc<Memory>,
    workers: Arc<Workers>,
    spawner: Spawner,
    logged: Once,
}

/// The memory that pools share.
#[derive(Debug)]
struct Memory {
    files: Budget,
    decoding: Budget,
}

impl Memory {
    fn new(bytes: u64) -> Arc<Self> {
        let files_bytes = bytes / 8;
        // Urgent jobs come first anyway. The reserves let most of them start before any other job ends.
        let budget = |bytes: u64| {
            let units = units(bytes);
            Budget::new(units, Reserves { interactive: units / 8, background: units / 4 })
        };
        Arc::new(Self { files: budget(files_bytes), decoding: budget(bytes - files_bytes) })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    /// Runs in a new worker, with all the memory that jobs of this urgency may use, so that no other such job is decoded meanwhile.
    Retry,
}

/// Why an attempt failed.
enum AttemptError<E> {
    /// A retry would not help.
    Final(DecodeError<E>),
    Worker(FileFault),
    /// A more urgent job needed the slot or the memory. The worker is killed.
    Preempted,
}

impl<E> From<Preempted> for AttemptError<E> {
    fn from(_: Preempted) -> Self {
        Self::Preempted
    }
}

impl<E> From<Closed> for DecodeError<E> {
    fn from(_: Closed) -> Self {
        Self::Unavailable(io::Error::other("the decoders are shut down"))
    }
}

impl<E> From<Closed> for AttemptError<E> {
    fn from(closed: Closed) -> Self {
        Self::Final(closed.into())
    }
}

impl Pool {
    /// Creates a pool without workers. Must be called within a runtime.
    ///
    /// # Errors
    /// There is no runtime, or a thread cannot be started.
    pub fn new(options: PoolOptions) -> io::Result<Self> {
        let memory = Memory::new(options.memory_bytes);
        Self::build(memory, options)
    }

    /// Creates a pool that shares the memory budget of this one. [`PoolOptions::memory_bytes`] of `options` is ignored.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_shared_memory(&self, options: PoolOptions) -> io::Result<Self> {
        Self::build(self.shared.memory.clone(), options)
    }

    fn build(memory: Arc<Memory>, options: PoolOptions) -> io::Result<Self> {
        let workers = u32::try_from(options.workers.max(1)).unwrap_or(u32::MAX);
        let slots = Budget::new(workers.saturating_add(2), Reserves { interactive: 1, background: 1 });
        let shared = Shared {
            memory,
            workers: Workers::new(usize::try_from(slots.total()).unwrap_or(usize::MAX)),
            spawner: Spawner::new(options.command.clone())?,
            slots,
            options,
            logged: Once::new(),
        };
        let shared = Arc::new(shared);
        tokio::spawn(stop_long_idle(Arc::downgrade(&shared), shared.options.idle_limit));
        Ok(Self { shared })
    }

    /// How many deferrable jobs can read text at once in the memory of the pool, at least one.
    pub fn text_capacity(&self) -> usize {
        let pixels = u64::from(ocr::SIDE_PX) * u64::from(ocr::SIDE_PX) * 3 / 4;
        let reading = units(ocr::memory_bytes(pixels) + PROCESS_BYTES);
        usize::try_from(self.shared.memory.decoding.share(Urgency::Deferrable) / reading)
            .unwrap_or(usize::MAX)
            .max(1)
    }

    /// Decodes a photo.
    ///
    /// If the worker crashes or exceeds a limit, it is replaced and the file is retried once in a new worker, without other
    /// background jobs. The second failure is the file's fault. Dropping the future kills the worker.
    pub async fn decode<S: FileSource>(
        &self,
        file: &S,
        task: &DecodeTask,
        urgency: Urgency,
    ) -> Result<DecodedPhoto, DecodeError<S::Error>> {
        self.run(file, task, urgency).await
    }

    /// Returns the RGB pixels of a photo, its text, or both. Retries as [`decode`](Self::decode) does.
    ///
    /// # Errors
    /// [`DecodeError`]. If text is requested and the workers cannot read it, [`DecodeError::Unavailable`] says why.
    pub async fn analyze<S: FileSource>(
        &self,
        file: &S,
        task: &AnalysisTask,
        urgency: Urgency,
    ) -> Result<Analysis, DecodeError<S::Error>> {
        self.run(file, task, urgency).await
    }

    /// Makes JPEGs of renditions: one of each in that order, or one sheet. Retries as [`decode`](Self::decode) does.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub async fn view(
        &self,
        files: &Vec<Bytes>,
        options: ViewOptions,
        urgency: Urgency,
    ) -> Result<Vec<Bytes>, DecodeError<Infallible>> {
        self.run(files, &ViewTask::new(files, options), urgency).await
    }

    async fn run<S: FileSource, J: WorkerJob>(
        &self,
        file: &S,
        job: &J,
        urgency: Urgency,
    ) -> Result<J::Outcome, DecodeError<S::Error>> {
        let pool = &*self.shared;
        let mut attempt = Attempt::First;
        loop {
            let slots = match (attempt, urgency) {
                // An interactive job needs only one slot, so that it does not wait for all slots.
                (Attempt::First, _) | (Attempt::Retry, Urgency::Interactive) => 1,
                (Attempt::Retry, _) => pool.slots.share(urgency),
            };
            let mut slots = pool.slots.take(slots, urgency).await?;
            let outcome = slots.run(pool.attempt(file, job, urgency, attempt)).await;
            match outcome.unwrap_or_else(|preempted| Err(preempted.into())) {
                Ok(outcome) => return Ok(outcome),
                Err(AttemptError::Final(error)) => return Err(error),
                Err(AttemptError::Preempted) => {}
                Err(AttemptError::Worker(fault)) if attempt == Attempt::First => {
                    tracing::warn!(?fault, "a decoder failed on a file; retrying it in a new one");
                    attempt = Attempt::Retry;
                }
                Err(AttemptError::Worker(fault)) => {
                    tracing::warn!(?fault, "a decoder failed on the same file again");
                    return Err(DecodeError::File(fault));
                }
            }
        }
    }

    /// The protections of the workers. Starts a worker if none is idle.
    ///
    /// # Errors
    /// No worker can be started.
    pub async fn protections(&self) -> io::Result<Protections> {
        self.with_worker(Urgency::Background, |worker| worker.protections).await
    }

    /// Whether the workers read text. Starts a worker if none is idle. A call does not prolong the worker's idle time. After that
    /// time, a new worker finds languages that were installed meanwhile.
    ///
    /// # Errors
    /// No worker can be started.
    pub async fn ocr_status(&self) -> io::Result<OcrStatus> {
        self.with_worker(Urgency::Deferrable, |worker| worker.ocr_status.clone()).await
    }

    /// Reads what a worker of this urgency reported when it started. The worker stays available to the next job of that urgency.
    async fn with_worker<T>(&self, urgency: Urgency, read: impl FnOnce(&Worker) -> T) -> io::Result<T> {
        let pool = &*self.shared;
        let closed = |_| io::Error::other("the decoders are shut down");
        let _slot = pool.slots.take(1, Urgency::Interactive).await.map_err(closed)?;
        let (guard, idle) = pool.workers.acquire(urgency);
        let worker = match idle {
            Some(worker) => worker,
            None => pool.start_worker(urgency).await?,
        };
        let value = read(&worker);
        guard.release_unused(worker);
        Ok(value)
    }

    /// Completes all jobs, refuses later ones, and stops all workers. If the pool is dropped without this, the workers are
    /// killed.
    pub async fn close(&self) {
        let pool = &*self.shared;
        let all = pool.slots.take(pool.slots.total(), Urgency::Deferrable).await;
        // Jobs that wait for memory hold a slot. This call holds all slots, so there are no such jobs.
        pool.slots.close();
        self.stop_idle_workers().await;
        drop(all);
    }

    /// The number of jobs that run or wait, at this moment.
    pub fn load(&self) -> PoolLoad {
        let (slots, for_slots) = self.shared.slots.load();
        let memory = &self.shared.memory;
        let for_memory = memory.files.load().1 + memory.decoding.load().1;
        let with_slot = usize::try_from(slots).unwrap_or(usize::MAX);
        PoolLoad { running: with_slot.saturating_sub(for_memory), waiting: for_slots + for_memory }
    }

    /// Stops the idle workers. The next job starts a new one.
    pub async fn stop_idle_workers(&self) {
        for worker in self.shared.workers.take_idle() {
            worker.shut_down().await;
        }
    }
}

impl Shared {
    async fn attempt<S: FileSource, J: WorkerJob>(
        &self,
        file: &S,
        job: &J,
        urgency: Urgency,
        attempt: Attempt,
    ) -> Result<J::Outcome, AttemptError<S::Error>> {
        let sidecar_bytes = job.sidecars().iter().map(|sidecar| sidecar.content.len() as u64).sum();
        let file_bytes = file.length().saturating_add(sidecar_bytes);
        let mut files = self.memory.files.take(units(file_bytes), urgency).await?;
        files.run(self.attempt_with(file, job, file_bytes, urgency, attempt)).await?
    }

    /// An attempt with memory for the file and its sidecars.
    async fn attempt_with<S: FileSource, J: WorkerJob>(
        &self,
        file: &S,
        job: &J,
        file_bytes: u64,
        urgency: Urgency,
        attempt: Attempt,
    ) -> Result<J::Outcome, AttemptError<S::Error>> {
        let chunks = file.open().await.map_err(|error| AttemptError::Final(DecodeError::Source(error)))?;

        let mut time_limit = TimeLimit::new(self.options.wall_limit);
        let started = self.start_job(job, file.length(), urgency, attempt, &mut time_limit).await;
        let (guard, mut worker) =
            started.map_err(|error| AttemptError::Final(DecodeError::Unavailable(error)))?;

        let mut limits = self.limits(file_bytes, attempt);
        let before = worker.limit(limits.memory_bytes, limits.cpu);
        let run = async {
            exchange::send(&mut worker, job.sidecars(), chunks, file.length(), &mut time_limit).await?;
            let plan = exchange::inspect(&mut worker, self.options.max_pixels, &mut time_limit).await?;
            let plan = match plan {
                Ok(plan) => plan,
                Err(refused) => return Ok(Err(refused)),
            };
            let needed = units(plan.memory_bytes.saturating_add(PROCESS_BYTES));
            let requested = match attempt {
                Attempt::First => needed,
                Attempt::Retry => needed.max(self.memory.decoding.share(urgency)),
            };
            let decoding = &self.memory.decoding;
            let mut memory =
                decoding.take(requested, urgency).await.map_err(|Closed| ExchangeError::Closed)?;
            limits = self.limits(file_bytes.saturating_add(plan.memory_bytes), attempt);
            worker.change_memory_limit(before, limits.memory_bytes);
            let finished = memory.run(job.finish(&mut worker, plan, &mut time_limit)).await;
            Ok(finished.map_err(|Preempted| ExchangeError::Preempted)??)
        };
        match run.await {
            Ok(outcome) => {
                self.finish(guard, worker);
                outcome.map_err(|fault| AttemptError::Final(DecodeError::File(fault)))
            }
            Err(ExchangeError::Worker(error)) => {
                Err(AttemptError::Worker(worker.stop_after_error(error, limits).await))
            }
            Err(ExchangeError::Source(error)) => Err(AttemptError::Final(DecodeError::Source(error))),
            Err(ExchangeError::SourceLength) => {
                Err(AttemptError::Final(DecodeError::SourceLength { expected: file.length() }))
            }
            Err(ExchangeError::Closed) => Err(Closed.into()),
            Err(ExchangeError::Preempted) => Err(Preempted.into()),
        }
    }

    /// A worker that has received the job's request. An idle worker may have ended meanwhile; then a new one is started.
    async fn start_job<J: WorkerJob>(
        &self,
        job: &J,
        file_bytes: u64,
        urgency: Urgency,
        attempt: Attempt,
        time_limit: &mut TimeLimit,
    ) -> io::Result<(BusyGuard, Worker)> {
        let max_pixels = self.options.max_pixels;
        let request = JobRequest { file_bytes, max_pixels, spec: job.spec(&self.options) };
        let (guard, idle) = self.workers.acquire(urgency);
        if attempt == Attempt::First
            && let Some(mut worker) = idle
        {
            if let Err(error) = check_ocr(&worker, job) {
                guard.release_unused(worker);
                return Err(error);
            }
            if exchange::send_request(&mut worker, &request, time_limit).await.is_ok() {
                return Ok((guard, worker));
            }
        }
        let mut worker = self.start_worker(urgency).await?;
        if let Err(error) = check_ocr(&worker, job) {
            // The worker can do other jobs. After its idle time, a new worker may be able to read text.
            guard.release_unused(worker);
            return Err(error);
        }
        exchange::send_request(&mut worker, &request, time_limit).await?;
        Ok((guard, worker))
    }

    async fn start_worker(&self, urgency: Urgency) -> io::Result<Worker> {
        self.workers.make_room();
        let mut worker = Worker::start(self.spawner.spawn().await?, urgency).await?;
        // The time that it took to start is not idle time.
        worker.idle_since = Instant::now();
        self.logged.call_once(|| {
            tracing::debug!(decoder_version = DECODER_VERSION, protections = ?worker.protections, "decoder started");
            for missing in worker.protections.missing() {
                tracing::warn!("{missing}");
            }
            match &worker.ocr_status {
                OcrStatus::Off => {}
                OcrStatus::Unavailable { reason, .. } => tracing::warn!("text in photos is not read: {reason}"),
                OcrStatus::Ready { version, languages, missing, .. } => {
                    tracing::debug!(version, ?languages, ?missing, "text in photos is read by Tesseract");
                }
            }
        });
        Ok(worker)
    }

    /// Keeps a worker for the next job, unless it has done enough jobs or grown too large.
    fn finish(&self, guard: BusyGuard, mut worker: Worker) {
        worker.jobs += 1;
        if worker.jobs < self.options.jobs_per_worker && !worker.has_grown() {
            guard.release(worker);
        }
    }

    fn limits(&self, needed_bytes: u64, attempt: Attempt) -> JobLimits {
        let memory_bytes = needed_bytes.saturating_add(needed_bytes / 4).saturating_add(SPARE_BYTES);
        let memory_bytes = match attempt {
            Attempt::First => memory_bytes,
            Attempt::Retry => memory_bytes.max(u64::from(self.memory.decoding.total()) * UNIT_BYTES),
        };
        JobLimits { wall: self.options.wall_limit, cpu: self.options.cpu_limit, memory_bytes }
    }
}

/// Fails if the job needs OCR and the worker has none.
fn check_ocr(worker: &Worker, job: &impl WorkerJob) -> io::Result<()> {
    match &worker.ocr_status {
        _ if !job.reads_text() => Ok(()),
        OcrStatus::Ready { .. } => Ok(()),
        OcrStatus::Off => Err(io::Error::other("the decoders were started without OCR")),
        OcrStatus::Unavailable { reason, .. } => {
            Err(io::Error::other(format!("text in photos is not read: {reason}")))
        }
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

/// Stops workers that have been idle for `limit`, as long as the pool exists.
async fn stop_long_idle(pool: Weak<Shared>, limit: Duration) {
    let interval = limit.clamp(Duration::from_millis(10), Duration::from_secs(10));
    loop {
        time::sleep(interval).await;
        let Some(shared) = pool.upgrade() else { return };
        let idle = shared.workers.take_long_idle(limit);
        drop(shared);
        for worker in idle {
            worker.shut_down().await;
        }
    }
}
