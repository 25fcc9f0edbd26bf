//! Corrections of images by people.
//!
//! The tables `images` and `image_marks` have the values that the photo library shows. The table `image_edits` has the values
//! in the files of corrected images. Only [`with_corrections`] changes the values in `image_edits`; indexing calls it with the
//! values that it read from a file. The tables `edits` and `edited_images` have what each correction changed, to undo it.

mod apply;
mod history;
mod rows;
mod undo;
mod values;

use domain::{AccountId, EditId, ImageId, Timestamp};
use storage::{
    ChangeImage, Edit, EditStore, EditableImage, EditedImages, ImageEdits, ImagesToEdit, ListedEdit, Lookup,
    UndoCursor, UndoStep, Viewer,
};

use crate::Lock;

pub(crate) use history::of_images;
pub(crate) use rows::with_corrections;
pub(crate) use values::CaptureColumns;

operations! {
    impl EditStore {
        write(Lock::Account(viewer.account.0)) edit_images(
            viewer: Viewer,
            edit: &Edit,
            images: ImagesToEdit as ref,
            change: ChangeImage as ref,
            is_trial: bool,
        ) -> Lookup<EditedImages> = apply::edit;
        read image_edits(viewer: Viewer, id: &ImageId) -> Lookup<(EditableImage, Option<ImageEdits>)>
            = history::image_edits;
        write(Lock::Account(viewer.account.0)) undo_edit(
            viewer: Viewer, edit: &EditId, cursor: UndoCursor, max: u32
        ) -> UndoStep = undo::undo;
        read edits(account: AccountId, before: Timestamp, max: u32) -> Vec<ListedEdit> = history::edits;
        write(Lock::Nothing) forget_edits(before: Timestamp, max: u32) -> u32 = history::forget;
    }
}
