//! Stores originals and renditions under the SHA-256 of their bytes.
//!
//! A blob is written under a temporary name, synced and renamed, so a final name always belongs to a complete file. A
//! blob never changes. This crate does not know which blobs are needed: the library announces, keeps and removes them
//! through the register in the metadata store.
//!
//! A [`BlobStore`] has four parts:
//!
//! - [`ContentStore`]: the blobs, in a local folder, in an S3 bucket ([`S3Options`]), or on another backend of
//!   `object_store`.
//! - [`StagingFolder`]: a local folder for uploads that are not complete yet.
//! - [`PartStore`]: the received parts of uploads, which survive a restart. They are where the blobs are, so that every
//!   machine finds them.
//! - [`ProcessLocks`]: file locks in a local folder, which coordinate the processes of one machine.
//!
//! This crate knows no image format, no database and no HTTP.
//!
//! The most common change is another backend: give [`BlobStore`] a constructor that calls
//! [`open_remote`](BlobStore::open_remote). Nothing else depends on the backend.

mod blocking;
mod checksum;
mod content;
mod error;
mod fingerprint;
mod listing;
mod lock_file;
mod locks;
mod owners;
mod parts;
mod permissions;
mod reading;
mod regular_file;
mod s3;
mod s3_failure;
mod staging;
mod store;
mod sync;
mod upload;

pub use checksum::ChecksumVerifier;
pub use content::ContentStore;
pub use error::{BlobError, PutError, StagingError};
pub use fingerprint::{Fingerprint, HEAD_BYTES, content_hash, fingerprint, fingerprint_of};
pub use locks::{IndexerLock, ProcessLocks, ServiceLock, WorkerLock};
pub use owners::{EndedOwner, OwnerLock};
pub use parts::{PartFile, PartStore, PartWriter};
pub use permissions::{create_private_folder, restrict_permissions};
pub use reading::BlobReader;
pub use regular_file::{create_private_file, open_regular, read_regular};
pub use s3::{
    InvalidEndpoint, InvalidListing, InvalidLocation, ListedUpload, S3_CREDENTIAL_VARIABLES, S3Credentials,
    S3Endpoint, S3Limits, S3Location, S3Options, UploadsPage,
};
pub use staging::{StagedFile, StagingFolder, StagingWriter};
pub use store::{BlobStore, TemporaryFile};
