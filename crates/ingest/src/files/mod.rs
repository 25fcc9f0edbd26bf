//! The synced files of an account, and the photos in them.

mod locks;
mod name_kind;
mod put;
mod search;
mod sidecars;
mod transfer;
mod tree;

use accounts::{Caller, Unavailable};
use domain::FilePath;
use storage::{
    FileChange, FileContent, FileEntry, FileId, FileImage, FileKind, FileListing, FileRefusal, LockToken,
    StorageError,
};

use crate::{ImportError, Ingest};

pub use locks::LockFile;
pub use put::PutFile;
pub use search::{FileSearch, SearchDepth};
pub use transfer::MoveFile;

/// Why an operation on files failed. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It conflicts with what is there.
    #[error("{}", reason(*.0))]
    Refused(FileRefusal),
    /// The content was not accepted.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The service is unavailable.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl From<StorageError> for FileError {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl From<FileRefusal> for FileError {
    fn from(refusal: FileRefusal) -> Self {
        Self::Refused(refusal)
    }
}

fn reason(refusal: FileRefusal) -> &'static str {
    match refusal {
        FileRefusal::NotFound => "there is no such file or folder",
        FileRefusal::NoParent => "the folder above does not exist",
        FileRefusal::Exists => "there is already a file or folder of this name",
        FileRefusal::IsFolder => "there is a folder of this name",
        FileRefusal::IntoItself => "a folder cannot be moved or copied into itself",
        FileRefusal::Condition => "the file has changed",
        FileRefusal::Locked => "the file is locked",
        FileRefusal::QuotaExceeded => "the account's storage is full",
        FileRefusal::TooMany => "there are too many files or locks, or the copied sidecars are too long",
        FileRefusal::TooManyEntries => "there are too many files and folders that take no space; delete some",
        FileRefusal::OriginalGone => {
            "an earlier copy of the file is still being removed; try again in a moment"
        }
        FileRefusal::AccountGone => "the account was deleted",
    }
}

impl Ingest {
    /// The file or folder at a path.
    pub async fn file(&self, caller: &Caller, path: &FilePath) -> Result<Option<FileEntry>, StorageError> {
        self.parts.store.file(caller.account.id, path).await
    }

    /// The image of a file; `None` if there is no such file or it has no image.
    pub async fn image_of_file(
        &self,
        caller: &Caller,
        id: FileId,
    ) -> Result<Option<FileImage>, StorageError> {
        let entry = self.parts.store.file_by_id(caller.account.id, id).await?;
        Ok(entry.and_then(|entry| match entry.kind {
            FileKind::File(FileContent::Photo { image, .. }) => image,
            _ => None,
        }))
    }

    /// The file or folder at a path with its members, by name.
    pub async fn list_files(
        &self,
        caller: &Caller,
        path: &FilePath,
    ) -> Result<Option<FileListing>, StorageError> {
        self.parts.store.list_files(caller.account.id, path).await
    }

    fn change(&self, caller: &Caller, lock_tokens: &[LockToken]) -> FileChange {
        FileChange {
            account: caller.account.id,
            lock_tokens: lock_tokens.to_vec(),
            at: self.parts.clock.now(),
            quota_bytes: self.parts.limits.account_quota_bytes,
        }
    }

    /// The number of bytes that the caller's account stores, and its quota if it has one.
    pub async fn storage_use(&self, caller: &Caller) -> Result<(u64, Option<u64>), StorageError> {
        let stored = self.parts.store.stored_bytes(caller.account.id).await?;
        Ok((stored, self.parts.limits.account_quota_bytes))
    }
}
