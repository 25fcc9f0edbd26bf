use std::sync::Arc;

use async_trait::async_trait;
use domain::{
    AccountId, CaptureTime, EditId, EditedField, ImageId, LocalRange, Marks, Position, Selection, Timestamp,
};

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
    pub marks: Marks,
}

/// New values of an image; `None` keeps the present one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImageChange {
    pub description: Option<Option<String>>,
    /// The capture time. Its source is ignored.
    pub time: Option<ChangedTime>,
    pub place: Option<ChangedPlace>,
    pub marks: Option<Marks>,
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
    /// The values from its file and sidecars.
    pub of_file: EditableImage,
    /// Its capture time without a time zone that was derived from a corrected position.
    pub time_without_place: CaptureTime,
}

/// Computes the new values of an image from its present ones; `None` if the change is impossible for this image. The
/// function must return the same result each time, because the store may retry an operation.
pub type ChangeImage = Arc<dyn Fn(&ImageToChange) -> Option<ImageChange> + Send + Sync>;

/// One correction of one or many images. It may take several calls, which all have the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub id: EditId,
    pub at: Timestamp,
    /// The name of the app or key that makes it; `None` for the person.
    pub author: Option<String>,
}

/// The images that one call of `edit_images` changes.
#[derive(Debug, Clone)]
pub enum ImagesToEdit {
    /// All images with these ids, which are distinct. If one of them is not visible, no image changes.
    Every(Vec<ImageId>),
    /// The visible images with these ids, which are distinct.
    Visible(Vec<ImageId>),
    /// The first visible images of a range of the timeline.
    Range {
        range: LocalRange,
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
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EditedImages {
    /// The images that changed, with the values before and after.
    pub changed: Vec<(ImageId, EditableImage, EditableImage)>,
    /// How many images could not be changed because [`ChangeImage`] returned `None`.
    pub refused: u32,
    /// The rest of the range; `None` when nothing is left.
    pub rest: Option<LocalRange>,
}

/// A correction in the list of an account's corrections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedEdit {
    pub edit: Edit,
    /// The corrected fields.
    pub fields: Vec<EditedField>,
    /// How many images have it and can be undone; 0 if it was undone.
    pub images: u32,
}

/// How far undoing an edit has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UndoCursor(pub i64);

/// The outcome of one step of undoing an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoStep {
    /// Number of images that the step changed.
    pub undone: u32,
    /// Where to continue; `None` when the edit is undone.
    pub next: Option<UndoCursor>,
}

/// The corrections of an image.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageEdits {
    /// The corrected fields. A time that follows from a corrected position is not one of them.
    pub fields: Vec<EditedField>,
    /// The values from its file and sidecars.
    pub of_file: EditableImage,
    /// The last edit that was not undone.
    pub last: Option<EditId>,
}

/// Corrections of images by people, stored apart from the values in the files.
///
/// The image has the corrected values, so lists, searches and albums use them. The values from the file are stored
/// separately, and later indexing changes only those.
#[async_trait]
pub trait EditStore: Send + Sync + 'static {
    /// Changes images that are visible to the viewer. A value that an image already has is not a change. One edit
    /// changes the capture time of an image only once, so a repeated call does not shift it twice. With `is_trial`,
    /// returns the changes without making them.
    async fn edit_images(
        &self,
        viewer: Viewer,
        edit: &Edit,
        images: ImagesToEdit,
        change: ChangeImage,
        is_trial: bool,
    ) -> Result<Lookup<EditedImages>, StorageError>;

    /// The present values of a visible image, and its corrections; `None` instead of the corrections if it has none.
    async fn image_edits(
        &self,
        viewer: Viewer,
        id: &ImageId,
    ) -> Result<Lookup<(EditableImage, Option<ImageEdits>)>, StorageError>;

    /// Sets up to `max` images of an account, deleted ones included, back to the values that they had before the edit.
    /// A field that was changed again later stays as it is.
    async fn undo_edit(
        &self,
        viewer: Viewer,
        edit: &EditId,
        cursor: UndoCursor,
        max: u32,
    ) -> Result<UndoStep, StorageError>;

    /// The edits of an account, the latest first: up to `max` from before a time.
    async fn edits(
        &self,
        account: AccountId,
        before: Timestamp,
        max: u32,
    ) -> Result<Vec<ListedEdit>, StorageError>;

    /// Forgets edits from before a time, which can no longer be undone: up to `max` of their images, or when none is left, up
    /// to `max` edits. Returns how many.
    async fn forget_edits(&self, before: Timestamp, max: u32) -> Result<u32, StorageError>;
}
