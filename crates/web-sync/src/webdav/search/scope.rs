use dav_protocol::headers::destination_path;
use domain::FilePath;
use library::Caller;

use crate::webdav::{
    error::DavError,
    places::{self, Place},
};

/// The path of the folder that a search names: by its URL, or relative to `/remote.php/dav`.
pub(super) fn path(href: &str, caller: &Caller) -> Result<FilePath, DavError> {
    let url_path = if href.starts_with("/files/") {
        relative(href)
    } else {
        destination_path(href).map_or_else(|_| relative(href), str::to_owned)
    };
    match places::place(&url_path, caller) {
        Ok(Place::File(place)) => Ok(place.path),
        _ => Err(DavError::SearchScope),
    }
}

/// The URL path of a path relative to `/remote.php/dav`. Clients of Nextcloud do not encode such paths.
fn relative(path: &str) -> String {
    format!("/remote.php/dav/{}", path.trim_start_matches('/').replace('%', "%25"))
}
