//! Replies of any interface.

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use serde::Serialize;

use crate::response_body::{ResponseBody, full};

pub type Reply = Response<ResponseBody>;

/// The content type of JSON.
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Room for the headers of most responses.
const USUAL_HEADERS: usize = 12;

/// A response without a body.
pub fn empty(status: StatusCode) -> Reply {
    with_body(status, full(""))
}

pub fn with_body(status: StatusCode, body: ResponseBody) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    *reply.headers_mut() = HeaderMap::with_capacity(USUAL_HEADERS);
    reply
}

/// A JSON response that no cache may keep, because it belongs to one account.
pub fn json(status: StatusCode, value: &impl Serialize) -> Reply {
    match serde_json::to_vec(value) {
        Ok(text) => {
            let reply = with_body(status, full(text)).with(header::CONTENT_TYPE, JSON);
            reply.with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        }
        Err(error) => {
            tracing::error!(%error, "a reply could not be serialized");
            empty(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

/// The body of an error: `{"error": …}`.
#[derive(Debug, Serialize)]
pub struct ErrorBody<'a> {
    /// The message, or an error code.
    pub error: &'a str,
}

/// An error with a message for people.
pub fn error(status: StatusCode, message: &str) -> Reply {
    json(status, &ErrorBody { error: message })
}

/// Marks a reply as one that may be compressed. Compression reveals to a listener how similar the parts of a reply are. So a
/// reply that contains both a secret and a text of the request is never marked.
#[must_use]
pub fn compressible(mut reply: Reply) -> Reply {
    reply.extensions_mut().insert(Compressible);
    reply
}

/// Whether a reply was marked by [`compressible`].
pub fn is_compressible(reply: &http::Extensions) -> bool {
    reply.get::<Compressible>().is_some()
}

#[derive(Debug, Clone, Copy)]
struct Compressible;

/// 404 for a path that does not exist.
pub fn not_found() -> Reply {
    error(StatusCode::NOT_FOUND, "there is nothing at this path")
}

/// 500 for a defect of the service, which is logged.
pub fn internal_error() -> Reply {
    error(StatusCode::INTERNAL_SERVER_ERROR, "internal error; try again later")
}

/// Sets `Retry-After`, to at least one second.
pub fn retry_after(reply: Reply, seconds: u64) -> Reply {
    reply.with(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)))
}

/// 405 with the methods that are allowed.
pub fn method_not_allowed(allow: &'static str) -> Reply {
    let message = format!("method not allowed; use {allow}");
    error(StatusCode::METHOD_NOT_ALLOWED, &message).with(header::ALLOW, HeaderValue::from_static(allow))
}

/// Redirects a GET.
pub fn found(location: &str) -> Reply {
    redirect(StatusCode::FOUND, location)
}

/// Redirects to a GET after a form.
pub fn see_other(location: &str) -> Reply {
    redirect(StatusCode::SEE_OTHER, location)
}

/// Redirects any request, which keeps its method and body.
pub fn permanent_redirect(location: &str) -> Reply {
    redirect(StatusCode::PERMANENT_REDIRECT, location)
}

fn redirect(status: StatusCode, location: &str) -> Reply {
    let Ok(location) = HeaderValue::try_from(location) else {
        tracing::error!("a redirect target is not a valid header value");
        return internal_error();
    };
    empty(status)
        .with(header::LOCATION, location)
        .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}

/// Sets a header on a reply.
pub trait WithHeader {
    /// The reply with this header, which replaces one of the same name.
    #[must_use]
    fn with(self, name: HeaderName, value: HeaderValue) -> Self;
}

impl WithHeader for Reply {
    fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers_mut().insert(name, value);
        self
    }
}
