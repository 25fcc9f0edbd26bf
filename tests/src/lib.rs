//! Tests of the whole service: [`TestApp`] serves the real HTTP surface on a real store, with a mock clock and seeded
//! randomness.
//!
//! A test calls the HTTP surface only through [`TestApp::get`], [`TestApp::post`] and similar methods. It fills the library
//! with [`TestApp::seed`] (many images at once, directly through the ports of the store) or [`TestApp::import`] (real files,
//! which are indexed).
//!
//! No test uses SQL or a handler, so its result holds for every HTTP client.
//!
//! The programs `bench`, `corpus` and `mutations` run the service as a separate process ([`black_box`]). [`mutations`]
//! creates broken files.
//!
//! The most common change is a new test: a `#[tokio::test(flavor = "multi_thread")]` in the module of its topic under
//! `tests/tests/api`, named after the rule that it tests, and that name in `tests/trace.toml`.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod account;
mod app;
pub mod black_box;
mod date_cases;
mod decoder;
mod log_watch;
pub mod mutations;
pub mod oauth;
mod raw;
mod redacted;
mod requests;
mod response;
mod seed;
mod stores;
pub mod tls;

use std::time::Duration;

pub use account::TestAccount;
pub use app::{START_TIME, TestApp, TestAppBuilder, secret};
pub use date_cases::{DATE_CASES_ADDED, DateCase, ExpectedTime, SidecarFile, date_cases};
pub use decoder::settings;
pub use redacted::redacted;
pub use response::TestResponse;
pub use seed::{SeedImage, fixture, fixtures};
pub use stores::Stack;

/// Ends a wait that hangs.
pub async fn within<T>(wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), wait).await.expect("it happens within a minute")
}
