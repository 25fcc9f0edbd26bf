use accounts::{Caller, Unavailable};
use domain::{Album, AlbumChange, AlbumId, AlbumMove, AlbumTitle, DateRange, Image, ImageId, Limit, Offset};
use keys::new_id;
use storage::{
    AlbumMoved, AlbumName, AlbumPage, AlbumWrite, ListedAlbum, NewAlbum, PositionedImage, Positions,
    StorageError, TimelineOrder,
};

use crate::Catalogue;

/// The order of a list of albums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AlbumSort {
    /// The last changed one first.
    #[default]
    Changed,
    /// The newest one first.
    Created,
    Title,
}

/// Whether an album's title contains a text, without regard to letter case, accents and separators.
pub fn is_titled(title: &str, text: &str) -> bool {
    let text = text.trim();
    let folded = words::fold(text);
    // A text of separators only is compared as it is.
    if folded.is_empty() { title.contains(text) } else { words::fold(title).contains(&folded) }
}

impl Catalogue {
    /// The names of all albums, the newest first.
    pub async fn album_names(&self, caller: &Caller) -> Result<Vec<AlbumName>, StorageError> {
        self.parts.store.album_names(self.viewer(caller)).await
    }

    /// All albums with their covers, by a fixed number of queries.
    pub async fn album_list(
        &self,
        caller: &Caller,
        sort: AlbumSort,
    ) -> Result<Vec<ListedAlbum>, StorageError> {
        let mut albums = self.parts.store.list_albums(self.viewer(caller)).await?;
        match sort {
            AlbumSort::Created => {}
            AlbumSort::Changed => albums.sort_by_key(|listed| std::cmp::Reverse(listed.album.updated_at)),
            AlbumSort::Title => albums.sort_by_cached_key(|listed| words::fold(&listed.album.title)),
        }
        Ok(albums)
    }

    /// Which of these images are in an album.
    pub async fn images_in_album(
        &self,
        caller: &Caller,
        id: &AlbumId,
        images: Vec<ImageId>,
    ) -> Result<Vec<ImageId>, StorageError> {
        self.parts.store.images_in_album(self.viewer(caller), id, images).await
    }

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

    /// A page of an album's images captured within a range, by capture time; `None` if the caller has no such album.
    pub async fn album_images(
        &self,
        caller: &Caller,
        id: &AlbumId,
        range: DateRange,
        order: TimelineOrder,
        limit: Limit,
    ) -> Result<Option<Vec<Image>>, StorageError> {
        self.parts.store.album_images(self.viewer(caller), id, range, order, limit).await
    }

    /// A page of an album's images in its own order; `None` if the caller has no such album.
    pub async fn positioned_images(
        &self,
        caller: &Caller,
        id: &AlbumId,
        positions: Positions,
        limit: Limit,
    ) -> Result<Option<Vec<PositionedImage>>, StorageError> {
        self.parts.store.positioned_images(self.viewer(caller), id, positions, limit).await
    }

    /// Moves images of an album in its own order, all at once.
    pub async fn move_images(
        &self,
        caller: &Caller,
        id: &AlbumId,
        moves: Vec<AlbumMove>,
    ) -> Result<AlbumMoved, StorageError> {
        let now = self.parts.clock.now();
        self.parts.store.move_images(self.viewer(caller), id, moves, now).await
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

#[cfg(test)]
mod tests {
    use super::is_titled;

    #[test]
    fn titles_are_found_without_case_accents_and_separators() {
        for (title, text, expected) in [
            ("Été à São Paulo", "ete a sao", true),
            ("Straße", "STRASSE", true),
            ("Road-trip", "road trip", true),
            ("Lisbon", " lis ", true),
            ("Lisbon", "", true),
            ("Lisbon", "lisboa", false),
            ("Lisbon", "-", false),
        ] {
            assert_eq!(is_titled(title, text), expected, "{title}: {text}");
        }
    }
}
