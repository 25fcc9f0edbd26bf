//! Headers of resumable uploads.

use library::Checksum;
use web_sync::{UploadMetadata, parse_checksum};

/// Reads the bytes as `Upload-Metadata`, and as `Upload-Checksum`.
pub(crate) fn upload_headers(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(metadata) = UploadMetadata::parse(text) {
        let name = metadata.file_name.unwrap_or_else(|| "a".to_owned());
        assert!(!name.is_empty() && !name.contains(['/', '\\']) && name.trim() == name, "{name:?}");
    }
    match parse_checksum(text) {
        Some(Checksum::Sha1(_)) => assert!(text.trim_start().starts_with("sha1 "), "{text:?}"),
        Some(Checksum::Sha256(_)) => assert!(text.trim_start().starts_with("sha256 "), "{text:?}"),
        None => {}
    }
}
