use async_trait::async_trait;
use domain::{Album, AlbumChange, AlbumId, AlbumTitle, Limit, Offset, Timestamp};

use crate::{StorageError, Viewer};

/// One page of an account's albums, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct AlbumPage {
    /// The albums of the page.
    pub albums: Vec<Album>,
    /// How many albums the account has.
    pub total: u32,
}

/// An album that is about to be.
#[derive(Debug, Clone)]
pub struct NewAlbum {
    /// Its new public id.
    pub id: AlbumId,
    /// Its title.
    pub title: AlbumTitle,
    /// Its first images, as sent.
    pub images: Vec<String>,
    /// Now.
    pub created_at: Timestamp,
}

/// What became of an album's creation or change. Unless it is `Done`, nothing changed.
#[derive(Debug, Clone, PartialEq)]
pub enum AlbumWrite {
    /// The album as it is now.
    Done(Album),
    /// The viewer has no such album.
    NoAlbum,
    /// An id belongs to an image of another account that its owner can see. It goes before `UnknownImage`.
    ForeignImage,
    /// An id belongs to no image that the viewer can see.
    UnknownImage,
    /// The account has [`MAX_ALBUMS_PER_ACCOUNT`](domain::MAX_ALBUMS_PER_ACCOUNT) albums already. It goes before
    /// the ids.
    TooManyAlbums,
}

/// Albums. Counts, covers and contents follow what the viewer sees.
#[async_trait]
pub trait AlbumStore: Send + Sync + 'static {
    /// A page of albums, newest first.
    async fn page_albums(
        &self,
        viewer: Viewer,
        limit: Limit,
        offset: Offset,
    ) -> Result<AlbumPage, StorageError>;

    /// One album.
    async fn album(&self, viewer: Viewer, id: &AlbumId) -> Result<Option<Album>, StorageError>;

    /// Makes an album with its first images.
    async fn create_album(&self, viewer: Viewer, album: NewAlbum) -> Result<AlbumWrite, StorageError>;

    /// Changes title and images. Adding an image twice and removing an absent one change nothing;
    /// `updated_at` moves only when something changed.
    async fn change_album(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        change: AlbumChange,
        at: Timestamp,
    ) -> Result<AlbumWrite, StorageError>;

    /// Deletes an album, not its images; `false` when the viewer has no such album.
    async fn delete_album(&self, viewer: Viewer, id: &AlbumId) -> Result<bool, StorageError>;
}
