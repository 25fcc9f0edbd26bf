use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use blobs::BlobError;
use library_copy::CopyError;
use storage::StorageError;

use crate::{ManifestError, RowsError};

/// What is wrong with a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file, table or blob.
    pub part: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.part, self.reason)
    }
}

/// Why a backup was not made, is not valid, or was not restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file or folder cannot be read or written.
    #[error("{path} cannot be used: {source}")]
    Io {
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The folder has other files.
    #[error("{0} is not empty and has no backup; choose an empty folder or one with an earlier backup")]
    NotABackup(PathBuf),
    /// A folder of the backup is a link or a file.
    #[error("{0} is not a folder; a backup has no links. Remove it, or choose another folder")]
    NotAFolder(PathBuf),
    /// The folder has no manifest.
    #[error("there is no complete backup in {0}: it has no backup.json")]
    NoBackup(PathBuf),
    /// Another process uses the folder.
    #[error("another process makes, checks or restores the backup in {0}; wait until it has ended")]
    InUse(PathBuf),
    /// The manifest cannot be used.
    #[error("{path} cannot be used: {source}")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: ManifestError,
    },
    /// The rows cannot be read.
    #[error("{path} cannot be used: {source}")]
    Rows {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: RowsError,
    },
    /// Files, tables or blobs of the backup are missing or damaged.
    #[error(
        "the backup in {folder} is damaged in {count} places:{}",
        examples.iter().map(|damage| format!("\n  {damage}")).collect::<String>()
    )]
    Damaged {
        folder: PathBuf,
        /// How many parts are damaged.
        count: u64,
        /// Some of them.
        examples: Vec<Damage>,
    },
    #[error(
        "version {program} of this program made the backup, and its table {table} has other columns; restore the backup \
         with that version and then update"
    )]
    OtherVersion {
        /// The version.
        program: String,
        /// A table that differs.
        table: String,
    },
    /// Blobs vanish faster than they are copied.
    #[error("photo files were deleted while they were copied, in {0} attempts; try again later")]
    Unstable(u32),
    /// The library has lost too many files.
    #[error(
        "more than {0} photo files of the library are lost or damaged; `server fsck --checksums` lists them"
    )]
    TooManyLost(usize),
    /// Another process uses the target.
    #[error("the mark of {0} was changed meanwhile; {0} may be in use. The restore is not complete")]
    MarkChanged(String),
    /// The restored rows differ from the rows of the backup.
    #[error("the restored rows differ from the backup in: {}; empty the target and restore again", .0.join(", "))]
    Differs(Vec<String>),
    /// A metadata store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A blob store failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// A file could not be copied, or the target is not empty.
    #[error(transparent)]
    Copy(#[from] CopyError),
}

impl BackupError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn rows(path: &Path) -> impl FnOnce(RowsError) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Rows { path, source }
    }
}
