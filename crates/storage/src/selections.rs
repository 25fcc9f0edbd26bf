use async_trait::async_trait;
use domain::{AccountId, AlbumId, ImageId, LocalTime, Selection, Timestamp};

use crate::{ImageKey, StorageError, Viewer};

/// The images of a selection that are visible to a viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SelectionCount {
    /// How many there are.
    pub count: u32,
    /// The place of the newest in the timeline.
    pub newest: Option<LocalTime>,
    /// The place of the oldest in the timeline.
    pub oldest: Option<LocalTime>,
}

/// How far an operation on a selection has come. The default is the beginning.
///
/// First come the images that are selected only by their id, in the order of the ids, then those in the ranges, newest
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectionCursor {
    /// Number of ids that were visited.
    pub ids: u32,
    /// Images of the ranges at this place of the timeline, and newer ones, were visited.
    pub before: LocalTime,
    /// Images captured earlier are not selected. The first step sets it to the beginning of the free window, because the
    /// window moves back to older images when images in it are deleted.
    pub visible_from_ms: i64,
}

impl Default for SelectionCursor {
    fn default() -> Self {
        Self { ids: 0, before: LocalTime::MAX, visible_from_ms: i64::MIN }
    }
}

/// The outcome of one step of an operation on a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectionStep {
    /// Number of images that the step changed.
    pub changed: u32,
    /// Where to continue; `None` when the operation is complete.
    pub next: Option<SelectionCursor>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedImage {
    pub image_key: ImageKey,
    pub id: ImageId,
    pub captured_at: Timestamp,
}

/// Selections of any number of images.
///
/// A change visits up to `max` images in one transaction, which therefore stays short. Its caller repeats it with the
/// returned cursor until there is none. An id of another account's image counts as unknown.
#[async_trait]
pub trait SelectionStore: Send + Sync + 'static {
    /// Counts the visible images of a selection.
    async fn count_selection(
        &self,
        viewer: Viewer,
        selection: &Selection,
    ) -> Result<SelectionCount, StorageError>;

    /// Up to `max` visible images of a selection, each once. A page may have fewer images although more follow.
    async fn selected_images(
        &self,
        viewer: Viewer,
        selection: &Selection,
        cursor: SelectionCursor,
        max: u32,
    ) -> Result<(Vec<SelectedImage>, Option<SelectionCursor>), StorageError>;

    /// Deletes visible images, all at the time `at`.
    async fn delete_selection(
        &self,
        viewer: Viewer,
        selection: &Selection,
        at: Timestamp,
        cursor: SelectionCursor,
        max: u32,
    ) -> Result<SelectionStep, StorageError>;

    /// Restores deleted images; with `deleted_at` only those that were deleted at this time.
    async fn restore_selection(
        &self,
        account: AccountId,
        selection: &Selection,
        deleted_at: Option<Timestamp>,
        cursor: SelectionCursor,
        max: u32,
    ) -> Result<SelectionStep, StorageError>;

    /// Adds visible images to an album of the viewer; counts the images that were not in it. `None` if there is no such
    /// album.
    async fn add_selection_to_album(
        &self,
        viewer: Viewer,
        selection: &Selection,
        album: &AlbumId,
        at: Timestamp,
        cursor: SelectionCursor,
        max: u32,
    ) -> Result<Option<SelectionStep>, StorageError>;

    /// Removes visible images from an album of the viewer; counts the images that were in it. `None` if there is no
    /// such album.
    async fn remove_selection_from_album(
        &self,
        viewer: Viewer,
        selection: &Selection,
        album: &AlbumId,
        at: Timestamp,
        cursor: SelectionCursor,
        max: u32,
    ) -> Result<Option<SelectionStep>, StorageError>;
}
