//! The whole service in a test: [`TestApp`] serves the real surface on a real store, with a clock that only the test
//! moves and randomness from a seed.
//!
//! A flow touches the HTTP surface through [`TestApp::get`], [`TestApp::post`] and their like, and nowhere else; what
//! it needs in the library beforehand comes from [`TestApp::seed`] (many images at once, straight through the store's
//! ports) or [`TestApp::import`] (real files, indexed for real).
//!
//! No flow knows SQL or a handler: what it proves holds for whoever speaks HTTP.
//!
//! The programs `bench`, `corpus` and `mutations` run the service as a process of its own, by [`outside`], and
//! [`mutations`] makes broken files for it.
//!
//! The commonest change is a new flow: a `#[tokio::test(flavor = "multi_thread")]` in the module of its topic under
//! `tests/tests/api`, named as the rule it proves, and that name in `tests/trace.toml`.
#![deny(missing_docs)]
#![expect(clippy::unwrap_used, reason = "in a test, what cannot go on must fail")]

mod answer;
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
mod seed;

pub use answer::TestResponse;
pub use app::{START_TIME, TestAccount, TestApp, TestAppBuilder, secret};
pub use date_cases::{DATE_CASES_ADDED, DateCase, ExpectedTime, SidecarFile, date_cases};
pub use decoder::settings;
pub use redacted::redacted;
pub use seed::{SeedImage, fixture, fixtures};
