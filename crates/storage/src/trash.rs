use async_trait::async_trait;
use domain::{AccountId, Image, ImageId, Rendition, Selection, Timestamp};

use crate::{RenditionSource, SelectionCursor, SelectionStep, StorageError};

/// A deleted image that can be restored.
#[derive(Debug, Clone, PartialEq)]
pub struct TrashedImage {
    pub id: ImageId,
    /// The name of its file, if known.
    pub file_name: Option<String>,
    pub deleted_at: Timestamp,
    /// The image; `None` if it was never indexed.
    pub image: Option<Image>,
}

/// The deleted images of an account, until they are purged.
#[async_trait]
pub trait TrashStore: Send + Sync + 'static {
    /// Up to `max` deleted images, newest deletion first: those after the image `after`, or the first ones if that
    /// image is no longer deleted.
    async fn page_trash(
        &self,
        account: AccountId,
        after: Option<&ImageId>,
        max: u32,
    ) -> Result<Vec<TrashedImage>, StorageError>;

    async fn count_trash(&self, account: AccountId) -> Result<u32, StorageError>;

    /// The source of a rendition of a deleted image; `None` if the account has no such deleted image.
    async fn trashed_rendition(
        &self,
        account: AccountId,
        id: &ImageId,
        rendition: Rendition,
    ) -> Result<Option<RenditionSource>, StorageError>;

    /// Permanently removes deleted images as [`purge_images`](crate::ImageStore::purge_images) does, whenever they were
    /// deleted.
    async fn purge_selection(
        &self,
        account: AccountId,
        selection: &Selection,
        cursor: SelectionCursor,
        max: u32,
    ) -> Result<SelectionStep, StorageError>;

    /// Permanently removes up to `max` images that were deleted at `deleted_until` or before; returns their number.
    async fn empty_trash(
        &self,
        account: AccountId,
        deleted_until: Timestamp,
        max: u32,
    ) -> Result<u32, StorageError>;
}
