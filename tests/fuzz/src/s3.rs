//! Responses of S3 servers.

use blobs::UploadsPage;

/// Reads the bytes as a list of incomplete uploads.
pub(crate) fn s3_uploads(bytes: &[u8]) {
    let Ok(xml) = std::str::from_utf8(bytes) else { return };
    let Ok(page) = UploadsPage::parse(xml) else { return };
    assert!(page.uploads.len() <= 1000, "{} uploads", page.uploads.len());
    let is_short = |value: &str| value.len() <= 4096;
    assert!(page.uploads.iter().all(|upload| is_short(&upload.key) && is_short(&upload.id)));
    assert!(page.next.is_none_or(|(key, _)| !key.is_empty()));
}
