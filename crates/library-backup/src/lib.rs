//! Backs a photo library up into a folder while it is in use, checks backups, and restores them into empty stores.
//!
//! A backup is a folder:
//!
//! - `backup.json`: the [`Manifest`]. A backup consists of the files that its manifest names; all other files in the
//!   folder are left over.
//! - `rows-ID`: the rows of all tables from one snapshot, in a form that does not depend on the database ([`RowsReader`]).
//! - `secret-ID`: the service's secret.
//! - `blobs`: originals and renditions under the SHA-256 of their bytes, as in a library's own folder.
//!
//! [`back_up`] writes new rows each time and only the blobs that the folder lacks. The previous backup stays valid until
//! the new manifest is renamed into place. Received parts of uploads that are not complete are left out.
//!
//! A running service deletes blobs that nothing refers to. So a blob that the snapshot names may be gone before it is
//! copied. Another snapshot is taken then, which no longer names it. The service never waits for a backup.
//!
//! This crate knows no SQL, no HTTP and no clock.
//!
//! The most common change is another table: add it to [`storage::CopiedTable`], and it is part of all backups.

mod back_up;
mod blob_rows;
mod error;
mod file_sum;
mod folder;
mod manifest;
mod pages;
mod prune;
mod restore;
mod rows_file;
mod verify;

pub use back_up::{BackupOptions, BackupReport, back_up};
pub use error::{BackupError, Damage};
pub use file_sum::{FileSum, Hex};
pub use library_copy::{CopyProgress as BackupProgress, Place};
pub use manifest::{BlobCount, LostBlob, Manifest, ManifestError, TableSum};
pub use restore::{BegunRestore, RestoreOptions, RestoreReport, begin_restore};
pub use rows_file::{Record, RowsError, RowsReader, RowsWriter, TableHeader, sum_tables};
pub use verify::{VerifiedBackup, verify};
