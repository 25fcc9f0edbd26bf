//! Which job runs when, in which worker, and what becomes of it.

use std::{
    io,
    sync::{Arc, Once, Weak},
    time::Duration,
};

use media::DECODER_VERSION;
use tokio::time::{self, Instant};

use crate::{
    Analysis, AnalysisTask, DecodeError, DecodeTask, DecodedPhoto, FileFault, FileSource, OcrStatus,
    PoolOptions, Protections, Urgency,
    budget::{Budget, Closed},
    exchange::{self, Interrupted, Job},
    nursery::Nursery,
    process::{Bounds, Patience, Worker},
    staff::{Duty, Staff},
    wire::Request,
};

/// Memory is accounted in these units.
const UNIT_BYTES: u64 = 1 << 20;

/// What a worker holds besides a photo: its code and data, as far as it does not share them, and its heap.
const PROCESS_BYTES: u64 = 24 << 20;

/// What a worker may take beyond the estimate, besides a quarter of that: code, stacks and heap grow a little, too.
const SPARE_BYTES: u64 = 64 << 20;

/// Worker processes that decode photos. They start as they are needed, are used again, and end when they have had
/// nothing to do for a while, or with the pool.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

/// Jobs wait for a slot, then for memory for the file, then for memory for decoding, always in this order: whoever
/// has memory for decoding waits for nobody, so nobody waits in a circle.
#[derive(Debug)]
struct Shared {
    options: PoolOptions,
    slots: Budget,
    memory: Arc<Memory>,
    staff: Arc<Staff>,
    nursery: Nursery,
    noted: Once,
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
        // Interactive jobs come first in any case: what is kept for them decides how soon they begin.
        let budget = |bytes: u64| Budget::new(units(bytes), units(bytes) / 8);
        Arc::new(Self { files: budget(files_bytes), decoding: budget(bytes - files_bytes) })
    }
}

/// Whether a file has been tried before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    /// In a fresh worker, with all the memory that background work can have, and with no background work beside it.
    Alone,
}

/// How an attempt ended without a picture.
enum Failed<E> {
    /// That is it.
    For(DecodeError<E>),
    /// The worker came to grief.
    Died(FileFault),
}

impl<E> From<Closed> for DecodeError<E> {
    fn from(_: Closed) -> Self {
        Self::Unavailable(io::Error::other("the decoders are shut down"))
    }
}

impl<E> From<Closed> for Failed<E> {
    fn from(closed: Closed) -> Self {
        Self::For(closed.into())
    }
}

impl Pool {
    /// Makes a pool without any worker yet. To be called within a runtime.
    ///
    /// # Errors
    /// There is no runtime, or no thread can be started.
    pub fn new(options: PoolOptions) -> io::Result<Self> {
        let memory = Memory::new(options.memory_bytes);
        Self::within(memory, options)
    }

    /// Makes another pool whose workers take their memory from the budget of this one;
    /// [`PoolOptions::memory_bytes`] of its own options does not count.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_shared_memory(&self, options: PoolOptions) -> io::Result<Self> {
        Self::within(self.shared.memory.clone(), options)
    }

    fn within(memory: Arc<Memory>, options: PoolOptions) -> io::Result<Self> {
        let slots =
            Budget::new(u32::try_from(options.workers.max(1)).unwrap_or(u32::MAX - 1).saturating_add(1), 1);
        let shared = Shared {
            memory,
            staff: Staff::new(usize::try_from(slots.total()).unwrap_or(usize::MAX)),
            nursery: Nursery::new(options.command.clone())?,
            slots,
            options,
            noted: Once::new(),
        };
        let shared = Arc::new(shared);
        tokio::spawn(dismiss_idle(Arc::downgrade(&shared), shared.options.idle_limit));
        Ok(Self { shared })
    }

    /// Decodes a photo.
    ///
    /// A worker that crashes over a file, or meets a limit, is replaced, and the file is tried once more in a fresh
    /// one, without background work beside it; only then it counts as the file's fault. Whoever drops the future
    /// ends the worker.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub async fn decode<S: FileSource>(
        &self,
        file: &S,
        task: &DecodeTask,
        urgency: Urgency,
    ) -> Result<DecodedPhoto, DecodeError<S::Error>> {
        self.run(file, task, urgency).await
    }

    /// Looks at a photo, in the same way: gives its plain pixels, its words, or both.
    ///
    /// # Errors
    /// [`DecodeError`]. When words are to be read and the workers cannot, [`DecodeError::Unavailable`] says why.
    pub async fn analyze<S: FileSource>(
        &self,
        file: &S,
        look: &AnalysisTask,
        urgency: Urgency,
    ) -> Result<Analysis, DecodeError<S::Error>> {
        self.run(file, look, urgency).await
    }

    async fn run<S: FileSource, J: Job>(
        &self,
        file: &S,
        job: &J,
        urgency: Urgency,
    ) -> Result<J::Outcome, DecodeError<S::Error>> {
        let pool = &*self.shared;
        let first = {
            let _slot = pool.slots.take(1, urgency).await?;
            pool.attempt(file, job, urgency, Attempt::First).await
        };
        let fault = match first {
            Ok(outcome) => return Ok(outcome),
            Err(Failed::For(error)) => return Err(error),
            Err(Failed::Died(fault)) => fault,
        };
        tracing::warn!(?fault, "a decoder failed over a file, which is tried once more, alone");
        let slots = match urgency {
            Urgency::Background => pool.slots.unreserved(),
            // Whoever waits for another photo must not wait for the background work to pause.
            Urgency::Interactive => 1,
        };
        let _slots = pool.slots.take(slots, urgency).await?;
        match pool.attempt(file, job, urgency, Attempt::Alone).await {
            Ok(outcome) => Ok(outcome),
            Err(Failed::For(error)) => Err(error),
            Err(Failed::Died(fault)) => {
                tracing::warn!(?fault, "a decoder failed over the same file again");
                Err(DecodeError::File(fault))
            }
        }
    }

    /// Starts a worker, if none is idle, and tells what holds it back.
    ///
    /// # Errors
    /// No worker can be started.
    pub async fn protections(&self) -> io::Result<Protections> {
        self.ask(|worker| worker.protections).await
    }

    /// Starts a worker, if none is idle, and tells whether it reads words. Asking is no work: however often it is
    /// done, the worker ends when it has been idle for long, and the next one sees what was installed meanwhile.
    ///
    /// # Errors
    /// No worker can be started.
    pub async fn ocr_status(&self) -> io::Result<OcrStatus> {
        self.ask(|worker| worker.text_reading.clone()).await
    }

    async fn ask<T>(&self, question: impl FnOnce(&Worker) -> T) -> io::Result<T> {
        let pool = &*self.shared;
        let closed = |_| io::Error::other("the decoders are shut down");
        let _slot = pool.slots.take(1, Urgency::Interactive).await.map_err(closed)?;
        // One for background work, so that the next such job has it and not another one its memory.
        let (duty, idle) = pool.staff.call(Urgency::Background);
        let worker = match idle {
            Some(worker) => worker,
            None => pool.hire(Urgency::Background).await?,
        };
        let answer = question(&worker);
        duty.back(worker);
        Ok(answer)
    }

    /// Finishes the jobs that run, turns away those that wait, and ends all workers. Without it, workers are killed
    /// as the pool is dropped.
    pub async fn close(&self) {
        let pool = &*self.shared;
        let all = pool.slots.take(pool.slots.total(), Urgency::Interactive).await;
        // Jobs wait for memory with a slot in hand, and all slots are here.
        pool.slots.close();
        self.stop_idle_workers().await;
        drop(all);
    }

    /// Ends the workers that have nothing to do. The next job starts another.
    pub async fn stop_idle_workers(&self) {
        for worker in self.shared.staff.all_idle() {
            worker.dismiss().await;
        }
    }
}

impl Shared {
    async fn attempt<S: FileSource, J: Job>(
        &self,
        file: &S,
        job: &J,
        urgency: Urgency,
        attempt: Attempt,
    ) -> Result<J::Outcome, Failed<S::Error>> {
        let sidecar_bytes = job.sidecars().iter().map(|sidecar| sidecar.content.len() as u64).sum();
        let file_bytes = file.length().saturating_add(sidecar_bytes);
        let _files = self.memory.files.take(units(file_bytes), urgency).await?;
        let chunks = file.open().await.map_err(|error| Failed::For(DecodeError::Source(error)))?;

        let mut patience = Patience::new(self.options.wall_limit);
        let started = self.start(job, file.length(), urgency, attempt, &mut patience).await;
        let (duty, mut worker) = started.map_err(|error| Failed::For(DecodeError::Unavailable(error)))?;

        let mut bounds = self.bounds(file_bytes, attempt);
        let before = worker.bound(bounds.memory_bytes, bounds.cpu);
        let worker_and_file = async {
            exchange::send(&mut worker, job.sidecars(), chunks, file.length(), &mut patience).await?;
            let plan = exchange::inspect(&mut worker, self.options.max_pixels, &mut patience).await?;
            let plan = match plan {
                Ok(plan) => plan,
                Err(refused) => return Ok(Err(refused)),
            };
            let needed = units(plan.memory_bytes.saturating_add(PROCESS_BYTES));
            let wanted = match attempt {
                Attempt::First => needed,
                Attempt::Alone => needed.max(self.memory.decoding.unreserved()),
            };
            let decoding = &self.memory.decoding;
            let _memory = decoding.take(wanted, urgency).await.map_err(|Closed| Interrupted::Closed)?;
            bounds = self.bounds(file_bytes.saturating_add(plan.memory_bytes), attempt);
            worker.bound_memory(before, bounds.memory_bytes);
            Ok(job.finish(&mut worker, plan, &mut patience).await?)
        };
        match worker_and_file.await {
            Ok(outcome) => {
                self.finish(duty, worker);
                outcome.map_err(|fault| Failed::For(DecodeError::File(fault)))
            }
            Err(Interrupted::Trouble(trouble)) => Err(Failed::Died(worker.blame(trouble, bounds).await)),
            Err(Interrupted::Source(error)) => Err(Failed::For(DecodeError::Source(error))),
            Err(Interrupted::SourceLength) => {
                Err(Failed::For(DecodeError::SourceLength { expected: file.length() }))
            }
            Err(Interrupted::Closed) => Err(Closed.into()),
        }
    }

    /// A worker that knows what comes. An idle one may have ended meanwhile: then it is a new one.
    async fn start<J: Job>(
        &self,
        job: &J,
        file_bytes: u64,
        urgency: Urgency,
        attempt: Attempt,
        patience: &mut Patience,
    ) -> io::Result<(Duty, Worker)> {
        let max_pixels = self.options.max_pixels;
        let request = Request { file_bytes, max_pixels, order: job.order(&self.options) };
        let (duty, idle) = self.staff.call(urgency);
        if attempt == Attempt::First
            && let Some(mut worker) = idle
        {
            if let Err(unable) = able(&worker, job) {
                duty.back(worker);
                return Err(unable);
            }
            if exchange::begin(&mut worker, &request, patience).await.is_ok() {
                return Ok((duty, worker));
            }
        }
        let mut worker = self.hire(urgency).await?;
        if let Err(unable) = able(&worker, job) {
            // It waits for a job that it can do, or until it has been idle for so long that the next one is worth a try.
            duty.back(worker);
            return Err(unable);
        }
        exchange::begin(&mut worker, &request, patience).await?;
        Ok((duty, worker))
    }

    async fn hire(&self, urgency: Urgency) -> io::Result<Worker> {
        self.staff.make_room();
        let mut worker = Worker::welcome(self.nursery.start().await?, urgency).await?;
        // It was not idle while it started.
        worker.idle_since = Instant::now();
        self.noted.call_once(|| {
            tracing::debug!(decoder_version = DECODER_VERSION, protections = ?worker.protections, "decoders start");
            for missing in worker.protections.missing() {
                tracing::warn!("{missing}");
            }
            match &worker.text_reading {
                OcrStatus::Off => {}
                OcrStatus::Unavailable { reason, .. } => tracing::warn!("words are not read: {reason}"),
                OcrStatus::Ready { version, languages, missing, .. } => {
                    tracing::debug!(version, ?languages, ?missing, "words are read by Tesseract");
                }
            }
        });
        Ok(worker)
    }

    /// Keeps a worker for the next job, unless it has done enough or holds too much.
    fn finish(&self, duty: Duty, mut worker: Worker) {
        worker.jobs += 1;
        if worker.jobs < self.options.jobs_per_worker && !worker.is_bloated() {
            duty.off(worker);
        }
    }

    /// The bounds of a job that needs so much memory.
    fn bounds(&self, needed_bytes: u64, attempt: Attempt) -> Bounds {
        let memory_bytes = needed_bytes.saturating_add(needed_bytes / 4).saturating_add(SPARE_BYTES);
        let memory_bytes = match attempt {
            Attempt::First => memory_bytes,
            Attempt::Alone => memory_bytes.max(u64::from(self.memory.decoding.total()) * UNIT_BYTES),
        };
        Bounds { wall: self.options.wall_limit, cpu: self.options.cpu_limit, memory_bytes }
    }
}

/// Whether this worker can do that.
fn able(worker: &Worker, job: &impl Job) -> io::Result<()> {
    match &worker.text_reading {
        _ if !job.reads_text() => Ok(()),
        OcrStatus::Ready { .. } => Ok(()),
        OcrStatus::Off => Err(io::Error::other("the decoders were not started to read words")),
        OcrStatus::Unavailable { reason, .. } => {
            Err(io::Error::other(format!("words are not read: {reason}")))
        }
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

/// Ends workers that have had nothing to do for a while, as long as there is a pool.
async fn dismiss_idle(pool: Weak<Shared>, limit: Duration) {
    let pause = limit.clamp(Duration::from_millis(10), Duration::from_secs(10));
    loop {
        time::sleep(pause).await;
        let Some(shared) = pool.upgrade() else { return };
        let idle = shared.staff.long_idle(limit);
        drop(shared);
        for worker in idle {
            worker.dismiss().await;
        }
    }
}
