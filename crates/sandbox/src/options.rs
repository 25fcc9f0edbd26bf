//! How a pool is set up.

use std::{ffi::OsString, io, path::PathBuf, time::Duration};

/// How a worker is started: a program that calls [`run_worker`](crate::run_worker) before anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// What makes it a worker.
    pub args: Vec<OsString>,
    /// All that its environment holds besides settings of the memory allocator; for example `LD_LIBRARY_PATH`,
    /// where decoders are loaded from it.
    pub environment: Vec<(OsString, OsString)>,
}

impl WorkerCommand {
    /// The program that runs now, with other arguments.
    ///
    /// # Errors
    /// The system does not say which program it is.
    pub fn this_program(args: impl IntoIterator<Item = impl Into<OsString>>) -> io::Result<Self> {
        // This link leads to the very file that runs, also after an upgrade has put another one in its place.
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe()?
        };
        Ok(Self { program, args: args.into_iter().map(Into::into).collect(), environment: Vec::new() })
    }
}

/// How a pool works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolOptions {
    /// How a worker is started.
    pub command: WorkerCommand,
    /// How many photos are decoded at once, at least 1. One worker more is kept for interactive jobs.
    pub workers: usize,
    /// The memory that all workers together may take for photos, in bytes: an eighth for the files, the rest for
    /// decoding them. A photo that needs more is decoded alone.
    pub memory_bytes: u64,
    /// The most pixels that a picture may have.
    pub max_pixels: u64,
    /// How long a worker may take for a photo, waiting for memory and for the file's bytes not counted.
    pub wall_limit: Duration,
    /// How long processors may work on a photo; counted in whole seconds, at least 1. Linux only.
    pub cpu_limit: Duration,
    /// After this time no further word of a photo is read, and those that were read are kept; well below the two limits
    /// above, which end the worker.
    pub ocr_limit: Duration,
    /// A worker is replaced after so many photos. With 1, every photo has a process of its own, and what a hostile
    /// file does to its worker cannot reach any other photo.
    pub jobs_per_worker: u32,
    /// A worker without work ends after this time.
    pub idle_limit: Duration,
}

impl PoolOptions {
    /// Two workers, 512 MiB, 200 megapixels, 120 s, 60 s of CPU time, 30 s for reading, 500 photos for each worker, 30 s
    /// idle.
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

    /// For workers that read words, which is work for one processor in the background: the same, but one worker, which
    /// stays for two minutes as it takes long to start.
    pub fn ocr(command: WorkerCommand) -> Self {
        Self { workers: 1, idle_limit: Duration::from_secs(120), ..Self::new(command) }
    }
}
