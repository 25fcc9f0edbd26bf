use std::{error::Error, io, path::PathBuf};

use domain::{BlobKind, ContentHash};

/// Why a blob could not be read or removed.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// There is none under this address.
    #[error("the {} {hash} is missing from the blob store", kind.as_str())]
    Missing {
        /// What was looked for.
        kind: BlobKind,
        /// Its address.
        hash: ContentHash,
    },
    /// The blob store failed; the same call may succeed later.
    #[error("the blob store is unavailable: {}", told(_0))]
    Unavailable(#[from] object_store::Error),
    /// A folder that the store needs cannot be used.
    #[error("the blob folder {path} cannot be used: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process held a lock for too long.
    #[error(
        "{} is locked{}; wait until that process has tidied up, or end it, and try again",
        path.display(),
        holder.map(|id| format!(" by process {id}")).unwrap_or_default()
    )]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The process, if it is known.
        holder: Option<u32>,
    },
}

/// What the operator can do about an error, where that is known; else the error's own words.
fn told(error: &object_store::Error) -> String {
    match system_error(error) {
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
            "its disk has no free space; make room and try again".to_owned()
        }
        Some(io::ErrorKind::ReadOnlyFilesystem) => "its file system is read-only".to_owned(),
        Some(io::ErrorKind::PermissionDenied) => {
            "there is no permission; give the folder to the user who runs the service with chown".to_owned()
        }
        _ => error.to_string(),
    }
}

/// The error of the operating system that an error comes from, if any.
fn system_error(error: &object_store::Error) -> Option<io::ErrorKind> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        cause = error.source();
    }
    None
}

/// Why a file was not stored. Nothing stands under its address then, unless it stood there before.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The file changed after its fingerprint was taken.
    #[error("the file changed while it was read")]
    Changed,
    /// The file cannot be read.
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

/// Why arriving bytes were not taken in. Nothing of them is left.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// There are more of them than are allowed.
    #[error("the file is larger than {max_bytes} bytes")]
    TooLarge {
        /// The most that are allowed.
        max_bytes: u64,
    },
    /// They stopped coming.
    #[error("the file did not arrive whole: {0}")]
    Source(io::Error),
    /// They cannot be written down.
    #[error("the file cannot be written: {0}")]
    Write(io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_in_words() {
        let said = |kind: io::ErrorKind| {
            let source = Box::new(io::Error::from(kind));
            BlobError::from(object_store::Error::Generic { store: "LocalFileSystem", source }).to_string()
        };
        let full = said(io::ErrorKind::StorageFull);
        assert_eq!(
            full,
            "the blob store is unavailable: its disk has no free space; make room and try again"
        );
        assert!(said(io::ErrorKind::TimedOut).contains("timed out"));
    }
}
