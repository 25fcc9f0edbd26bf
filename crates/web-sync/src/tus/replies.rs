//! Replies of resumable uploads.

use std::time::{Duration, UNIX_EPOCH};

use domain::Timestamp;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_server::reply::{Reply, WithHeader as _, empty, error, retry_after};
use library::{ImportError, Progress, UploadError};

use super::headers::{
    PHOTO_ID, PHOTO_RESULT, TUS_VERSION, UPLOAD_CHECKSUM, UPLOAD_EXPIRES, UPLOAD_OFFSET, VERSION,
};
use crate::replies::{BUSY_RETRY_S, RETRY_AFTER_S, unavailable};

/// 412 for another version of the protocol.
pub(super) fn wrong_version() -> Reply {
    error(StatusCode::PRECONDITION_FAILED, "send Tus-Resumable: 1.0.0").with(TUS_VERSION, VERSION)
}

/// 400 with a reason.
pub(super) fn bad_request(reason: &str) -> Reply {
    error(StatusCode::BAD_REQUEST, reason)
}

/// The reply to bytes that were not accepted. tus defines a status of its own only for a wrong `Upload-Checksum`.
pub(super) fn part_failed(failure: &UploadError, headers: &HeaderMap) -> Reply {
    match failure {
        UploadError::Import(ImportError::ChecksumMismatch) if !headers.contains_key(UPLOAD_CHECKSUM) => {
            bad_request(&failure.to_string())
        }
        _ => failed(failure),
    }
}

/// The progress of an upload, and its result once there is one.
pub(super) fn with_progress(status: StatusCode, progress: &Progress) -> Reply {
    let reply = empty(status)
        .with(UPLOAD_OFFSET, progress.received.into())
        .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let reply = with_expiry(reply, progress.expires_at);
    match &progress.result {
        None => reply,
        Some(result) => {
            let reply = reply.with(PHOTO_RESULT, HeaderValue::from_static(result.outcome.as_str()));
            match HeaderValue::try_from(result.image.as_str()) {
                Ok(image) => reply.with(PHOTO_ID, image),
                Err(_) => reply,
            }
        }
    }
}

/// Says when an upload expires.
fn with_expiry(reply: Reply, expires_at: Timestamp) -> Reply {
    let since = Duration::from_millis(u64::try_from(expires_at.millis()).unwrap_or_default());
    match HeaderValue::try_from(httpdate::fmt_http_date(UNIX_EPOCH + since)) {
        Ok(date) => reply.with(UPLOAD_EXPIRES, date),
        Err(_) => reply,
    }
}

/// 503 while all slots for uploads of the account are taken.
pub(super) fn too_many_uploads() -> Reply {
    let reply = error(StatusCode::SERVICE_UNAVAILABLE, "too many uploads are running; try again in a moment");
    retry_after(reply, BUSY_RETRY_S)
}

/// The reply to an upload that failed or cannot be continued.
pub(super) fn failed(failure: &UploadError) -> Reply {
    let status = match failure {
        UploadError::NotFound => StatusCode::NOT_FOUND,
        UploadError::Lost => StatusCode::GONE,
        UploadError::Busy => StatusCode::LOCKED,
        UploadError::TooMany => StatusCode::FORBIDDEN,
        UploadError::Exists | UploadError::WrongOffset { .. } => StatusCode::CONFLICT,
        // As in WebDAV: clients retry after 503, and give up after 400.
        UploadError::Import(ImportError::Interrupted(_)) => StatusCode::SERVICE_UNAVAILABLE,
        UploadError::Import(failure) => match import_status(failure) {
            Some(status) => status,
            None => return unavailable(failure),
        },
    };
    let reply = error(status, &failure.to_string());
    match failure {
        UploadError::WrongOffset { received } => reply.with(UPLOAD_OFFSET, (*received).into()),
        UploadError::Import(ImportError::Interrupted(_)) => retry_after(reply, RETRY_AFTER_S),
        _ => reply,
    }
}

/// The status of a refused file; `None` when the service is at fault.
fn import_status(failure: &ImportError) -> Option<StatusCode> {
    match failure {
        ImportError::Refused(_) => Some(StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ImportError::TooLarge { .. } => Some(StatusCode::PAYLOAD_TOO_LARGE),
        ImportError::WrongLength { .. } => Some(StatusCode::BAD_REQUEST),
        // tus gives this status to a wrong checksum.
        ImportError::ChecksumMismatch => StatusCode::from_u16(460).ok(),
        ImportError::QuotaExceeded { .. } => Some(StatusCode::INSUFFICIENT_STORAGE),
        ImportError::AccountGone => Some(StatusCode::UNAUTHORIZED),
        ImportError::Changed
        | ImportError::Interrupted(_)
        | ImportError::Read(_)
        | ImportError::Entry(_)
        | ImportError::BeingRemoved
        | ImportError::Staging(_)
        | ImportError::Blob(_)
        | ImportError::Unavailable(_) => None,
    }
}
