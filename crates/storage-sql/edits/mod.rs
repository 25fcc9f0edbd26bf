//! Corrections of images by people.
//!
//! The table `images` has the values that the photo library shows. The table `image_edits` has the values in the files
//! of corrected images. Only [`with_corrections`] changes the values in `image_edits`; indexing calls it with the
//! values that it read from a file.

mod apply;
mod rows;
mod undo;
mod values;

use domain::{EditId, EditedField, ImageId};
use storage::{
    ChangeImage, EditStore, EditableImage, EditedImages, ImageEdits, ImagesToEdit, Lookup, Viewer,
};

use crate::Lock;

pub(crate) use rows::with_corrections;
pub(crate) use undo::of_images;
pub(crate) use values::CaptureColumns;

operations! {
    impl EditStore {
        write(Lock::Account(viewer.account.0)) edit_images(
            viewer: Viewer, edit: &EditId, images: ImagesToEdit as ref, change: ChangeImage as ref
        ) -> EditedImages = apply::edit;
        read image_edits(viewer: Viewer, id: &ImageId) -> Lookup<(EditableImage, Option<ImageEdits>)>
            = undo::image_edits;
        write(Lock::Account(viewer.account.0)) revert_fields(
            viewer: Viewer, id: &ImageId, fields: &[EditedField]
        ) -> Lookup<()> = undo::revert_fields;
        write(Lock::Account(viewer.account.0)) undo_edit(viewer: Viewer, edit: &EditId, max: u32) -> u32
            = undo::undo;
    }
}
