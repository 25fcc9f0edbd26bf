//! WebDAV (RFC 4918) for plain clients and for Nextcloud's apps.

use http::request::Parts;
use http_server::{
    body::RequestBody,
    reply::{Reply, not_found},
};

use crate::{Sync, authentication};

/// Whether a path belongs to WebDAV.
pub(crate) fn is_path(path: &str) -> bool {
    ["/dav", "/remote.php/dav", "/remote.php/webdav"]
        .iter()
        .any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Handles a request.
pub(crate) async fn handle(sync: &Sync, parts: &Parts, _body: RequestBody) -> Reply {
    match authentication::caller(sync, &parts.headers).await {
        Ok(_caller) => not_found(),
        Err(reply) => reply,
    }
}
