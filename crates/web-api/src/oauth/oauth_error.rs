//! Refusals in the form of RFC 6749, section 5.2, and RFC 7591, section 3.2.2.

use std::fmt::Display;

use http::{HeaderValue, StatusCode, header};
use oauth_core::ErrorBody;

use http_server::{
    body::ReadBodyError,
    reply::{Reply, WithHeader as _, json},
};

/// A refusal of the registration, token or revocation endpoint.
pub(super) fn refusal(status: StatusCode, body: &ErrorBody) -> Reply {
    json(status, body).with(header::PRAGMA, HeaderValue::from_static("no-cache"))
}

/// What the body of a refusal says.
pub(super) fn body(error: &'static str, description: &str) -> ErrorBody {
    ErrorBody { error, error_description: description.to_owned() }
}

/// The service cannot answer now. Nothing was consumed: the client keeps what it has and tries again.
pub(super) fn unavailable(error: &dyn Display) -> Reply {
    tracing::error!(%error, "the authorization server cannot answer");
    let description = "the service cannot answer now; nothing was changed, try again after a wait";
    refusal(StatusCode::SERVICE_UNAVAILABLE, &body("temporarily_unavailable", description))
        .with(header::RETRY_AFTER, HeaderValue::from_static("5"))
}

/// The client has to wait.
pub(super) fn too_many(retry_after_s: u64) -> Reply {
    let description = "too many requests; wait as long as Retry-After says";
    refusal(StatusCode::TOO_MANY_REQUESTS, &body("temporarily_unavailable", description))
        .with(header::RETRY_AFTER, HeaderValue::from(retry_after_s.max(1)))
}

/// A body that was not read; `error` is the endpoint's code for a malformed request.
pub(super) fn unread(cause: ReadBodyError, error: &'static str) -> Reply {
    let (status, description) = match cause {
        ReadBodyError::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the body is longer than 512000 bytes"),
        ReadBodyError::TooSlow => (StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"),
        ReadBodyError::Broken => (StatusCode::BAD_REQUEST, "the body did not arrive whole"),
        ReadBodyError::Encoded => {
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be sent as it is, without Content-Encoding")
        }
    };
    refusal(status, &body(error, description)).with(header::CONNECTION, HeaderValue::from_static("close"))
}
