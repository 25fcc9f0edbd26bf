use std::{
    error::Error,
    io,
    path::{Path, PathBuf},
};

use domain::{BlobKind, ContentHash};

use crate::s3_failure::S3Failure;

/// Why a blob operation failed.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The blob does not exist.
    #[error("the {} {hash} is missing from the blob store", kind.as_str())]
    Missing { kind: BlobKind, hash: ContentHash },
    /// The blob store failed; the same call may succeed later.
    #[error("the blob store is unavailable: {}", reason(_0))]
    Unavailable(#[from] object_store::Error),
    /// An operation took too long; the same call may succeed later.
    #[error("the blob store does not respond")]
    TimedOut,
    /// A local folder of the store cannot be used.
    #[error("the blob folder {path} cannot be used: {source}")]
    Folder {
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process held a lock for too long.
    #[error(
        "{} is locked{}; wait until that process has cleaned up, or stop it, and try again",
        path.display(),
        holder.map(|id| format!(" by process {id}")).unwrap_or_default()
    )]
    Locked {
        path: PathBuf,
        /// The id of the process, if it is known.
        holder: Option<u32>,
    },
}

impl BlobError {
    pub(crate) fn folder(path: &Path, source: io::Error) -> Self {
        Self::Folder { path: path.to_owned(), source }
    }
}

impl From<tokio::task::JoinError> for BlobError {
    fn from(source: tokio::task::JoinError) -> Self {
        object_store::Error::JoinError { source }.into()
    }
}

impl From<S3Failure> for BlobError {
    fn from(failure: S3Failure) -> Self {
        Self::Unavailable(failure.into())
    }
}

/// What to do, where that is known; otherwise the text of the error.
fn reason(error: &object_store::Error) -> String {
    if let Some(failure) = S3Failure::of(error) {
        return failure.to_string();
    }
    match system_error(error) {
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
            "its disk has no free space; make room and try again".to_owned()
        }
        Some(io::ErrorKind::ReadOnlyFilesystem) => "its file system is read-only".to_owned(),
        Some(io::ErrorKind::PermissionDenied) => {
            "permission denied; give the folder to the user who runs the service with chown".to_owned()
        }
        _ => error.to_string(),
    }
}

/// The error of the operating system behind an error, if there is one.
pub(crate) fn system_error(error: &object_store::Error) -> Option<io::ErrorKind> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        cause = error.source();
    }
    None
}

/// Why a file was not stored.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The file changed after its fingerprint was computed.
    #[error("the file changed while it was read")]
    Changed,
    #[error("the file cannot be read: {0}")]
    Read(io::Error),
    /// The blob store failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
}

impl From<object_store::Error> for PutError {
    fn from(error: object_store::Error) -> Self {
        Self::Blob(error.into())
    }
}

/// Why an upload was not staged. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum StagingError {
    /// The bytes do not have the expected checksum.
    #[error("the bytes do not match the checksum; send the file again")]
    ChecksumMismatch,
    /// The staging folder cannot be written.
    #[error("the staging folder cannot be written: {0}")]
    Io(#[from] io::Error),
    /// The blob store failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_is_reported() {
        let text = |kind: io::ErrorKind| {
            let source = Box::new(io::Error::from(kind));
            BlobError::from(object_store::Error::Generic { store: "LocalFileSystem", source }).to_string()
        };
        let full = text(io::ErrorKind::StorageFull);
        assert_eq!(
            full,
            "the blob store is unavailable: its disk has no free space; make room and try again"
        );
        assert!(text(io::ErrorKind::TimedOut).contains("timed out"));
    }
}
