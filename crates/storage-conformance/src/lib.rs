//! One suite of cases that every adapter of the `storage` ports passes, and the seeds that fill a store through
//! those ports.
//!
//! An adapter runs the suite from its own tests: [`conformance_suite!`] makes one test of every case, each on a
//! fresh store.
//!
//! ```text
//! async fn fresh_store() -> (MyStore, TempDir) { /* open and migrate; what is dropped with the test */ }
//!
//! storage_conformance::conformance_suite!(fresh_store);
//! ```
//!
//! This crate knows no adapter, no SQL, no file and no clock. It proves what the ports promise and nothing that
//! only one adapter could.
//!
//! The commonest change is a new case: write it as an `async fn` named for the rule that it proves in the topic's
//! module under `cases`, and add its name to the list in `suite.rs`; a case that is not in the list is dead code,
//! which the compiler reports.
#![deny(missing_docs)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a case fails by panicking")]

mod cases;
mod look;
mod random;
mod seed;
mod suite;

pub use random::{Random, random_photos};
pub use seed::{
    DECODERS, FREE_WINDOW, NOW, ORIGINAL_BYTES, Photo, Seed, indexed, lease, original_blob, rendition_blob,
};
pub use suite::run_case;
