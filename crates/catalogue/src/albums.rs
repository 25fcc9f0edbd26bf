use accounts::{Caller, Unavailable};
use domain::{Album, AlbumChange, AlbumId, AlbumOrder, AlbumTitle, DateRange, Image, ImageId, Limit, Offset};
use keys::new_id;
use storage::{AlbumName, AlbumPage, AlbumWrite, NewAlbum, StorageError};

use crate::Catalogue;

impl Catalogue {
    /// A page of albums, newest first.
    pub async fn albums(
        &self,
        caller: &Caller,
        limit: Limit,
        offset: Offset,
    ) -> Result<AlbumPage, StorageError> {
        self.parts.store.page_albums(self.viewer(caller), limit, offset).await
    }

    /// All albums, newest first.
    pub async fn all_albums(&self, caller: &Caller) -> Result<Vec<Album>, StorageError> {
        let mut albums = Vec::new();
        while let Ok(offset) = Offset::new(u32::try_from(albums.len()).unwrap_or(u32::MAX)) {
            let page = self.albums(caller, Limit::MAX, offset).await?;
            let is_empty = page.albums.is_empty();
            albums.extend(page.albums);
            if is_empty || u32::try_from(albums.len()).is_ok_and(|read| read >= page.total) {
                break;
            }
        }
        Ok(albums)
    }

    /// One album. A malformed id counts as unknown.
    pub async fn album(&self, caller: &Caller, id: &str) -> Result<Option<Album>, StorageError> {
        match AlbumId::parse(id) {
            Some(id) => self.parts.store.album(self.viewer(caller), &id).await,
            None => Ok(None),
        }
    }

    /// A page of an album's images captured within a range, in an order; `None` if the caller has no such album.
    pub async fn album_images(
        &self,
        caller: &Caller,
        id: &AlbumId,
        range: DateRange,
        order: AlbumOrder,
        limit: Limit,
    ) -> Result<Option<Vec<Image>>, StorageError> {
        self.parts.store.album_images(self.viewer(caller), id, range, order, limit).await
    }

    /// The albums that contain an image.
    pub async fn albums_of_image(
        &self,
        caller: &Caller,
        image: &ImageId,
    ) -> Result<Vec<AlbumName>, StorageError> {
        self.parts.store.albums_of_image(self.viewer(caller), image).await
    }

    /// Creates an album with its first images.
    pub async fn create_album(
        &self,
        caller: &Caller,
        title: AlbumTitle,
        images: Vec<String>,
    ) -> Result<AlbumWrite, Unavailable> {
        // A new id is always valid.
        let Some(id) = AlbumId::parse(new_id(self.random())?) else { return Ok(AlbumWrite::NoAlbum) };
        let album = NewAlbum { id, title, images, created_at: self.parts.clock.now() };
        Ok(self.parts.store.create_album(self.viewer(caller), album).await?)
    }

    /// Changes an album's title and images atomically.
    pub async fn change_album(
        &self,
        caller: &Caller,
        id: &str,
        change: AlbumChange,
    ) -> Result<AlbumWrite, StorageError> {
        match AlbumId::parse(id) {
            Some(id) => {
                let now = self.parts.clock.now();
                self.parts.store.change_album(self.viewer(caller), &id, change, now).await
            }
            None => Ok(AlbumWrite::NoAlbum),
        }
    }

    /// Deletes an album but not its images; `false` if the caller has no such album.
    pub async fn delete_album(&self, caller: &Caller, id: &str) -> Result<bool, StorageError> {
        match AlbumId::parse(id) {
            Some(id) => self.parts.store.delete_album(self.viewer(caller), &id).await,
            None => Ok(false),
        }
    }
}
