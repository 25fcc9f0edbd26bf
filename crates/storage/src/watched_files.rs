use async_trait::async_trait;
use domain::{AccountId, Timestamp};

use crate::StorageError;

/// A version of a file in a watched folder: a hash of its path, its length and its modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileVersion(pub [u8; 16]);

/// A version of a file that was imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchedFile {
    pub version: FileVersion,
    /// When `remember_watched_files` last recorded it.
    pub seen_at: Timestamp,
}

/// Which files of watched folders were imported, so that they are not read again.
#[async_trait]
pub trait WatchedFileStore: Send + Sync + 'static {
    /// Which of these versions the account has imported; at most 1000 versions.
    async fn watched_files(
        &self,
        account: AccountId,
        versions: &[FileVersion],
    ) -> Result<Vec<WatchedFile>, StorageError>;

    /// Remembers that the account has imported these versions, and that they exist now; at most 1000 versions.
    async fn remember_watched_files(
        &self,
        account: AccountId,
        versions: &[FileVersion],
        at: Timestamp,
    ) -> Result<(), StorageError>;

    /// Forgets up to `max` versions that were last remembered before `before` or whose account was deleted; returns their
    /// number.
    async fn sweep_watched_files(&self, before: Timestamp, max: u32) -> Result<u32, StorageError>;
}
