//! Models on disk: what they compute, and how they are installed.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "clippy allows them inside test functions; here the functions that those share need them too"
)]

mod encoding;
mod installing;
mod support;
