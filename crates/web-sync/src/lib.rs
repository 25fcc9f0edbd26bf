//! The interfaces for photo sync: WebDAV, the endpoints of Nextcloud's apps, and resumable uploads.
//!
//! - [`webdav`]: `/dav/`, and the same files for Nextcloud's apps under `/remote.php/`.
//! - [`nextcloud`]: what these apps need besides: status, sign-in, account, previews.
//! - [`tus`]: resumable uploads at `/upload/`, also for the pages.
//!
//! Each turns a request into values of `domain`, calls the [`Library`], and turns the result into a reply. While the
//! service itself is at fault, every path answers 503 with `Retry-After` and never 500 or 429, because apps would give
//! the file up.
//!
//! This crate knows no SQL, no files of the machine, no image formats and no HTML.
//!
//! The most common change is another property of WebDAV: a row in `webdav/properties/table.rs`.

mod authentication;
mod nextcloud;
mod replies;
mod tus;
mod webdav;

use std::{net::IpAddr, sync::Arc};

use http::{Method, request::Parts};
use http_server::{BaseUrl, UploadSlots, body::RequestBody, reply::Reply};
use library::Library;
use web_auth::Authorization;

pub use tus::{InvalidMetadata, UploadMetadata, parse_checksum};

/// The interfaces for photo sync.
pub struct Sync {
    library: Library,
    base_url: BaseUrl,
    authorization: Arc<Authorization>,
    slots: Arc<UploadSlots>,
}

impl Sync {
    /// The interfaces of a library. `slots` are those for uploads.
    pub fn new(
        library: Library,
        base_url: BaseUrl,
        authorization: Arc<Authorization>,
        slots: Arc<UploadSlots>,
    ) -> Self {
        Self { library, base_url, authorization, slots }
    }
}

/// The reply in place of one with status 500, such as after a panic.
pub fn unavailable() -> Reply {
    replies::failed()
}

/// Whether a request is for photo sync.
pub fn is_sync_request(method: &Method, path: &str) -> bool {
    webdav::is_request(method, path) || nextcloud::is_path(path) || tus::is_path(path)
}

/// Handles a request to a path of photo sync. `address` is the address of the client.
pub async fn handle(sync: &Arc<Sync>, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let path = parts.uri.path();
    if webdav::is_request(&parts.method, path) {
        webdav::handle(sync, parts, body).await
    } else if tus::is_path(path) {
        tus::handle(sync, parts, body).await
    } else {
        nextcloud::handle(sync, parts, body, address).await
    }
}
