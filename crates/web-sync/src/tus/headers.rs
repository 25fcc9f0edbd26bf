//! The headers of tus, and our own.

use http::{HeaderMap, HeaderName, HeaderValue};

pub(super) const TUS_RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
pub(super) const TUS_VERSION: HeaderName = HeaderName::from_static("tus-version");
pub(super) const TUS_EXTENSION: HeaderName = HeaderName::from_static("tus-extension");
pub(super) const TUS_MAX_SIZE: HeaderName = HeaderName::from_static("tus-max-size");
pub(super) const TUS_CHECKSUM_ALGORITHM: HeaderName = HeaderName::from_static("tus-checksum-algorithm");
pub(super) const UPLOAD_OFFSET: HeaderName = HeaderName::from_static("upload-offset");
pub(super) const UPLOAD_LENGTH: HeaderName = HeaderName::from_static("upload-length");
pub(super) const UPLOAD_DEFER_LENGTH: HeaderName = HeaderName::from_static("upload-defer-length");
pub(super) const UPLOAD_CONCAT: HeaderName = HeaderName::from_static("upload-concat");
pub(super) const UPLOAD_METADATA: HeaderName = HeaderName::from_static("upload-metadata");
pub(super) const UPLOAD_CHECKSUM: HeaderName = HeaderName::from_static("upload-checksum");
pub(super) const UPLOAD_EXPIRES: HeaderName = HeaderName::from_static("upload-expires");
pub(super) const METHOD_OVERRIDE: HeaderName = HeaderName::from_static("x-http-method-override");

/// The result of a complete upload: `imported`, `duplicate` or `restored`.
pub(super) const PHOTO_RESULT: HeaderName = HeaderName::from_static("photo-result");
/// The id of its image.
pub(super) const PHOTO_ID: HeaderName = HeaderName::from_static("photo-id");

pub(super) const VERSION: HeaderValue = HeaderValue::from_static("1.0.0");
pub(super) const EXTENSIONS: HeaderValue =
    HeaderValue::from_static("creation,creation-with-upload,expiration,termination,checksum");

/// The content type of the bytes of an upload.
pub(super) const CONTENT_TYPE: &str = "application/offset+octet-stream";

/// Whether a request names the supported version of the protocol.
pub(super) fn has_version(headers: &HeaderMap) -> bool {
    headers.get(TUS_RESUMABLE).is_some_and(|version| version.as_bytes() == b"1.0.0")
}

/// The trimmed text of a header.
pub(super) fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Whether the body has the content type of uploads.
pub(super) fn has_content(headers: &HeaderMap) -> bool {
    text(headers, http::header::CONTENT_TYPE).is_some_and(|value| value.eq_ignore_ascii_case(CONTENT_TYPE))
}
