//! Headers of resumable uploads.

use web_sync::{UploadMetadata, parse_checksum};

/// Reads the bytes as `Upload-Metadata`, and as `Upload-Checksum`.
pub(crate) fn upload_headers(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(metadata) = UploadMetadata::parse(text) {
        let name = metadata.file_name.unwrap_or_else(|| "a".to_owned());
        assert!(!name.is_empty() && !name.contains(['/', '\\']) && name.trim() == name, "{name:?}");
    }
    if let Some(checksum) = parse_checksum(text) {
        assert_eq!(checksum.value().len(), checksum.algorithm().bytes(), "{text:?}");
    }
}
