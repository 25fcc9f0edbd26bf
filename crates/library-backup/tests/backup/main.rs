//! Backups of real stores, also damaged ones.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod damage;
mod format;
mod interruption;
mod places;
mod round_trip;
mod running;
