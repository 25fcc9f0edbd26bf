//! The proof that the operator of the library controls its domain, which OpenAI's directory of apps asks for.

use http::{HeaderValue, Method, StatusCode, header, request::Parts};
use http_server::{
    reply::{Reply, WithHeader as _, method_not_allowed, not_found, with_body},
    response_body::full,
};

const PATH: &str = "/.well-known/openai-apps-challenge";

/// Whether the token is at this path.
pub(crate) fn is_path(path: &str) -> bool {
    path.strip_suffix('/').unwrap_or(path) == PATH
}

/// The token as plain text, or 404 if the operator has set none.
pub(crate) fn handle(token: Option<&str>, parts: &Parts) -> Reply {
    let Some(token) = token else { return not_found() };
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return method_not_allowed("GET, HEAD");
    }
    with_body(StatusCode::OK, full(token.to_owned()))
        .with(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"))
        .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
}
