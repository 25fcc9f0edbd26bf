use async_trait::async_trait;
use domain::{Album, AlbumChange, AlbumId, AlbumTitle, Limit, Offset, Timestamp};

use crate::{StorageError, Viewer};

/// One page of an account's albums, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct AlbumPage {
    /// The albums on the page.
    pub albums: Vec<Album>,
    /// Number of albums that the account has.
    pub total: u32,
}

/// An album to create.
#[derive(Debug, Clone)]
pub struct NewAlbum {
    /// The new public id.
    pub id: AlbumId,
    /// The title.
    pub title: AlbumTitle,
    /// The first images; unchecked ids.
    pub images: Vec<String>,
    /// The current time.
    pub created_at: Timestamp,
}

/// The outcome of creating or changing an album. Nothing changed unless it is `Done`.
#[derive(Debug, Clone, PartialEq)]
pub enum AlbumWrite {
    /// The album after the change.
    Done(Album),
    /// The viewer has no such album.
    NoAlbum,
    /// An id belongs to an image of another account that is visible to its owner. Takes precedence over
    /// `UnknownImage`.
    ForeignImage,
    /// An id does not belong to an image that is visible to the viewer.
    UnknownImage,
    /// The account already has [`MAX_ALBUMS_PER_ACCOUNT`](domain::MAX_ALBUMS_PER_ACCOUNT) albums. Takes precedence
    /// over errors about ids.
    TooManyAlbums,
}

/// Albums. Counts, covers and contents include visible images only.
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

    /// Creates an album with its first images.
    async fn create_album(&self, viewer: Viewer, album: NewAlbum) -> Result<AlbumWrite, StorageError>;

    /// Changes title and images. Adding an image that is in the album and removing one that is not are no changes;
    /// `updated_at` is set only by a change.
    async fn change_album(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        change: AlbumChange,
        at: Timestamp,
    ) -> Result<AlbumWrite, StorageError>;

    /// Deletes an album but not its images; `false` when the viewer has no such album.
    async fn delete_album(&self, viewer: Viewer, id: &AlbumId) -> Result<bool, StorageError>;
}
