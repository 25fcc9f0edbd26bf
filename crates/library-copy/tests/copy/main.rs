//! Copies libraries between stores of all kinds, with interruptions.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod files;
mod interruption;
mod marks;
mod places;
mod rows;
