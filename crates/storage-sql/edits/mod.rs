//! Corrections of images by people.
//!
//! `images` has the values that the photo library shows, and `image_edits` what the files of corrected images say. Only
//! [`with_corrections`] changes these: indexing calls it with what it read from a file.

mod apply;
mod rows;
mod undo;
mod values;

use async_trait::async_trait;
use domain::{EditId, EditedField, ImageId};
use storage::{
    ChangeImage, EditStore, EditableImage, EditedImages, ImageEdits, ImagesToEdit, Lookup, StorageError,
    Viewer,
};

use crate::{Lock, SqlStore};

pub(crate) use rows::with_corrections;
pub(crate) use undo::of_images;
pub(crate) use values::CaptureColumns;

#[async_trait]
impl EditStore for SqlStore {
    async fn edit_images(
        &self,
        viewer: Viewer,
        edit: &EditId,
        images: ImagesToEdit,
        change: ChangeImage,
    ) -> Result<EditedImages, StorageError> {
        let edit = edit.clone();
        self.write(Lock::Account(viewer.account.0), move |c| apply::edit(c, viewer, &edit, &images, &change))
            .await
    }

    async fn image_edits(
        &self,
        viewer: Viewer,
        id: &ImageId,
    ) -> Result<Lookup<(EditableImage, Option<ImageEdits>)>, StorageError> {
        let id = id.clone();
        self.read(move |c| undo::image_edits(c, viewer, &id)).await
    }

    async fn revert_fields(
        &self,
        viewer: Viewer,
        id: &ImageId,
        fields: &[EditedField],
    ) -> Result<Lookup<()>, StorageError> {
        let (id, fields) = (id.clone(), fields.to_vec());
        self.write(Lock::Account(viewer.account.0), move |c| undo::revert_fields(c, viewer, &id, &fields))
            .await
    }

    async fn undo_edit(&self, viewer: Viewer, edit: &EditId, max: u32) -> Result<u32, StorageError> {
        let edit = edit.clone();
        self.write(Lock::Account(viewer.account.0), move |c| undo::undo(c, viewer, &edit, max)).await
    }
}
