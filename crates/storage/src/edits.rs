use std::sync::Arc;

use async_trait::async_trait;
use domain::{CaptureTime, DateRange, EditId, EditedField, ImageId, Position, Selection};

use crate::{Lookup, StorageError, Viewer};

/// What an image has now in the fields that people can correct.
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
    /// The capture time. Its source does not count.
    pub time: Option<ChangedTime>,
    pub place: Option<ChangedPlace>,
}

/// A new capture time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangedTime {
    pub capture: CaptureTime,
    /// Whether it only follows from the new position. It is then undone with the position, unless it is corrected again.
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
    /// Its capture time without the zone that only follows from a corrected position.
    pub time_without_place: CaptureTime,
}

/// Computes the new values of an image from its present ones; `None` if the image cannot be changed so. It must give the
/// same result each time, because an operation may run again.
pub type ChangeImage = Arc<dyn Fn(&ImageToChange) -> Option<ImageChange> + Send + Sync>;

/// The images of one call. An edit of many images is many calls.
#[derive(Debug, Clone)]
pub enum ImagesToEdit {
    /// The visible ones of these, distinct ids.
    Ids(Vec<ImageId>),
    /// The first of those with a capture time in a range.
    Range {
        range: DateRange,
        /// Whether the newest come first. An edit that moves images to later times begins with the newest, so that it does
        /// not meet them again.
        newest_first: bool,
        /// The selection that the range is of; its exceptions are left out.
        selection: Selection,
        /// How many images are read at most; at least 1.
        max: u32,
    },
}

/// The result of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditedImages {
    /// How many images changed.
    pub changed: u32,
    /// How many images could not be changed: the computation gave `None`.
    pub refused: u32,
    /// The rest of the range; `None` when nothing is left.
    pub rest: Option<DateRange>,
}

/// The corrections of an image.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageEdits {
    /// The corrected fields. A time that follows from a corrected position is not one of them.
    pub fields: Vec<EditedField>,
    /// What its file and sidecars say.
    pub of_file: EditableImage,
    /// The last edit, which can be undone.
    pub last: Option<EditId>,
}

/// Corrections of images by people, kept apart from what the files say.
///
/// The image has the corrected values, so lists, searches and albums use them. The values from the file are kept beside it,
/// and later indexing changes only these.
#[async_trait]
pub trait EditStore: Send + Sync + 'static {
    /// Changes images that are visible to the viewer. Values that an image has already are no change. One edit changes the
    /// capture time of an image once, so a call that is repeated does not shift it twice.
    async fn edit_images(
        &self,
        viewer: Viewer,
        edit: &EditId,
        images: ImagesToEdit,
        change: ChangeImage,
    ) -> Result<EditedImages, StorageError>;

    /// The fields of a visible image with their present values, and its corrections; `None` if it has none.
    async fn image_edits(
        &self,
        viewer: Viewer,
        id: &ImageId,
    ) -> Result<Lookup<(EditableImage, Option<ImageEdits>)>, StorageError>;

    /// Gives fields of a visible image the values of its file again.
    async fn revert_fields(
        &self,
        viewer: Viewer,
        id: &ImageId,
        fields: &[EditedField],
    ) -> Result<Lookup<()>, StorageError>;

    /// Gives up to `max` images of an account, deleted ones included, the values again that they had before the edit. Returns
    /// their number, 0 when none is left. An image that was corrected again later stays as it is.
    async fn undo_edit(&self, viewer: Viewer, edit: &EditId, max: u32) -> Result<u32, StorageError>;
}
