//! Configuration of a pool.

use std::{ffi::OsString, io, path::PathBuf, time::Duration};

/// The command that starts a worker: a program that calls [`run_worker`](crate::run_worker) before anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// All environment variables of the worker, except settings of the memory allocator and of Tesseract, which are added. Decoders
    /// may need `LD_LIBRARY_PATH`.
    pub environment: Vec<(OsString, OsString)>,
}

impl WorkerCommand {
    /// This program with other arguments.
    ///
    /// # Errors
    /// The path of this program cannot be determined.
    pub fn this_program(args: impl IntoIterator<Item = impl Into<OsString>>) -> io::Result<Self> {
        // This link refers to the running file even after an upgrade has replaced it.
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe()?
        };
        Ok(Self { program, args: args.into_iter().map(Into::into).collect(), environment: Vec::new() })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolOptions {
    /// The command that starts a worker.
    pub command: WorkerCommand,
    /// How many photos are decoded at once, at least 1. In addition, one worker is reserved for interactive jobs, and another for
    /// background or interactive jobs.
    pub workers: usize,
    /// The memory budget of all workers for photos, in bytes: an eighth for files, the rest for decoding. A photo that needs
    /// more is decoded alone.
    pub memory_bytes: u64,
    /// The largest accepted picture, in pixels.
    pub max_pixels: u64,
    /// Time limit for a photo, without the time spent waiting for memory or for the file's bytes.
    pub wall_limit: Duration,
    /// CPU time limit for a photo, in whole seconds, at least 1. Linux only.
    pub cpu_limit: Duration,
    /// Time limit for reading text. The text that was read by then is kept. Must be well below the two limits above, which
    /// kill the worker.
    pub ocr_limit: Duration,
    /// A worker is replaced after this number of photos. With 1, every photo has its own process, so that a malicious file
    /// cannot affect another photo.
    pub jobs_per_worker: u32,
    /// An idle worker is stopped after this time.
    pub idle_limit: Duration,
}

impl PoolOptions {
    /// Two workers, 512 MiB, 200 megapixels, 120 s, 60 s of CPU time, 30 s for OCR, 500 photos per worker, 30 s idle.
    pub fn new(command: WorkerCommand) -> Self {
        Self {
            command,
            workers: 2,
            memory_bytes: 512 << 20,
            max_pixels: media::Limits::default().max_pixels,
            wall_limit: Duration::from_secs(120),
            cpu_limit: Duration::from_secs(60),
            ocr_limit: Duration::from_secs(30),
            jobs_per_worker: 500,
            idle_limit: Duration::from_secs(30),
        }
    }

    /// Defaults for workers with OCR: one worker, and 120 s idle because it takes long to start.
    pub fn ocr(command: WorkerCommand) -> Self {
        Self { workers: 1, idle_limit: Duration::from_secs(120), ..Self::new(command) }
    }
}
