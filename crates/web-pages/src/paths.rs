//! Paths of pages that other pages link to.

use domain::{AlbumId, ImageId};

pub(crate) const ALBUMS: &str = "/albums";
pub(crate) const MAP: &str = "/map";
pub(crate) const SEARCH: &str = "/search";
pub(crate) const SIGN_OUT: &str = "/sign-out";

/// The prefix of the paths of photos; an id follows.
pub(crate) const PHOTOS: &str = "/photos/";

/// The page of a photo.
pub(crate) fn photo(id: &ImageId) -> String {
    format!("{PHOTOS}{id}")
}

/// The page of an album.
pub(crate) fn album(id: &AlbumId) -> String {
    format!("{ALBUMS}/{id}")
}
