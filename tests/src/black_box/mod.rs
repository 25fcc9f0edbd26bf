//! Runs the `server` program as a process on a data folder, as an operator does.
//!
//! A [`UsageMonitor`] measures a whole process tree, however the program divides its work among processes. It reads
//! `/proc`, so its figures are zero except on Linux.
//!
//! [`StoreReader`] reads from the metadata file what no command or response contains.

mod instance;
mod prober;
mod process;
mod reasons;
mod server;
mod store_reader;
mod usage;

pub use instance::{EMAIL, FailedFile, ImportOutcome, Instance, program};
pub use prober::{Latencies, Prober};
pub use process::{ProcessOutcome, run};
pub use reasons::Reasons;
pub use server::Server;
pub use store_reader::{ImageCounts, StoreReader, StoredCaptureTime, Thumb};
pub use usage::{Usage, UsageMonitor};

/// Any error, for programs that only print it.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Converts bytes to megabytes (10^6 bytes).
pub fn megabytes(bytes: u64) -> f64 {
    std::time::Duration::from_micros(bytes).as_secs_f64()
}
