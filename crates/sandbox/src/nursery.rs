//! The thread that starts workers.

use std::{io, process::Stdio, sync::mpsc, thread};

use tokio::{
    process::{Child, Command},
    runtime::Handle,
    sync::oneshot,
};

use crate::WorkerCommand;

/// Starts workers from one thread that lives as long as the pool. The kernel ends a worker when the *thread* that
/// started it ends, so a runtime's threads, which come and go, must not be the ones to do it.
#[derive(Debug)]
pub(crate) struct Nursery {
    wishes: mpsc::Sender<Wish>,
}

type Wish = oneshot::Sender<io::Result<Child>>;

impl Nursery {
    /// To be called within a runtime.
    ///
    /// # Errors
    /// There is no runtime, or no thread can be started.
    pub(crate) fn new(command: WorkerCommand) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (wishes, incoming) = mpsc::channel::<Wish>();
        thread::Builder::new().name("decoder-nursery".into()).spawn(move || {
            let _runtime = runtime.enter();
            for wish in incoming {
                // Nobody waits for it any more: the worker is ended as it is dropped.
                let _ = wish.send(start(&command));
            }
        })?;
        Ok(Self { wishes })
    }

    /// Starts a worker. It is killed when it is dropped.
    ///
    /// # Errors
    /// The system's.
    pub(crate) async fn start(&self) -> io::Result<Child> {
        let (wish, child) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts decoders has ended");
        self.wishes.send(wish).map_err(|_| gone())?;
        child.await.map_err(|_| gone())?
    }
}

/// 32 MiB: about what a photo of 12 megapixels takes.
const KEPT_HEAP_BYTES: &str = "33554432";

fn start(command: &WorkerCommand) -> io::Result<Child> {
    Command::new(&command.program)
        .args(&command.args)
        .env_clear()
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        // For glibc: one heap instead of one for each thread. It keeps what most photos take, so that the kernel
        // need not hand out the same pages for each of them, and gives back what is beyond that.
        .env("MALLOC_ARENA_MAX", "1")
        .env("MALLOC_TRIM_THRESHOLD_", KEPT_HEAP_BYTES)
        .env("MALLOC_MMAP_THRESHOLD_", KEPT_HEAP_BYTES)
        // Tesseract's threads cost more than they gain, and the other processors have work of their own.
        .env("OMP_THREAD_LIMIT", "1")
        .current_dir("/")
        // What a terminal sends to the service is not for its workers.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}
