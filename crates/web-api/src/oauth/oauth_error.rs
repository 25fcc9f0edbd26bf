//! Errors in the form of RFC 6749, section 5.2, and RFC 7591, section 3.2.2.

use std::fmt::Display;

use http::{HeaderValue, StatusCode, header};
use oauth_core::ErrorBody;

use http_server::{
    body::{MAX_BODY_BYTES, ReadBodyError},
    reply::{Reply, WithHeader as _, json, retry_after},
};

/// An error of the registration, token or revocation endpoint.
pub(super) fn rejection(status: StatusCode, body: &ErrorBody) -> Reply {
    json(status, body).with(header::PRAGMA, HeaderValue::from_static("no-cache"))
}

/// The body of an error.
pub(super) fn body(error: &'static str, description: &str) -> ErrorBody {
    ErrorBody { error, error_description: description.to_owned() }
}

/// 503: the service is unavailable. No code or token was consumed, so the client can retry with the same one.
pub(super) fn unavailable(error: &dyn Display) -> Reply {
    tracing::error!(%error, "a request to the authorization server failed");
    let description = "the service is temporarily unavailable; nothing was changed, retry later";
    retry_after(rejection(StatusCode::SERVICE_UNAVAILABLE, &body("temporarily_unavailable", description)), 5)
}

/// 429: a rate limit was reached.
pub(super) fn too_many(retry_after_s: u64) -> Reply {
    let description = "too many requests; retry after the seconds in Retry-After";
    let reply = rejection(StatusCode::TOO_MANY_REQUESTS, &body("temporarily_unavailable", description));
    retry_after(reply, retry_after_s)
}

/// The reply to a body that could not be read; `error` is the endpoint's code for a malformed request.
pub(super) fn unreadable_body(cause: ReadBodyError, error: &'static str) -> Reply {
    let too_large = format!("the body is longer than {MAX_BODY_BYTES} bytes");
    let (status, description) = match cause {
        ReadBodyError::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, too_large.as_str()),
        ReadBodyError::TooSlow => (StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"),
        ReadBodyError::Broken => (StatusCode::BAD_REQUEST, "the body was cut off"),
        ReadBodyError::Encoded => {
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be sent without Content-Encoding")
        }
    };
    rejection(status, &body(error, description)).with(header::CONNECTION, HeaderValue::from_static("close"))
}
