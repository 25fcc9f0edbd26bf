use async_trait::async_trait;
use domain::{
    Album, AlbumChange, AlbumId, AlbumMove, AlbumTitle, DateRange, Image, ImageId, Limit, Offset, Timestamp,
};

use crate::{StorageError, TimelineOrder, Viewer};

/// One page of an account's albums, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct AlbumPage {
    pub albums: Vec<Album>,
    /// Number of albums that the account has.
    pub total: u32,
}

/// An album with what a list of albums shows of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedAlbum {
    pub album: Album,
    /// The image of the cover.
    pub cover: Option<Image>,
    /// The capture times of the oldest and the newest visible image.
    pub captured: Option<(Timestamp, Timestamp)>,
}

/// An album without its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlbumName {
    pub id: AlbumId,
    pub title: String,
}

/// An album to create.
#[derive(Debug, Clone)]
pub struct NewAlbum {
    pub id: AlbumId,
    pub title: AlbumTitle,
    /// The first images; unchecked ids.
    pub images: Vec<String>,
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

/// Positions in an album's own order. They are kept while other images are moved, and given anew when there is no room between
/// two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Positions {
    /// From this position on, the lowest first.
    From(i64),
    /// Those before this position, the highest first.
    Before(i64),
}

/// An image with its position in an album's own order.
#[derive(Debug, Clone, PartialEq)]
pub struct PositionedImage {
    pub image: Image,
    pub position: i64,
}

/// The outcome of moving images of an album. Nothing changed unless it is `Done`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlbumMoved {
    /// The moves that put the images back; none if they were in these places already.
    Done(Vec<AlbumMove>),
    /// The viewer has no such album.
    NoAlbum,
    /// The album is shown in another order than its own.
    NotByHand,
    /// An image that others are put before is not in the album.
    UnknownImage,
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

    /// The names of all albums, newest album first.
    async fn album_names(&self, viewer: Viewer) -> Result<Vec<AlbumName>, StorageError>;

    /// All albums with their covers, newest first, by a fixed number of queries.
    async fn list_albums(&self, viewer: Viewer) -> Result<Vec<ListedAlbum>, StorageError>;

    /// Which of these images are in an album, and visible; none if the viewer has no such album.
    async fn images_in_album(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        images: Vec<ImageId>,
    ) -> Result<Vec<ImageId>, StorageError>;

    async fn album(&self, viewer: Viewer, id: &AlbumId) -> Result<Option<Album>, StorageError>;

    /// Creates an album with its first images.
    async fn create_album(&self, viewer: Viewer, album: NewAlbum) -> Result<AlbumWrite, StorageError>;

    /// A page of an album's visible images that were captured in the range, by capture time; `None` if the viewer has no
    /// such album.
    async fn album_images(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        range: DateRange,
        order: TimelineOrder,
        limit: Limit,
    ) -> Result<Option<Vec<Image>>, StorageError>;

    /// A page of an album's visible images in its own order; `None` if the viewer has no such album. Images that an older program
    /// has added come last.
    async fn positioned_images(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        positions: Positions,
        limit: Limit,
    ) -> Result<Option<Vec<PositionedImage>>, StorageError>;

    /// The albums that contain a visible image, newest album first.
    async fn albums_of_image(&self, viewer: Viewer, image: &ImageId) -> Result<Vec<AlbumName>, StorageError>;

    /// Changes title, order, cover and images. A new cover must be a visible image that is in the album already;
    /// otherwise the outcome is [`AlbumWrite::UnknownImage`]. Removing the chosen cover forgets the choice. Adding an
    /// image that is already in the album changes nothing, and so does removing an image that is not in it.
    /// `updated_at` is set only if something changed.
    ///
    /// In its own order, an album shows images that are added at its end, in the order sent. When it gets its own order, images
    /// without a position follow the others in the order in which the album showed them.
    async fn change_album(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        change: AlbumChange,
        at: Timestamp,
    ) -> Result<AlbumWrite, StorageError>;

    /// Moves images of an album in its own order, all at once. Images that are not in the album are left out. Images that are
    /// put before one that is moved itself are put before the next one that is not. `updated_at` is set only if the order
    /// changed.
    async fn move_images(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        moves: Vec<AlbumMove>,
        at: Timestamp,
    ) -> Result<AlbumMoved, StorageError>;

    /// Deletes an album but not its images; `false` when the viewer has no such album.
    async fn delete_album(&self, viewer: Viewer, id: &AlbumId) -> Result<bool, StorageError>;
}
