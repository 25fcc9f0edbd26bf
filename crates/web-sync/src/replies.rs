//! Replies that all interfaces for photo sync share.

use std::fmt::Display;

use http::{HeaderValue, StatusCode, header};
use http_server::reply::{Reply, WithHeader as _, empty, retry_after};

/// When a client may retry after a failure of the service, in seconds.
pub(crate) const RETRY_AFTER_S: u64 = 30;

/// `Retry-After` in seconds for a client for which there was no slot. It is short, because uploads end all the time.
pub(crate) const BUSY_RETRY_S: u64 = 5;

/// 401 that asks for a sync password.
pub(crate) fn unauthorized() -> Reply {
    let challenge = HeaderValue::from_static("Basic realm=\"Photo sync\", charset=\"UTF-8\"");
    empty(StatusCode::UNAUTHORIZED).with(header::WWW_AUTHENTICATE, challenge)
}

/// 503 for a failure of the service, which is logged.
pub(crate) fn unavailable(error: &dyn Display) -> Reply {
    log_unavailable(error);
    failed()
}

/// 503 with the time to retry.
pub(crate) fn failed() -> Reply {
    retry_after(empty(StatusCode::SERVICE_UNAVAILABLE), RETRY_AFTER_S)
}

/// Logs a failure of the service.
pub(crate) fn log_unavailable(error: &dyn Display) {
    tracing::error!(%error, "photo sync is unavailable");
}
