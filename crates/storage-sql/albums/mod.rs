mod moves;
mod rows;
mod writes;

use domain::{Album, AlbumChange, AlbumId, AlbumMove, DateRange, Image, ImageId, Limit, Offset, Timestamp};
use storage::{
    AlbumMoved, AlbumName, AlbumPage, AlbumStore, AlbumWrite, ListedAlbum, NewAlbum, PositionedImage,
    Positions, StorageError, TimelineOrder, Viewer,
};

use crate::Lock;

pub(crate) use rows::seq;
pub(crate) use writes::{add, remove, set_updated};

operations! {
    impl AlbumStore {
        read page_albums(viewer: Viewer, limit: Limit, offset: Offset) -> AlbumPage = rows::page;
        read album_names(viewer: Viewer) -> Vec<AlbumName> = rows::names;
        read list_albums(viewer: Viewer) -> Vec<ListedAlbum> = rows::list;
        read images_in_album(viewer: Viewer, id: &AlbumId, images: Vec<ImageId> as ref) -> Vec<ImageId>
            = rows::members;
        read album(viewer: Viewer, id: &AlbumId) -> Option<Album> = rows::album;
        read album_images(
            viewer: Viewer, id: &AlbumId, range: DateRange, order: TimelineOrder, limit: Limit
        ) -> Option<Vec<Image>> = rows::contents;
        read albums_of_image(viewer: Viewer, image: &ImageId) -> Vec<AlbumName> = rows::of_image;
        write(Lock::Account(viewer.account.0)) create_album(
            viewer: Viewer, album: NewAlbum as ref
        ) -> AlbumWrite = writes::create;
        write(Lock::Account(viewer.account.0)) change_album(
            viewer: Viewer, id: &AlbumId, change: AlbumChange as ref, at: Timestamp
        ) -> AlbumWrite = writes::change;
        write(Lock::Account(viewer.account.0)) move_images(
            viewer: Viewer, id: &AlbumId, moves: Vec<AlbumMove> as ref, at: Timestamp
        ) -> AlbumMoved = moves::apply;
        write(Lock::Account(viewer.account.0)) delete_album(viewer: Viewer, id: &AlbumId) -> bool
            = writes::delete;
    }
    by hand {
        async fn positioned_images(
            &self,
            viewer: Viewer,
            id: &AlbumId,
            positions: Positions,
            limit: Limit,
        ) -> Result<Option<Vec<PositionedImage>>, StorageError> {
            self.read_placed(viewer, id, move |c, id| rows::positioned(c, viewer, id, positions, limit)).await
        }
    }
}
