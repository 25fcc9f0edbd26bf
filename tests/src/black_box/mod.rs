//! The service as its operator has it: the `server` program, as processes of their own, on a data folder.
//!
//! Nothing here depends on how the program divides its work among processes: a [`UsageMonitor`] counts all that descend from
//! the one that it was given. Figures of processes come from `/proc`, so they are zero but on Linux.
//!
//! [`StoreReader`] looks into the metadata file for what no command and no answer tells.

mod instance;
mod prober;
mod process;
mod reasons;
mod server;
mod store_reader;
mod usage;

pub use instance::{FailedFile, ImportOutcome, Instance, program};
pub use prober::{Latencies, Prober};
pub use process::{ProcessOutcome, run};
pub use reasons::Reasons;
pub use server::Server;
pub use store_reader::{ImageCounts, StoreReader, StoredCaptureTime, Thumb};
pub use usage::{Usage, UsageMonitor};

/// Whatever went wrong, in words.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Bytes in units of 10^6.
pub fn megabytes(bytes: u64) -> f64 {
    std::time::Duration::from_micros(bytes).as_secs_f64()
}
