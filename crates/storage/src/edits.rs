use std::sync::Arc;

use async_trait::async_trait;
use domain::{CaptureTime, DateRange, EditId, EditedField, ImageId, Position, Selection};

use crate::{Lookup, StorageError, Viewer};

/// The present values of the fields of an image that people can correct.
#[derive(Debug, Clone, PartialEq)]
pub struct EditableImage {
    /// The capture time before it was made unique. Its source is that of the time in the file.
    pub capture: CaptureTime,
    pub position: Option<Position>,
    /// The name of the place.
    pub place: Option<String>,
    pub description: Option<String>,
}

/// New values of an image; `None` keeps the present one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImageChange {
    pub description: Option<Option<String>>,
    /// The capture time. Its source is ignored.
    pub time: Option<ChangedTime>,
    pub place: Option<ChangedPlace>,
}

/// A new capture time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangedTime {
    pub capture: CaptureTime,
    /// Whether the time changes only because the new position has another time zone. Such a time is reverted together
    /// with the position, unless it is corrected again.
    pub follows_position: bool,
}

/// A new position.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedPlace {
    /// The position; `None` for no position.
    pub position: Option<Position>,
    /// The name of its place.
    pub place: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ImageToChange {
    /// Its present values.
    pub present: EditableImage,
    /// Its capture time without a time zone that was derived from a corrected position.
    pub time_without_place: CaptureTime,
}

/// Computes the new values of an image from its present ones; `None` if the change is impossible for this image. The
/// function must return the same result each time, because the store may retry an operation.
pub type ChangeImage = Arc<dyn Fn(&ImageToChange) -> Option<ImageChange> + Send + Sync>;

/// The images that one call of `edit_images` changes. An edit of many images takes several calls.
#[derive(Debug, Clone)]
pub enum ImagesToEdit {
    /// The visible images with these ids, which are distinct.
    Ids(Vec<ImageId>),
    /// The first visible images with a capture time in a range.
    Range {
        range: DateRange,
        /// Whether the newest come first. An edit that moves images to later times begins with the newest, so that it does
        /// not meet them again.
        newest_first: bool,
        /// The selection that contains the range. Its exceptions are left out.
        selection: Selection,
        /// How many images are read at most; at least 1.
        max: u32,
    },
}

/// The result of one call of `edit_images`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditedImages {
    /// How many images changed.
    pub changed: u32,
    /// How many images could not be changed because [`ChangeImage`] returned `None`.
    pub refused: u32,
    /// The rest of the range; `None` when nothing is left.
    pub rest: Option<DateRange>,
}

/// The corrections of an image.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageEdits {
    /// The corrected fields. A time that follows from a corrected position is not one of them.
    pub fields: Vec<EditedField>,
    /// The values from its file and sidecars.
    pub of_file: EditableImage,
    /// The last edit, which can be undone.
    pub last: Option<EditId>,
}

/// Corrections of images by people, stored apart from the values in the files.
///
/// The image has the corrected values, so lists, searches and albums use them. The values from the file are stored
/// separately, and later indexing changes only those.
#[async_trait]
pub trait EditStore: Send + Sync + 'static {
    /// Changes images that are visible to the viewer. A value that an image already has is not a change. One edit
    /// changes the capture time of an image only once, so a repeated call does not shift it twice.
    async fn edit_images(
        &self,
        viewer: Viewer,
        edit: &EditId,
        images: ImagesToEdit,
        change: ChangeImage,
    ) -> Result<EditedImages, StorageError>;

    /// The present values of a visible image, and its corrections; `None` instead of the corrections if it has none.
    async fn image_edits(
        &self,
        viewer: Viewer,
        id: &ImageId,
    ) -> Result<Lookup<(EditableImage, Option<ImageEdits>)>, StorageError>;

    /// Sets fields of a visible image back to the values of its file.
    async fn revert_fields(
        &self,
        viewer: Viewer,
        id: &ImageId,
        fields: &[EditedField],
    ) -> Result<Lookup<()>, StorageError>;

    /// Sets up to `max` images of an account, deleted ones included, back to the values that they had before the edit.
    /// Returns their number, 0 when none is left. An image that a later edit or revert changed stays as it is.
    async fn undo_edit(&self, viewer: Viewer, edit: &EditId, max: u32) -> Result<u32, StorageError>;
}
