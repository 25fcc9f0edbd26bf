//! Decodes photos in sandboxed worker processes.
//!
//! Photos are untrusted input, and decoders are large programs, partly written in C. Each photo is therefore decoded in a
//! worker process that can only compute, read the file from a pipe, and write the renditions to another. It can open no
//! file, reach no network and start no program. Its memory, CPU time and elapsed time are limited. A file that crashes its
//! decoder, loops forever or exhausts memory costs one worker and no other photo. The service validates everything that a
//! worker sends.
//!
//! Workers are reused, which saves a few milliseconds per photo. A malicious file that takes over its worker could
//! therefore falsify later photos in the same worker, within the limits of the validation. It could neither read nor
//! write the library. To prevent this, too, set [`PoolOptions::jobs_per_worker`] to 1.
//!
//! The service creates a [`Pool`]. Its own program, started with the arguments of [`WorkerCommand`], calls [`run_worker`]
//! before anything else. [`PoolOptions::workers`] and memory decide how many jobs run at once. Jobs have one of three
//! urgencies ([`Urgency`]); urgent jobs overtake others, and have a worker and part of the memory reserved for them. A deferrable job
//! that leaves too little for a more urgent one is stopped and starts again later. A photo that needs more than the whole memory
//! budget is decoded alone.
//!
//! There are three kinds of jobs: [`Pool::decode`] renders a new file, [`Pool::analyze`] returns the RGB pixels and the
//! text of a stored one, for search, and [`Pool::view`] makes JPEGs of several renditions. Text is read by workers that call [`run_ocr_worker`], in a pool of their own
//! ([`PoolOptions::ocr`]), because trained data need memory.
//!
//! To extract something new from files, add it to [`DecodeTask`] or [`AnalysisTask`], to the messages in `wire` (raise the
//! protocol version there), to `worker`, which does it, and to `response`, which validates the result. If a decoder needs
//! another system call, add it to `confinement/system_calls`.
//!
//! ```no_run
//! use bytes::Bytes;
//! use sandbox::{DecodeTask, Pool, PoolOptions, RequestedRenditions, Urgency, WorkerCommand};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Pool::new(PoolOptions::new(WorkerCommand::this_program(["decoder"])?))?;
//! let photo = Bytes::from(std::fs::read("photo.jpg")?);
//! let task = DecodeTask { renditions: RequestedRenditions::Displayable, read_metadata: None };
//! let decoded = pool.decode(&photo, &task, Urgency::Background).await?;
//! println!("{:?}", decoded.rendered.full_size);
//! # Ok(())
//! # }
//! ```

mod analysis;
mod budget;
mod confinement;
mod error;
mod exchange;
mod fuzz;
mod jpeg;
mod limits;
mod options;
mod pool;
mod process;
mod response;
mod spawner;
mod task;
mod view;
mod webp;
mod wire;
mod worker;
mod workers;

pub use analysis::{Analysis, AnalysisTask, MAX_ANALYSIS_SIDE_PX};
pub use confinement::{Protections, confine};
pub use error::{DecodeError, FileFault, MAX_REASON_CHARS, RefusalKind, TimeKind};
#[doc(hidden)]
pub use fuzz::check_worker_output;
pub use ocr::{InvalidLanguages, Languages, OCR_VERSION, OcrStatus};
pub use options::{PoolOptions, WorkerCommand};
pub use pool::{Pool, PoolLoad};
pub use task::{DecodeTask, DecodedPhoto, FileSource, RequestedRenditions, Urgency};
pub use worker::{run_ocr_worker, run_worker};
