//! Errors of WebDAV, with the bodies that clients read.

use dav_protocol::{
    InvalidPath, XmlWriter,
    bodies::{InvalidBody, InvalidSearch},
    headers::InvalidHeader,
};
use http::{HeaderValue, Method, StatusCode, header};
use http_server::{
    reply::{Reply, WithHeader as _, empty, retry_after, with_body},
    response_body::full,
};
use library::{FileError, FileRefusal, ImportError, StorageError, UploadError};

use super::{multistatus::XML, options};
use crate::replies::{self, BUSY_RETRY_S, RETRY_AFTER_S};

/// Why a request failed. The message is shown by Nextcloud's apps.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DavError {
    #[error("{0}")]
    BadRequest(String),
    #[error("{0}")]
    InvalidPath(#[from] InvalidPath),
    #[error("sign in with a sync password")]
    AccountGone,
    #[error("{0}")]
    Forbidden(&'static str),
    /// `propfind-finite-depth` (RFC 4918 §9.1.1).
    #[error("there are too many files; list one folder at a time, with Depth 0 or 1")]
    InfiniteDepth,
    #[error("this report is not supported")]
    UnsupportedReport,
    #[error(transparent)]
    Search(#[from] InvalidSearch),
    /// `search-scope-valid` (RFC 5323 §2.5).
    #[error("this is not one of your folders, so it cannot be searched")]
    SearchScope,
    #[error("there is no such file or folder")]
    NotFound,
    #[error("this is not possible here")]
    MethodNotAllowed,
    #[error("there is already a file or folder of this name")]
    Exists,
    #[error("the service does not know this method")]
    NotImplemented,
    #[error("{0}")]
    Conflict(&'static str),
    /// `lock-token-matches-request-uri` (RFC 4918 §9.11.1).
    #[error("the lock does not exist or has expired")]
    NoSuchLock(StatusCode),
    #[error("{0}")]
    Precondition(&'static str),
    #[error("{0}")]
    TooLarge(String),
    #[error("{0}")]
    UnsupportedMedia(String),
    #[error("send the file without a content encoding")]
    Encoded,
    #[error("the file is locked")]
    Locked,
    /// `no-conflicting-lock` (RFC 4918 §9.10).
    #[error("the file or folder, or something in it, is locked already")]
    LockConflict,
    #[error("{0}")]
    QuotaExceeded(String),
    #[error("the upload was interrupted; send it again")]
    Interrupted,
    #[error("too many uploads are running; try again in a moment")]
    TooManyUploads,
    #[error("the service is unavailable; try again later")]
    Unavailable,
}

impl From<InvalidHeader> for DavError {
    fn from(error: InvalidHeader) -> Self {
        Self::BadRequest(error.to_string())
    }
}

impl From<InvalidBody> for DavError {
    fn from(error: InvalidBody) -> Self {
        Self::BadRequest(error.to_string())
    }
}

impl From<StorageError> for DavError {
    fn from(error: StorageError) -> Self {
        replies::log_unavailable(&error);
        Self::Unavailable
    }
}

impl From<FileError> for DavError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Refused(refusal) => refusal.into(),
            FileError::Import(error) => error.into(),
            FileError::Unavailable(error) => {
                replies::log_unavailable(&error);
                Self::Unavailable
            }
        }
    }
}

impl From<UploadError> for DavError {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::NotFound | UploadError::Lost => Self::NotFound,
            UploadError::Exists => Self::Exists,
            UploadError::TooMany => Self::QuotaExceeded(error.to_string()),
            UploadError::WrongOffset { .. } | UploadError::Busy => Self::Locked,
            UploadError::Import(error) => error.into(),
        }
    }
}

impl From<FileRefusal> for DavError {
    fn from(refusal: FileRefusal) -> Self {
        match refusal {
            FileRefusal::NotFound => Self::NotFound,
            FileRefusal::NoParent => Self::Conflict("the folder above does not exist"),
            FileRefusal::Exists => Self::Exists,
            FileRefusal::IsFolder => Self::MethodNotAllowed,
            FileRefusal::IntoItself => {
                Self::Forbidden("a file or folder cannot be moved or copied onto or into itself")
            }
            FileRefusal::Condition => Self::Precondition("the file has changed"),
            FileRefusal::Locked => Self::Locked,
            FileRefusal::QuotaExceeded => Self::QuotaExceeded("the account's storage is full".to_owned()),
            FileRefusal::TooMany => {
                Self::Forbidden("there are too many files or locks, or the copied sidecars are too long")
            }
            FileRefusal::TooManyEntries => Self::QuotaExceeded(
                "there are too many files and folders that take no space; delete some and try again"
                    .to_owned(),
            ),
            FileRefusal::OriginalGone => Self::Unavailable,
            FileRefusal::AccountGone => Self::AccountGone,
        }
    }
}

impl From<ImportError> for DavError {
    fn from(error: ImportError) -> Self {
        let message = error.to_string();
        match error {
            ImportError::Refused(_) => Self::UnsupportedMedia(message),
            ImportError::TooLarge { .. } => Self::TooLarge(message),
            ImportError::WrongLength { .. } | ImportError::ChecksumMismatch => Self::BadRequest(message),
            ImportError::QuotaExceeded { .. } => Self::QuotaExceeded(message),
            ImportError::AccountGone => Self::AccountGone,
            ImportError::Interrupted(_) => Self::Interrupted,
            ImportError::BeingRemoved
            | ImportError::Changed
            | ImportError::Read(_)
            | ImportError::Entry(_)
            | ImportError::Staging(_)
            | ImportError::Blob(_)
            | ImportError::Unavailable(_) => {
                replies::log_unavailable(&message);
                Self::Unavailable
            }
        }
    }
}

impl DavError {
    fn status(&self) -> StatusCode {
        match self {
            Self::BadRequest(_)
            | Self::InvalidPath(_)
            | Self::Search(InvalidSearch::Body(_))
            | Self::SearchScope => StatusCode::BAD_REQUEST,
            // Well-formed, but not supported (RFC 5323 §2.4).
            Self::Search(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::AccountGone => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) | Self::InfiniteDepth | Self::UnsupportedReport => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed | Self::Exists => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotImplemented => StatusCode::NOT_IMPLEMENTED,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::NoSuchLock(status) => *status,
            Self::Precondition(_) => StatusCode::PRECONDITION_FAILED,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMedia(_) | Self::Encoded => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Locked | Self::LockConflict => StatusCode::LOCKED,
            Self::QuotaExceeded(_) => StatusCode::INSUFFICIENT_STORAGE,
            // All apps retry after 503. Some give a file up after 408 or 500.
            Self::Interrupted | Self::TooManyUploads | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The exception class that Nextcloud names for this error. Its app for Android reads `InvalidPath`.
    fn exception(&self) -> &'static str {
        match self {
            Self::InvalidPath(_) => r"OC\Connector\Sabre\Exception\InvalidPath",
            Self::BadRequest(_) | Self::Search(_) | Self::SearchScope => r"Sabre\DAV\Exception\BadRequest",
            Self::AccountGone => r"Sabre\DAV\Exception\NotAuthenticated",
            Self::Forbidden(_) | Self::InfiniteDepth => r"Sabre\DAV\Exception\Forbidden",
            Self::UnsupportedReport => r"Sabre\DAV\Exception\ReportNotSupported",
            Self::NotFound => r"Sabre\DAV\Exception\NotFound",
            Self::MethodNotAllowed | Self::Exists => r"Sabre\DAV\Exception\MethodNotAllowed",
            Self::NotImplemented => r"Sabre\DAV\Exception\NotImplemented",
            Self::Conflict(_) => r"Sabre\DAV\Exception\Conflict",
            Self::NoSuchLock(_) => r"Sabre\DAV\Exception\LockTokenMatchesRequestUri",
            Self::Precondition(_) => r"Sabre\DAV\Exception\PreconditionFailed",
            Self::TooLarge(_) => r"OCA\DAV\Connector\Sabre\Exception\EntityTooLarge",
            Self::UnsupportedMedia(_) | Self::Encoded => {
                r"OCA\DAV\Connector\Sabre\Exception\UnsupportedMediaType"
            }
            Self::Locked => r"Sabre\DAV\Exception\Locked",
            Self::LockConflict => r"Sabre\DAV\Exception\ConflictingLock",
            Self::QuotaExceeded(_) => r"Sabre\DAV\Exception\InsufficientStorage",
            Self::Interrupted | Self::TooManyUploads | Self::Unavailable => {
                r"Sabre\DAV\Exception\ServiceUnavailable"
            }
        }
    }

    /// The precondition that was not met (RFC 4918 §16, RFC 4331 §6, RFC 5323 §2.5).
    fn condition(&self) -> Option<&'static str> {
        match self {
            Self::InfiniteDepth => Some("<d:propfind-finite-depth/>"),
            Self::UnsupportedReport => Some("<d:supported-report/>"),
            Self::Search(InvalidSearch::Grammar) => Some("<d:search-grammar-supported/>"),
            Self::Search(InvalidSearch::SeveralScopes) => Some("<d:search-multiple-scope-supported/>"),
            Self::SearchScope => Some("<d:search-scope-valid/>"),
            Self::NoSuchLock(_) => Some("<d:lock-token-matches-request-uri/>"),
            Self::Locked => Some("<d:lock-token-submitted/>"),
            Self::LockConflict => Some("<d:no-conflicting-lock/>"),
            Self::QuotaExceeded(_) => Some("<d:quota-not-exceeded/>"),
            _ => None,
        }
    }

    pub(crate) fn reply(&self, method: &Method) -> Reply {
        let status = self.status();
        if matches!(self, Self::AccountGone) {
            return replies::unauthorized();
        }
        // A HEAD has no body.
        let reply = if method == Method::HEAD { empty(status) } else { with_body(status, full(self.body())) };
        let reply = reply.with(header::CONTENT_TYPE, XML);
        match self {
            Self::MethodNotAllowed | Self::Exists | Self::NotImplemented => {
                reply.with(header::ALLOW, HeaderValue::from_static(options::ALLOW))
            }
            Self::Interrupted | Self::Unavailable => retry_after(reply, RETRY_AFTER_S),
            Self::TooManyUploads => retry_after(reply, BUSY_RETRY_S),
            _ => reply,
        }
    }

    fn body(&self) -> String {
        let mut xml = XmlWriter::document("d:error");
        if let Some(condition) = self.condition() {
            xml.raw(condition);
        }
        xml.element("s:exception", self.exception());
        xml.element("s:message", &self.to_string());
        xml.close("d:error");
        xml.take()
    }
}
