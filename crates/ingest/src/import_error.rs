use std::io;

use accounts::Unavailable;
use blobs::{BlobError, PutError, StagingError};
use exports::EntryError;
use media::MediaError;
use roles::StoreFailure;
use storage::StorageError;

/// Why a file was not imported. Nothing of it is kept.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Its first bytes are not those of a supported format.
    #[error(transparent)]
    Refused(MediaError),
    /// It is longer than allowed.
    #[error("the file is larger than the limit of {max_bytes} bytes")]
    TooLarge {
        /// The limit.
        max_bytes: u64,
    },
    /// It is shorter or longer than its sender announced.
    #[error("the file does not have the announced length of {expected} bytes; send it again")]
    WrongLength {
        /// The announced length.
        expected: u64,
    },
    /// It does not match the checksum that its sender announced.
    #[error("the file does not match its checksum; send it again")]
    ChecksumMismatch,
    /// Its stream broke.
    #[error("the upload was interrupted: {0}")]
    Interrupted(io::Error),
    /// It changed while it was read; it can be retried.
    #[error("the file changed while it was read")]
    Changed,
    /// It cannot be read.
    #[error("the file cannot be read: {0}")]
    Read(io::Error),
    /// It cannot be read from its archive.
    #[error("the file {0}")]
    Entry(EntryError),
    /// The blob of an earlier copy is being removed; the import can be retried.
    #[error("an earlier copy of the file is still being removed; try again in a moment")]
    BeingRemoved,
    /// The account would exceed its quota.
    #[error("the account's storage of {quota_bytes} bytes is full")]
    QuotaExceeded { quota_bytes: u64 },
    /// The account was deleted.
    #[error("the account was deleted")]
    AccountGone,
    /// The upload cannot be written to the staging folder, or its parts cannot be read.
    #[error("the staging folder cannot be used: {0}")]
    Staging(io::Error),
    /// The blob store failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The service is unavailable.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl ImportError {
    /// Whether the cause is not the file, so that other files would fail as well.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Staging(_) | Self::Blob(_) | Self::Unavailable(_) | Self::AccountGone)
    }
}

impl From<StorageError> for ImportError {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl From<StoreFailure> for ImportError {
    fn from(error: StoreFailure) -> Self {
        match error {
            StoreFailure::Storage(error) => error.into(),
            StoreFailure::Blob(error) => Self::Blob(error),
        }
    }
}

impl From<PutError> for ImportError {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Changed => Self::Changed,
            PutError::Read(error) => Self::Read(error),
            PutError::Blob(error) => Self::Blob(error),
        }
    }
}

impl From<StagingError> for ImportError {
    fn from(error: StagingError) -> Self {
        match error {
            StagingError::ChecksumMismatch => Self::ChecksumMismatch,
            StagingError::Io(error) => Self::Staging(error),
            StagingError::Blob(error) => Self::Blob(error),
        }
    }
}
