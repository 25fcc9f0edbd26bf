//! The conformance suite that every adapter of the `storage` traits passes, and [`Seed`], which fills a store with test
//! data.
//!
//! An adapter runs the suite from its own tests: [`conformance_suite!`] defines one test for every case, each on a new
//! store.
//!
//! ```text
//! async fn fresh_store() -> (MyStore, TempDir) { /* open and migrate; the guard is dropped after the test */ }
//!
//! storage_conformance::conformance_suite!(fresh_store);
//! ```
//!
//! This crate knows no adapter, no SQL, no file and no clock. It tests the rules of the traits, and nothing that is
//! particular to one adapter.
//!
//! The most common change is a new case: write it as an `async fn`, named for the rule that it tests, in the module of
//! its topic under `cases`, and add its name to the list in `suite.rs`. The compiler reports a case that is missing in
//! the list as dead code.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a case fails by panicking")]

mod cases;
mod file_tree;
mod queries;
mod random;
mod run_case;
mod seed;
mod suite;
mod tests_of_cases;

pub use cases::album_orders::images_of_an_older_program_come_last;
pub use random::random_photos;
pub use run_case::run_case;
pub use seed::{
    DECODERS, FREE_WINDOW, NOW, ORIGINAL_BYTES, Photo, Seed, indexed, lease, original_blob, rendition_blob,
    sync_handle,
};
