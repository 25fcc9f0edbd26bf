//! Requests by scripts of other origins (CORS) to the interfaces for programs.

use std::time::Duration;

use http::{HeaderValue, Method, Request, header};
use http_server::reply::{Reply, WithHeader as _};
use hyper::body::Incoming;
use tower_http::cors::{AllowHeaders, Any as AnyOrigin, CorsLayer};

/// Whether a request is a CORS preflight (Fetch standard). Any other OPTIONS request is handled like other methods.
pub(crate) fn is_preflight(request: &Request<Incoming>) -> bool {
    let headers = request.headers();
    request.method() == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The response headers that scripts of other origins may read.
const EXPOSED_HEADERS: HeaderValue = HeaderValue::from_static(
    "www-authenticate,etag,content-range,accept-ranges,content-length,retry-after,allow,mcp-session-id",
);

/// Lets scripts of any origin read a reply. The headers are the same for all requests.
pub(crate) fn readable(reply: Reply) -> Reply {
    reply
        .with(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"))
        .with(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS)
}

/// Answers preflights.
pub(crate) fn preflights() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AnyOrigin)
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::PATCH, Method::DELETE])
        // Repeats the requested headers, because the wildcard does not cover `Authorization`.
        .allow_headers(AllowHeaders::mirror_request())
        .max_age(Duration::from_secs(3600))
}
