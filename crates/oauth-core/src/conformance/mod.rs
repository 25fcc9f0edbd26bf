//! A test suite for every [`Store`](crate::Store).
//!
//! An adapter runs it from its own tests: [`conformance_suite!`](crate::conformance_suite) makes one test of each case,
//! on a fresh store, in one module per topic. `Cargo.toml`:
//!
//! ```toml
//! [dev-dependencies]
//! oauth-core = { version = "0.1", features = ["conformance"] }
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
//! ```
//!
//! `tests/store.rs`, complete:
//!
//! ```
//! use oauth_core::MemoryStore; // Your store.
//!
//! /// A fresh store, and a guard that is dropped after the case: a temporary folder, a test database, or `()`.
//! async fn fresh_store() -> (MemoryStore, ()) {
//!     (MemoryStore::new(), ())
//! }
//!
//! oauth_core::conformance_suite!(fresh_store);
//! ```
//!
//! Run it with `cargo test --test store`.
//!
//! The cases use only the users in [`SUBJECTS`]; a store with a table of users creates them beforehand. Some cases
//! grant access to clients that were never registered.
//!
//! To add a case, write an `async fn` named after the rule in its topic's module under `cases`, and add its name to the
//! list in `suite.rs`. The compiler reports a case that is missing in the list as dead code.
#![expect(clippy::unwrap_used, reason = "a case fails by panicking")]

mod cases;
mod fixture;
mod suite;

pub use fixture::SUBJECTS;
pub use suite::run_case;
