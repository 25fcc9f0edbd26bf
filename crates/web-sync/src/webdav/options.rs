//! OPTIONS, and the methods that are known.

use http::{HeaderName, HeaderValue, StatusCode, header};
use http_server::reply::{Reply, WithHeader as _, empty};

use super::places;

/// The methods of files and folders.
pub(super) const ALLOW: &str =
    "OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, PROPPATCH, MKCOL, COPY, MOVE, LOCK, UNLOCK, REPORT";

/// The methods where SEARCH is offered as well.
const ALLOW_WITH_SEARCH: &str =
    "OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, PROPPATCH, MKCOL, COPY, MOVE, LOCK, UNLOCK, REPORT, SEARCH";

/// Methods that other WebDAV servers have and this one refuses. Any other method is unknown.
const REFUSED: [&str; 6] = ["POST", "PATCH", "TRACE", "CONNECT", "ACL", "MKCALENDAR"];

/// Whether a method is known: a request with another one is answered with 501 (RFC 9110 §15.6.2).
pub(super) fn is_known(method: &str) -> bool {
    REFUSED.contains(&method) || ALLOW_WITH_SEARCH.split(", ").any(|known| known == method)
}

/// The response to OPTIONS: WebDAV with locks, without which Finder mounts read-only.
pub(super) fn reply(path: &str) -> Reply {
    let reply = empty(StatusCode::OK)
        .with(HeaderName::from_static("dav"), HeaderValue::from_static("1, 2"))
        // Explorer refuses servers without this header.
        .with(HeaderName::from_static("ms-author-via"), HeaderValue::from_static("DAV"));
    if !places::is_searched(path) {
        return reply.with(header::ALLOW, HeaderValue::from_static(ALLOW));
    }
    // Nextcloud's app for Android shows its media tab if SEARCH is allowed. DASL names the grammar (RFC 5323 §3.2).
    reply
        .with(header::ALLOW, HeaderValue::from_static(ALLOW_WITH_SEARCH))
        .with(HeaderName::from_static("dasl"), HeaderValue::from_static("<DAV:basicsearch>"))
}
