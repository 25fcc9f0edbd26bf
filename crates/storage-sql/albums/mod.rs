mod rows;
mod writes;

use async_trait::async_trait;
use domain::{Album, AlbumChange, AlbumId, AlbumOrder, DateRange, Image, ImageId, Limit, Offset, Timestamp};
use storage::{AlbumName, AlbumPage, AlbumStore, AlbumWrite, NewAlbum, StorageError, Viewer};

use crate::{Lock, SqlStore};

pub(crate) use rows::seq;
pub(crate) use writes::{add, remove, set_updated};

#[async_trait]
impl AlbumStore for SqlStore {
    async fn page_albums(
        &self,
        viewer: Viewer,
        limit: Limit,
        offset: Offset,
    ) -> Result<AlbumPage, StorageError> {
        self.read(move |c| rows::page(c, viewer, limit, offset)).await
    }

    async fn album(&self, viewer: Viewer, id: &AlbumId) -> Result<Option<Album>, StorageError> {
        let id = id.clone();
        self.read(move |c| rows::album(c, viewer, &id)).await
    }

    async fn album_images(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        range: DateRange,
        order: AlbumOrder,
        limit: Limit,
    ) -> Result<Option<Vec<Image>>, StorageError> {
        let id = id.clone();
        self.read(move |c| rows::contents(c, viewer, &id, range, order, limit)).await
    }

    async fn albums_of_image(&self, viewer: Viewer, image: &ImageId) -> Result<Vec<AlbumName>, StorageError> {
        let image = image.clone();
        self.read(move |c| rows::of_image(c, viewer, &image)).await
    }

    async fn create_album(&self, viewer: Viewer, album: NewAlbum) -> Result<AlbumWrite, StorageError> {
        self.write(Lock::Account(viewer.account.0), move |c| writes::create(c, viewer, &album)).await
    }

    async fn change_album(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        change: AlbumChange,
        at: Timestamp,
    ) -> Result<AlbumWrite, StorageError> {
        let id = id.clone();
        self.write(Lock::Account(viewer.account.0), move |c| writes::change(c, viewer, &id, &change, at))
            .await
    }

    async fn delete_album(&self, viewer: Viewer, id: &AlbumId) -> Result<bool, StorageError> {
        let id = id.clone();
        self.write(Lock::Account(viewer.account.0), move |c| writes::delete(c, viewer, &id)).await
    }
}
