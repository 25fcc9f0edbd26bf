//! Copies a photo library from one pair of stores to another: between SQLite and Postgres, and between a folder and an S3
//! bucket, in all directions.
//!
//! [`copy`] first marks the source as moving, so that nothing changes it any more, and the target as receiving. It then
//! copies all rows and files, compares both sides, and marks the source as moved and the target as usable. It may be
//! killed at any moment: the next run with the same stores continues. Ids are kept, so keys, tokens and URLs stay valid.
//!
//! This crate knows no SQL, no HTTP and no clock.
//!
//! The most common change is another table: add it to [`storage::CopiedTable`], and the compiler reports the other place.
#![deny(missing_docs)]

mod error;
mod files;
mod marks;
mod progress;
mod rows;

use blobs::BlobStore;
use domain::Timestamp;
use storage::{PageLimit, SharedStore};

pub use error::{CopyError, LostFile};
pub use files::CopiedFiles;
pub use marks::{ReopenError, Reopened, reopen};
pub use progress::CopyProgress;
pub use rows::CopiedRows;

/// Where a library is.
#[derive(Clone)]
pub struct Place {
    /// Its rows.
    pub store: SharedStore,
    /// Its files.
    pub blobs: BlobStore,
    /// What messages call it. It contains no password.
    pub name: String,
}

/// What to copy, and how.
#[derive(Debug, Clone)]
pub struct CopyOptions {
    /// The id of the transfer if this run begins it. It must be unique.
    pub transfer: String,
    /// The current time.
    pub at: Timestamp,
    /// The files of both places are in the same folder or bucket, so that none is copied.
    pub same_files: bool,
    /// Complete the copy also if files are lost or damaged in the source.
    pub skip_lost: bool,
    /// How many rows are read and written at once.
    pub page: PageLimit,
    /// How many files are copied or checked at once.
    pub files_at_once: usize,
}

impl CopyOptions {
    /// The usual options, for a transfer that begins with this id at this time.
    pub fn new(transfer: String, at: Timestamp) -> Self {
        Self {
            transfer,
            at,
            same_files: false,
            skip_lost: false,
            page: PageLimit { rows: 500, bytes: 8 << 20 },
            files_at_once: 8,
        }
    }
}

/// What a complete copy has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CopyReport {
    /// An earlier run had completed the copy. The other fields are then empty.
    pub was_complete: bool,
    /// The rows of each table.
    pub rows: Vec<CopiedRows>,
    /// The files.
    pub files: CopiedFiles,
    /// How many files are lost or damaged in the source.
    pub lost: u64,
    /// Some of them.
    pub lost_examples: Vec<LostFile>,
}

/// Copies a library, or continues to.
///
/// # Errors
/// [`CopyError`]. If the copy had begun, both places stay marked, and another run continues.
pub async fn copy(
    from: &Place,
    to: &Place,
    options: &CopyOptions,
    mut progress: impl FnMut(CopyProgress) + Send,
) -> Result<CopyReport, CopyError> {
    let Some(marks) = marks::begin(from, to, options).await? else {
        return Ok(CopyReport { was_complete: true, ..CopyReport::default() });
    };
    rows::copy(from, to, options, &mut progress).await?;
    let mut files = files::copy(from, to, options, &mut progress).await?;
    rows::index_words(to, &mut progress).await?;
    let rows = rows::compare(from, to, options, &mut progress).await?;
    let lost = files::check(from, to, options, &mut files, &mut progress).await?;
    if lost.count > 0 && !options.skip_lost {
        return Err(CopyError::Lost { count: lost.count, examples: lost.examples });
    }
    marks.finish(from, to).await?;
    Ok(CopyReport { was_complete: false, rows, files, lost: lost.count, lost_examples: lost.examples })
}
