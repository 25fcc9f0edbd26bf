use std::{fmt, io};

use blobs::{BlobError, PutError, StagingError};
use storage::{StorageError, Transfer};

/// A file that the source does not have, or not with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostFile {
    /// Where it should be.
    pub location: String,
    /// What is wrong.
    pub reason: &'static str,
}

impl fmt::Display for LostFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.reason)
    }
}

/// Why a library was not copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The target has rows or files of its own.
    #[error(
        "{to} is not empty ({found}); choose a new data folder, or an empty database and an empty folder or bucket"
    )]
    NotEmpty {
        /// The target.
        to: String,
        /// What it has.
        found: &'static str,
    },
    /// The target receives another library, or an earlier state of this one.
    #[error(
        "{to} has an incomplete copy of {}, which another transfer began; empty it, or choose another place",
        transfer.peer
    )]
    ReceivesOther {
        /// The target.
        to: String,
        /// The transfer of the target.
        transfer: Transfer,
    },
    /// The source is itself an incomplete copy.
    #[error(
        "{from} is an incomplete copy of {}; complete that copy first",
        transfer.peer
    )]
    Incomplete {
        /// The source.
        from: String,
        /// The transfer of the source.
        transfer: Transfer,
    },
    /// The source moves or was moved to another target.
    #[error(
        "{from} is being moved or was moved to {}; continue with that target, or lift the mark with \
         `server copy --reopen`",
        transfer.peer
    )]
    MovesElsewhere {
        /// The source.
        from: String,
        /// The transfer of the source.
        transfer: Transfer,
    },
    /// Another process changed the mark of a store.
    #[error("the mark of {0} was changed meanwhile; {0} may be in use. Nothing was completed")]
    MarkChanged(String),
    /// Tables differ after the copy.
    #[error("the copy differs from the original in: {}; empty the target and copy again", tables.join(", "))]
    Differs {
        /// The names of the tables.
        tables: Vec<&'static str>,
    },
    #[error(
        "{count} photo files are lost or damaged in the source, and everything else was copied. Repair them, or add \
         --skip-lost to complete the copy without them:{}",
        examples.iter().map(|lost| format!("\n  {lost}")).collect::<String>()
    )]
    Lost {
        count: u64,
        /// Some of them.
        examples: Vec<LostFile>,
    },
    /// A metadata store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A blob store failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// A file could not be staged.
    #[error(transparent)]
    Staging(#[from] StagingError),
    /// A file could not be stored.
    #[error(transparent)]
    Put(#[from] PutError),
    /// The parts of an upload could not be read or listed.
    #[error("the parts of uploads cannot be read: {0}")]
    Part(#[from] io::Error),
}
