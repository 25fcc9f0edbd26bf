//! The endpoints that Nextcloud's apps need besides WebDAV: status, sign-in, account, previews.

use std::net::IpAddr;

use http::request::Parts;
use http_server::{
    body::RequestBody,
    reply::{Reply, not_found},
};

use crate::Sync;

/// Whether a path belongs to Nextcloud's apps.
pub(crate) fn is_path(path: &str) -> bool {
    path == "/status.php"
        || path.starts_with("/ocs/v1.php/")
        || path.starts_with("/ocs/v2.php/")
        || (path.starts_with("/index.php/") && !path.starts_with("/index.php/login/v2/flow/"))
}

/// Handles a request.
pub(crate) async fn handle(_sync: &Sync, _parts: &Parts, _body: RequestBody, _address: IpAddr) -> Reply {
    not_found()
}
