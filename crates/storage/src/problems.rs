use async_trait::async_trait;
use domain::{AccountId, FilePath, ImageId, Timestamp};

use crate::{ImageKey, StorageError};

/// A photo that could not be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProblemImage {
    pub id: ImageId,
    /// The name of its file, if known.
    pub file_name: Option<String>,
    /// The folder of its file among the synced files of the account, without its name; `None` if no file has it.
    pub folder: Option<FilePath>,
    /// Why it could not be indexed, for its owner.
    pub reason: String,
    pub added_at: Timestamp,
}

/// How many photos of an account are not visible yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexingProgress {
    /// Photos that are queued or being indexed for the first time.
    pub waiting: u32,
    /// Photos that could not be indexed, without the dismissed ones.
    pub failed: u32,
}

/// The photos of an account that could not be indexed. Deleted ones are left out, and so are those whose failure was dismissed,
/// until they fail for another reason.
#[async_trait]
pub trait ProblemStore: Send + Sync + 'static {
    /// Up to `max` photos that were added before the image `before`, newest first.
    async fn page_problems(
        &self,
        account: AccountId,
        before: Option<&ImageId>,
        max: u32,
    ) -> Result<Vec<ProblemImage>, StorageError>;

    /// Queues a photo again; `false` if the account has no such photo.
    async fn retry_problem(
        &self,
        account: AccountId,
        id: &ImageId,
        at: Timestamp,
    ) -> Result<bool, StorageError>;

    /// Queues up to `max` photos with a lower internal id than `before` again. Returns their number and the lowest
    /// internal id, or `None` when there were none.
    async fn retry_problems(
        &self,
        account: AccountId,
        before: Option<ImageKey>,
        at: Timestamp,
        max: u32,
    ) -> Result<Option<(u32, ImageKey)>, StorageError>;

    /// Dismisses the failure of a photo; `false` if the account has no such photo.
    async fn dismiss_problem(&self, account: AccountId, id: &ImageId) -> Result<bool, StorageError>;

    /// Dismisses the failures of up to `max` photos with a lower internal id than `before`. Returns their number and the
    /// lowest internal id, or `None` when there were none.
    async fn dismiss_problems(
        &self,
        account: AccountId,
        before: Option<ImageKey>,
        max: u32,
    ) -> Result<Option<(u32, ImageKey)>, StorageError>;

    /// Deletes a photo that could not be indexed, as [`delete_image`](crate::ImageStore::delete_image) deletes visible ones;
    /// `false` if the account has no such photo.
    async fn delete_problem(
        &self,
        account: AccountId,
        id: &ImageId,
        at: Timestamp,
    ) -> Result<bool, StorageError>;

    /// How many photos are not visible yet.
    async fn indexing_progress(&self, account: AccountId) -> Result<IndexingProgress, StorageError>;
}
