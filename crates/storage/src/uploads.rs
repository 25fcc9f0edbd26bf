use async_trait::async_trait;
use domain::{AccountId, ContentHash, Timestamp};

use crate::StorageError;

/// The id of an upload in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UploadId(pub i64);

/// The protocol of an upload in progress. Each protocol has its own names of uploads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UploadProtocol {
    /// tus 1.0: each part continues the one before.
    Tus,
    /// The chunked upload of Nextcloud's clients: parts arrive in any order.
    Chunked,
}

impl UploadProtocol {
    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tus => "tus",
            Self::Chunked => "chunked",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUpload {
    pub account: AccountId,
    pub protocol: UploadProtocol,
    /// Its name in URLs, unique per account and protocol.
    pub name: String,
    /// Its announced length in bytes.
    pub total_bytes: Option<u64>,
    /// The metadata that the client sent, in the encoding of the caller.
    pub metadata: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadState {
    pub id: UploadId,
    pub protocol: UploadProtocol,
    /// Its name in URLs.
    pub name: String,
    /// Its announced length in bytes.
    pub total_bytes: Option<u64>,
    /// The metadata that the client sent, in the encoding of the caller.
    pub metadata: String,
    /// The result, in the encoding of the caller; `None` until the upload is finished. A finished upload has no parts.
    pub result: Option<String>,
    /// When it was last written to.
    pub touched_at: Timestamp,
    /// Its parts, by number.
    pub parts: Vec<UploadPart>,
}

impl UploadState {
    /// The number of bytes received; all bytes if the upload is finished.
    pub fn received_bytes(&self) -> u64 {
        if self.result.is_some() {
            return self.total_bytes.unwrap_or_default();
        }
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

/// A part of an upload, complete and synced to disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadPart {
    /// Its position: for tus the offset of its first byte, for chunks the number at the start of their name.
    pub number: u64,
    /// The name in URLs of a chunk.
    pub name: String,
    pub bytes: u64,
    /// The file that holds it.
    pub file: String,
    pub received_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeginUpload {
    Begun(UploadId),
    /// There is an unfinished upload of that name.
    Exists,
    /// The account has too many uploads in progress.
    TooMany,
    AccountGone,
}

/// Maximum number of unfinished uploads per account and protocol.
pub const MAX_UPLOADS: u32 = 1000;

/// Maximum number of finished uploads per account and protocol that stay known.
pub const MAX_FINISHED_UPLOADS: u32 = 1000;

/// Maximum number of parts per upload: enough for 200 MiB in parts of 64 KiB, which some tus clients send.
pub const MAX_UPLOAD_PARTS: u32 = 4000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddPart {
    /// The part was added, and may have replaced a part with the same number.
    Added {
        /// The file of the replaced part, which can be deleted.
        replaced: Option<String>,
    },
    /// There is no such upload, it is finished, or its account was deleted.
    NoUpload,
    /// The part does not continue the others, which have this many bytes.
    WrongOffset(u64),
    /// The upload has too many parts.
    TooMany,
    QuotaExceeded,
}

/// The result of a sweep of uploads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SweptUploads {
    /// The number of forgotten uploads.
    pub uploads: u32,
    /// The files of their parts, which can be deleted.
    pub files: Vec<String>,
}

/// Uploads in progress. The caller writes the bytes of a part to a file before it adds the part, and deletes the file
/// when the store no longer refers to it. The bytes of parts count as stored by the account; announced bytes do not.
#[async_trait]
pub trait UploadStore: Send + Sync + 'static {
    /// Begins an upload. It replaces a finished one of the same name.
    async fn begin_upload(&self, upload: NewUpload) -> Result<BeginUpload, StorageError>;

    async fn upload(
        &self,
        account: AccountId,
        protocol: UploadProtocol,
        name: &str,
    ) -> Result<Option<UploadState>, StorageError>;

    /// Adds a part. A tus part must begin where the others end; a chunk replaces one of the same number. Of two tus parts
    /// that are added at once for the same offset, one is added. With a quota, the account stores no more than that
    /// many bytes.
    async fn add_part(
        &self,
        upload: UploadId,
        part: UploadPart,
        quota_bytes: Option<u64>,
    ) -> Result<AddPart, StorageError>;

    /// Removes a part of an unfinished upload; returns its file, or `None` if there is no such part.
    async fn remove_part(&self, upload: UploadId, number: u64) -> Result<Option<String>, StorageError>;

    /// Marks an upload as finished with a result and forgets its parts, whose files it returns. It stays known until it
    /// expires or [`MAX_FINISHED_UPLOADS`] others have finished after it, so that a client whose last response was lost
    /// learns the same result. The first result stays.
    async fn finish_upload(
        &self,
        upload: UploadId,
        result: &str,
        at: Timestamp,
    ) -> Result<Vec<String>, StorageError>;

    /// Forgets an upload; returns the files of its parts.
    async fn delete_upload(&self, upload: UploadId) -> Result<Vec<String>, StorageError>;

    /// Forgets up to `max` uploads of a protocol that were last written to before `before` or whose account was deleted.
    async fn sweep_uploads(
        &self,
        protocol: UploadProtocol,
        before: Timestamp,
        max: u32,
    ) -> Result<SweptUploads, StorageError>;

    /// Which of these files belong to a part; at most 1000 files.
    async fn known_part_files(&self, files: &[String]) -> Result<Vec<String>, StorageError>;

    /// The number of bytes that an account stores: its originals, deleted images included until they are purged, its
    /// partial files and sidecars, and the parts of its uploads.
    async fn stored_bytes(&self, account: AccountId) -> Result<u64, StorageError>;

    /// Whether the account stores an original, so that storing it again takes no further bytes.
    async fn stores_original(&self, account: AccountId, original: &ContentHash)
    -> Result<bool, StorageError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_200_mib_fits_in_parts_of_64_kib() {
        assert!(u64::from(MAX_UPLOAD_PARTS) * 64 * 1024 >= 200 * 1024 * 1024);
    }
}
