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

mod error;
mod files;
mod marks;
mod progress;
mod rows;

use blobs::BlobStore;
use domain::Timestamp;
use storage::{PageLimit, SharedStore};

pub use error::{CopyError, LostFile};
pub use files::{BlobCopy, CopiedFiles, copy_blob};
pub use marks::{ReopenError, Reopened, reopen, require_empty};
pub use progress::{CopyProgress, Counter};
pub use rows::{CopiedRows, chain_checksum, index_words, raise_ids, sum};

use marks::Marks;

/// Where a library is.
#[derive(Clone)]
pub struct Place {
    /// Its rows.
    pub store: SharedStore,
    /// Its files.
    pub blobs: BlobStore,
    /// Its name in messages. It contains no password.
    pub name: String,
}

/// What to copy, and how.
#[derive(Debug, Clone)]
pub struct CopyOptions {
    /// The id of the transfer if this run begins it. It must be unique.
    pub transfer: String,
    pub at: Timestamp,
    /// The files of both places are in the same folder or bucket, so that none is copied.
    pub same_files: bool,
    /// Complete the copy even if files are lost or damaged in the source.
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
    /// The rows of each table.
    pub rows: Vec<CopiedRows>,
    pub files: CopiedFiles,
    /// How many files are lost or damaged in the source.
    pub lost: u64,
    /// Some of them.
    pub lost_examples: Vec<LostFile>,
}

/// A copy that has begun: both places are marked.
pub struct Begun<'a> {
    from: &'a Place,
    to: &'a Place,
    options: &'a CopyOptions,
    marks: Marks,
}

/// Marks both places, unless an earlier run did. `None` if an earlier run completed the copy.
pub async fn begin<'a>(
    from: &'a Place,
    to: &'a Place,
    options: &'a CopyOptions,
) -> Result<Option<Begun<'a>>, CopyError> {
    let marks = marks::begin(from, to, options).await?;
    Ok(marks.map(|marks| Begun { from, to, options, marks }))
}

impl Begun<'_> {
    /// Copies what the target lacks, compares both places, and completes the copy.
    ///
    /// # Errors
    /// [`CopyError`]. Both places stay marked, and another run continues.
    pub async fn complete(
        self,
        mut progress: impl FnMut(CopyProgress) + Send,
    ) -> Result<CopyReport, CopyError> {
        let Self { from, to, options, marks } = self;
        rows::copy(from, to, options, &mut progress).await?;
        let mut files = files::copy(from, to, options, &mut progress).await?;
        index_words(&to.store, &mut progress).await?;
        let rows = rows::compare(from, to, options, &mut progress).await?;
        let lost = files::check(from, to, options, &mut files, &mut progress).await?;
        if lost.count > 0 && !options.skip_lost {
            return Err(CopyError::Lost { count: lost.count, examples: lost.examples });
        }
        marks.finish(from, to).await?;
        Ok(CopyReport { rows, files, lost: lost.count, lost_examples: lost.examples })
    }
}

/// Copies a library, or continues to. `None` if an earlier run completed the copy.
///
/// # Errors
/// [`CopyError`]. If the copy had begun, both places stay marked, and another run continues.
pub async fn copy(
    from: &Place,
    to: &Place,
    options: &CopyOptions,
    progress: impl FnMut(CopyProgress) + Send,
) -> Result<Option<CopyReport>, CopyError> {
    match begin(from, to, options).await? {
        Some(begun) => begun.complete(progress).await.map(Some),
        None => Ok(None),
    }
}
