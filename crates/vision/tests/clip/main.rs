//! Tests models on disk: their vectors and their installation.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "clippy allows them in test functions, but not in the helpers that these share"
)]

mod encoding;
mod installing;
mod support;
