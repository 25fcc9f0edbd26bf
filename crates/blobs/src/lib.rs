//! Originals and renditions, each under the SHA-256 of its bytes.
//!
//! A blob is written under a temporary name, synced, and renamed, so that a final name always stands for a whole
//! file; it is never changed afterwards. Which blobs are wanted is not known here: the library announces, keeps
//! and removes them by the store's register.
//!
//! This crate knows no image format, no database and no HTTP.
//!
//! The commonest change is another place to keep blobs: give [`BlobStore`] a constructor that hands
//! `object_store` the right backend; nothing else depends on which it is.
#![deny(missing_docs)]

mod error;
mod local;
mod reading;
mod staging;
mod store;

pub use error::{BlobError, PutError, StageError};
pub use local::{TemporaryFile, restrict_permissions};
pub use reading::BlobReader;
pub use staging::{Fingerprint, Staged, fingerprint};
pub use store::{BlobStore, Indexer, Service, Sweeper};
