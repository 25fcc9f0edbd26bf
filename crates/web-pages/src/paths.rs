//! Paths of pages that other pages link to.

use domain::{AlbumId, ImageId};

pub(crate) const ALBUMS: &str = "/albums";
pub(crate) const ARCHIVE: &str = "/archive";
/// Where example photos are added.
pub(crate) const EXAMPLES: &str = "/examples";
/// The pictures that lead to searches.
pub(crate) const EXPLORE: &str = "/explore";
/// The search for favourites.
pub(crate) const FAVORITES: &str = "/search?favorite=yes";
pub(crate) const MAP: &str = "/map";
/// Where the timeline shows or hides the photos of this day in earlier years.
pub(crate) const ON_THIS_DAY: &str = "/on-this-day";
pub(crate) const SEARCH: &str = "/search";
/// Where the system's share sheet sends photos.
pub(crate) const SHARE: &str = "/share";
/// What typed words could become.
pub(crate) const SUGGEST: &str = "/web/suggest";
pub(crate) const SIGN_OUT: &str = "/sign-out";
/// Where the theme of the browser is chosen.
pub(crate) const THEME: &str = "/theme";
/// The page with the upload.
pub(crate) const UPLOAD: &str = "/account/sync";

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

/// The search for words.
pub(crate) fn search_for(words: &str) -> String {
    let start = format!("{SEARCH}?");
    let length = start.len();
    url::form_urlencoded::Serializer::for_suffix(start, length).append_pair("q", words).finish()
}
