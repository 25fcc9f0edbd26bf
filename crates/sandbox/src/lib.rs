//! Photos decoded in worker processes that hold nothing and reach nothing.
//!
//! A photo is a file from a stranger, and decoders are large programs in part written in C. So each photo is decoded
//! in a process of its own kind: it can compute, read the file that the service sends it through a pipe, and write
//! the renditions into another. It opens no file, reaches no network and starts no program; memory, processor time
//! and the time that goes by are bounded. A file that crashes its decoder, makes it run for ever, or makes it eat
//! memory costs that worker and no other photo. What a worker answers is checked before it is believed.
//!
//! Workers are used for one photo after another, which saves a few milliseconds each. So a hostile file that takes
//! its worker over, rather than crash it, could still falsify the photos that come after it there, within what
//! the checks let through, though neither read the library nor write to it.
//! [`PoolOptions::jobs_per_worker`] set to 1 closes that, too.
//!
//! The service has a [`Pool`]; its own program, started with the arguments of [`WorkerCommand`], calls
//! [`run_worker`] before anything else. How much runs at once is decided by [`PoolOptions::workers`] and by memory.
//! A job that somebody waits for ([`Urgency::Interactive`]) has a worker and an eighth of the memory kept for it and
//! overtakes those that nobody waits for. Only a photo that needs more than the whole budget makes everything else
//! wait, until it is done.
//!
//! There are two jobs: [`Pool::decode`] renders a file as it arrives, and [`Pool::look`] gives the plain pixels and the
//! words of one that is kept, for those who search. Words are read by workers that were started to,
//! [`run_ocr_worker`], in a pool of their own ([`PoolOptions::reading`]), as their trained data take memory.
//!
//! The commonest change is something new to ask of a file: add it to [`Task`] or [`Look`], to the messages in `wire` (and raise
//! the protocol's version there), to `worker` that does it, and to `answer` that checks what comes back. When a
//! decoder needs another system call, it is named in `confinement/system_calls`.
//!
//! ```no_run
//! use bytes::Bytes;
//! use sandbox::{Pool, PoolOptions, Task, Urgency, Wanted, WorkerCommand};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Pool::new(PoolOptions::new(WorkerCommand::this_program(["decoder"])?))?;
//! let photo = Bytes::from(std::fs::read("photo.jpg")?);
//! let task = Task { wanted: Wanted::Displayable, read_metadata: None };
//! let decoded = pool.decode(&photo, &task, Urgency::Background).await?;
//! println!("{:?}", decoded.rendered.full_size);
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]

mod answer;
mod budget;
mod confinement;
mod error;
mod exchange;
mod hearing;
mod languages;
mod limits;
mod look;
mod nursery;
mod options;
mod pool;
mod process;
mod reading;
mod staff;
mod task;
mod webp;
mod wire;
mod worker;

pub use confinement::{Protections, confine};
pub use error::{DecodeError, FileFault, MAX_REASON_CHARS, RefusalKind, TimeKind};
#[doc(hidden)]
pub use hearing::check_worker_output;
pub use languages::{InvalidLanguages, Languages, OcrStatus};
pub use look::{Analysis, AnalysisTask, MAX_ANALYSIS_SIDE_PX, RgbPicture};
pub use options::{PoolOptions, WorkerCommand};
pub use pool::Pool;
pub use reading::OCR_VERSION;
pub use task::{DecodeTask, DecodedPhoto, FileSource, RequestedRenditions, Urgency};
pub use worker::{run_ocr_worker, run_worker};
