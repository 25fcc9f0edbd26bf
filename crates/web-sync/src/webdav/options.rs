//! OPTIONS, and the methods that are known.

use http::{HeaderName, HeaderValue, StatusCode, header};
use http_server::reply::{Reply, WithHeader as _, empty};

/// The methods of files and folders.
pub(super) const ALLOW: &str =
    "OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, PROPPATCH, MKCOL, COPY, MOVE, LOCK, UNLOCK, REPORT";

/// Methods that other WebDAV servers have and this one refuses. Any other method is unknown.
const REFUSED: [&str; 7] = ["POST", "PATCH", "TRACE", "CONNECT", "SEARCH", "ACL", "MKCALENDAR"];

/// Whether a method is known: a request with another one is answered with 501 (RFC 9110 §15.6.2).
pub(super) fn is_known(method: &str) -> bool {
    REFUSED.contains(&method) || ALLOW.split(", ").any(|known| known == method)
}

/// The response to OPTIONS: WebDAV with locks, without which Finder mounts read-only.
pub(super) fn reply() -> Reply {
    empty(StatusCode::OK)
        .with(HeaderName::from_static("dav"), HeaderValue::from_static("1, 2"))
        // Explorer refuses servers without it.
        .with(HeaderName::from_static("ms-author-via"), HeaderValue::from_static("DAV"))
        .with(header::ALLOW, HeaderValue::from_static(ALLOW))
}
