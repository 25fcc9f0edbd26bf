//! Resumable uploads by tus 1.0 (<https://tus.io/protocols/resumable-upload>), with the extensions creation,
//! creation-with-upload, expiration, termination and checksum.
//!
//! `/upload/` begins an upload, `/upload/NAME` continues it. The last bytes import the photo. `/upload/known` returns
//! which photos the account already has.

mod authentication;
mod checksum;
mod create;
mod headers;
mod known;
mod metadata;
mod replies;
mod resume;

use http::{HeaderMap, Method, StatusCode, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, WithHeader as _, empty, method_not_allowed, not_found},
};

use crate::Sync;

pub use checksum::parse_checksum;
pub use metadata::{InvalidMetadata, UploadMetadata};

const PREFIX: &str = "/upload/";

/// The path of the request that returns which photos are known.
const KNOWN_PATH: &str = "/upload/known";

/// Whether a path belongs to resumable uploads.
pub(crate) fn is_path(path: &str) -> bool {
    path == "/upload" || path.starts_with(PREFIX)
}

pub(crate) async fn handle(sync: &Sync, parts: &Parts, mut body: RequestBody) -> Reply {
    let method = method(parts);
    if method == Method::OPTIONS {
        return options(sync);
    }
    let caller = match authentication::uploader(sync, &method, &parts.headers).await {
        Ok(caller) => caller,
        Err(reply) => return reply,
    };
    // A refused body is discarded, so that a client that is still sending can read why its file is refused.
    body.discard_up_to(sync.library.settings().limits.max_upload_bytes);
    let path = parts.uri.path();
    if path == KNOWN_PATH {
        return match method {
            Method::POST => known::known(sync, &caller, parts, body).await,
            _ => method_not_allowed("POST, OPTIONS"),
        };
    }
    if !headers::has_version(&parts.headers) {
        return with_version(replies::wrong_version());
    }
    with_version(match (upload_name(path), method) {
        (None, Method::POST) => create::create(sync, caller, parts, body).await,
        (None, _) => method_not_allowed("POST, OPTIONS"),
        (Some(name), Method::HEAD) => resume::head(sync, &caller, name).await,
        (Some(name), Method::PATCH) => resume::patch(sync, caller, name, parts, body).await,
        (Some(name), Method::DELETE) => resume::delete(sync, &caller, name).await,
        (Some(name), _) if name.contains('/') => not_found(),
        (Some(_), _) => method_not_allowed("HEAD, PATCH, DELETE, OPTIONS"),
    })
}

/// The method of a request. Clients that cannot send PATCH or DELETE send POST and name the method in a header.
fn method(parts: &Parts) -> Method {
    let named = headers::text(&parts.headers, headers::METHOD_OVERRIDE);
    let overridden = named.and_then(|name| Method::from_bytes(name.to_ascii_uppercase().as_bytes()).ok());
    match overridden {
        Some(method) if parts.method == Method::POST => method,
        _ => parts.method.clone(),
    }
}

/// The name of the upload at a path; `None` for the path that begins uploads.
fn upload_name(path: &str) -> Option<&str> {
    path.strip_prefix(PREFIX).filter(|name| !name.is_empty())
}

/// The reply to OPTIONS: the version, extensions and limits of the server.
fn options(sync: &Sync) -> Reply {
    let max = sync.library.settings().limits.max_upload_bytes;
    with_version(empty(StatusCode::NO_CONTENT))
        .with(headers::TUS_VERSION, headers::VERSION)
        .with(headers::TUS_EXTENSION, headers::EXTENSIONS)
        .with(headers::TUS_MAX_SIZE, max.into())
        .with(headers::TUS_CHECKSUM_ALGORITHM, checksum::ALGORITHMS)
}

fn with_version(reply: Reply) -> Reply {
    reply.with(headers::TUS_RESUMABLE, headers::VERSION)
}

/// The number in a header, if it is a plain decimal.
fn number(headers: &HeaderMap, name: http::HeaderName) -> Option<u64> {
    let text = headers::text(headers, name)?;
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    #[test]
    fn only_post_can_be_overridden() {
        let check = |method: &str, header: Option<&str>, expect: Method| {
            let mut request = Request::builder().method(method);
            if let Some(header) = header {
                request = request.header("x-http-method-override", header);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(super::method(&parts), expect);
        };
        check("POST", None, Method::POST);
        check("POST", Some("patch"), Method::PATCH);
        check("POST", Some("DELETE"), Method::DELETE);
        check("POST", Some("not a method"), Method::POST);
        check("HEAD", Some("DELETE"), Method::HEAD);
    }

    #[test]
    fn the_name_of_an_upload_follows_the_prefix() {
        assert!(is_path("/upload") && is_path("/upload/") && !is_path("/uploads"));
        assert_eq!(upload_name("/upload"), None);
        assert_eq!(upload_name("/upload/"), None);
        assert_eq!(upload_name("/upload/abc"), Some("abc"));
    }

    #[test]
    fn numbers_are_plain_decimals() {
        let check = |text: &'static str, expect| {
            let mut map = HeaderMap::new();
            map.insert(headers::UPLOAD_LENGTH, http::HeaderValue::from_static(text));
            assert_eq!(number(&map, headers::UPLOAD_LENGTH), expect, "{text}");
        };
        check("17", Some(17));
        check("0", Some(0));
        for bad in ["", "-1", "+1", "1.0", "1e3", "99999999999999999999", "x"] {
            check(bad, None);
        }
    }
}
