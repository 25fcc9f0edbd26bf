//! Resumable uploads by tus 1.0.

use http::request::Parts;
use http_server::{
    body::RequestBody,
    reply::{Reply, not_found},
};

use crate::Sync;

/// Whether a path belongs to resumable uploads.
pub(crate) fn is_path(path: &str) -> bool {
    path == "/upload" || path.starts_with("/upload/")
}

/// Handles a request.
pub(crate) async fn handle(_sync: &Sync, _parts: &Parts, _body: RequestBody) -> Reply {
    not_found()
}
