//! Responses of `oauth-core` as replies. A temporary failure is also logged.

use bytes::Bytes;
use http::Response;
use http_server::{reply::Reply, response_body::full};
use oauth_core::{DocumentError, ErrorBody, Unavailable};

/// A complete response of `oauth-core`.
pub(crate) fn reply(response: Response<Bytes>) -> Reply {
    response.map(full)
}

/// 503: the service is unavailable. No code or token was consumed, so the client can retry with the same one.
pub(super) fn unavailable(error: &Unavailable) -> Reply {
    match error {
        // The host of a client failed, not this service.
        Unavailable::ClientKeys(DocumentError::Failed { message, detail }) => {
            tracing::warn!(message, detail, "the public keys of a client could not be fetched");
        }
        _ => tracing::error!(%error, "a request to the authorization server failed"),
    }
    reply(error.response())
}

/// 429: a rate limit was reached.
pub(super) fn too_many(retry_after_s: u64) -> Reply {
    reply(ErrorBody::too_many_requests(retry_after_s))
}
