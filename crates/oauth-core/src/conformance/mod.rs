//! A suite of cases that every [`Store`](crate::Store) passes.
//!
//! An adapter runs it from its own tests: [`conformance_suite!`](crate::conformance_suite) makes one test of every
//! case, each on a fresh store, in modules named for the topics.
//!
//! ```text
//! async fn fresh_store() -> (MyStore, TempDir) { /* open and migrate; what is dropped with the test */ }
//!
//! oauth_core::conformance_suite!(fresh_store);
//! ```
//!
//! The cases name users only by [`SUBJECTS`]: a store that knows its users has them made before a case begins. They
//! give grants to clients that they did not register, too.
//!
//! A new case is an `async fn` named for the rule that it proves, in its topic's module under `cases`, and its name
//! in the list in `suite.rs`; a case that is not in the list is dead code, which the compiler reports.
#![expect(clippy::unwrap_used, reason = "a case fails by panicking")]

mod cases;
mod random;
mod seed;
mod suite;

pub use seed::SUBJECTS;
pub use suite::run_case;
