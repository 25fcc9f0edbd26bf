//! The thread that starts worker processes.

use std::{io, process::Stdio, sync::mpsc, thread};

use tokio::{
    process::{Child, Command},
    runtime::Handle,
    sync::oneshot,
};

use crate::WorkerCommand;

/// Starts worker processes from one thread that lives as long as the pool. The kernel kills a worker when the *thread*
/// that started it ends, and the threads of a runtime may end at any time.
#[derive(Debug)]
pub(crate) struct Spawner {
    requests: mpsc::Sender<SpawnRequest>,
}

type SpawnRequest = oneshot::Sender<io::Result<Child>>;

impl Spawner {
    /// Must be called within a runtime.
    ///
    /// # Errors
    /// There is no runtime, or the thread cannot be started.
    pub(crate) fn new(command: WorkerCommand) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (requests, incoming) = mpsc::channel::<SpawnRequest>();
        thread::Builder::new().name("decoder-spawner".into()).spawn(move || {
            let _runtime = runtime.enter();
            for request in incoming {
                // If the caller's future was dropped, sending fails and drops the worker, which kills it.
                let _ = request.send(spawn(&command));
            }
        })?;
        Ok(Self { requests })
    }

    /// Starts a worker process. It is killed when it is dropped.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) async fn spawn(&self) -> io::Result<Child> {
        let (request, child) = oneshot::channel();
        let ended = || io::Error::other("the thread that starts decoders has ended");
        self.requests.send(request).map_err(|_| ended())?;
        child.await.map_err(|_| ended())?
    }
}

/// 32 MiB: about what a photo of 12 megapixels needs.
const KEPT_HEAP_BYTES: &str = "33554432";

fn spawn(command: &WorkerCommand) -> io::Result<Child> {
    Command::new(&command.program)
        .args(&command.args)
        .env_clear()
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        // For glibc: one heap instead of one per thread. It keeps the memory that most photos need, so that the kernel does
        // not map the same pages for each photo, and returns the rest.
        .env("MALLOC_ARENA_MAX", "1")
        .env("MALLOC_TRIM_THRESHOLD_", KEPT_HEAP_BYTES)
        .env("MALLOC_MMAP_THRESHOLD_", KEPT_HEAP_BYTES)
        // Tesseract's threads cost more than they gain.
        .env("OMP_THREAD_LIMIT", "1")
        .current_dir("/")
        // Signals of the service's terminal must not reach its workers.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}
