use async_trait::async_trait;
use domain::{AlbumId, CameraSettings, ImageId};

use crate::{StorageError, Viewer};

/// The maximum number of albums in a [`PhotoContext`].
pub const MAX_ALBUMS_OF_PHOTO: u32 = 100;

/// The albums and the neighbours of a visible image, and how its camera was set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PhotoContext {
    /// The albums that contain it with their titles, by title; at most [`MAX_ALBUMS_OF_PHOTO`].
    pub albums: Vec<(AlbumId, String)>,
    /// The image before it: in the order of the album, and in the timeline the next newer one.
    pub previous: Option<ImageId>,
    /// The image after it.
    pub next: Option<ImageId>,
    /// Its position, if the album is in its own order.
    pub position: Option<i64>,
    pub settings: Option<CameraSettings>,
}

/// What the page of a photo shows beside the photo.
#[async_trait]
pub trait PhotoContextStore: Send + Sync + 'static {
    /// The albums of an image, the settings of its camera, and its neighbours in the timeline, or in an album of the viewer. Empty if the image is not
    /// visible to the viewer; without neighbours if there is no such album, or the image is not in it.
    async fn photo_context(
        &self,
        viewer: Viewer,
        id: &ImageId,
        album: Option<&AlbumId>,
    ) -> Result<PhotoContext, StorageError>;
}
