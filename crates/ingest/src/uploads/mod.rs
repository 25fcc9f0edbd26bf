//! Uploads that arrive in parts, over several requests.

mod chunked;
mod locks;
mod receive;
mod result;
mod sweep;
mod tus;

use std::io;

use accounts::{Caller, Unavailable};
use bytes::Bytes;
use domain::{AccountId, BlobKind, ContentHash};
use futures_util::{StreamExt as _, TryStreamExt as _, stream, stream::BoxStream};
use keys::new_id;
use media::MediaError;
use storage::{BeginUpload, NewUpload, StorageError, UploadProtocol, UploadState};

use crate::{
    ImportError, Ingest,
    reserved_bytes::{Reservation, RoomFor},
};

pub use chunked::{AssembleError, Chunk};
pub use locks::LockedUpload;
pub(crate) use locks::UploadLocks;
pub use result::{UploadOutcome, UploadResult};
pub use tus::{Progress, TusPart};

/// Maximum number of hashes in a request for known originals.
pub const MAX_KNOWN_HASHES: usize = 1000;

/// How many originals are looked for at once.
const LOOKUPS_AT_ONCE: usize = 16;

/// Why an upload failed, or did not continue.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// No upload has this name in this account, or it has expired.
    #[error("there is no such upload; begin a new one")]
    NotFound,
    /// An unfinished upload has this name.
    #[error("there is already an upload of this name")]
    Exists,
    /// The account has too many unfinished uploads, or the upload has too many parts.
    #[error("there are too many unfinished uploads")]
    TooMany,
    /// The bytes do not continue those that were received.
    #[error("the upload continues at byte {received}")]
    WrongOffset {
        /// The number of bytes received.
        received: u64,
    },
    /// Another request is writing to the upload.
    #[error("another request is writing to this upload; try again in a moment")]
    Busy,
    /// Parts of the upload are lost, so it was cancelled.
    #[error("parts of the upload are lost; send the file again")]
    Lost,
    /// The file is not accepted.
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl From<StorageError> for UploadError {
    fn from(error: StorageError) -> Self {
        Self::Import(error.into())
    }
}

impl From<Unavailable> for UploadError {
    fn from(error: Unavailable) -> Self {
        Self::Import(error.into())
    }
}

impl Ingest {
    /// Begins an upload whose length may be announced. Its name in URLs is unique per account and protocol.
    pub async fn begin_upload(
        &self,
        caller: &Caller,
        protocol: UploadProtocol,
        name: &str,
        total_bytes: Option<u64>,
        metadata: &str,
    ) -> Result<(), UploadError> {
        let account = caller.account.id;
        if total_bytes == Some(0) && protocol == UploadProtocol::Tus {
            return Err(ImportError::Refused(MediaError::Empty).into());
        }
        let announced = total_bytes.unwrap_or_default();
        let max_bytes = self.parts.limits.max_upload_bytes;
        if announced > max_bytes {
            return Err(ImportError::TooLarge { max_bytes }.into());
        }
        // Only received bytes use up room, so nothing stays reserved.
        self.reserve_part(account, announced, 0).await?;
        let upload = NewUpload {
            account,
            protocol,
            name: name.to_owned(),
            total_bytes,
            metadata: metadata.to_owned(),
            at: self.parts.clock.now(),
        };
        match self.parts.store.begin_upload(upload).await? {
            BeginUpload::Begun(_) => Ok(()),
            BeginUpload::Exists => Err(UploadError::Exists),
            BeginUpload::TooMany => Err(UploadError::TooMany),
            BeginUpload::AccountGone => Err(ImportError::AccountGone.into()),
        }
    }

    /// A new name for an upload, which cannot be guessed.
    ///
    /// # Errors
    /// The random source failed.
    pub fn new_upload_name(&self) -> Result<String, Unavailable> {
        Ok(new_id(self.random())?)
    }

    /// An upload of the caller's account.
    pub async fn upload(
        &self,
        caller: &Caller,
        protocol: UploadProtocol,
        name: &str,
    ) -> Result<Option<UploadState>, StorageError> {
        self.parts.store.upload(caller.account.id, protocol, name).await
    }

    /// Locks an upload, so that one request at a time completes it.
    ///
    /// # Errors
    /// [`UploadError::Busy`] while another request has it locked.
    pub async fn lock_upload(
        &self,
        caller: &Caller,
        protocol: UploadProtocol,
        name: &str,
    ) -> Result<LockedUpload, UploadError> {
        let find = || self.upload(caller, protocol, name);
        let upload = find().await?.ok_or(UploadError::NotFound)?;
        let lock = self.parts.upload_locks.try_lock(upload.id).ok_or(UploadError::Busy)?;
        // Another request may have written before the lock was taken.
        let state = find().await?.ok_or(UploadError::NotFound)?;
        Ok(LockedUpload { state, _lock: lock })
    }

    /// Handles lost parts: the upload is deleted, unless another process has changed or finished it.
    async fn lost(&self, caller: &Caller, upload: &UploadState) -> Result<UploadError, StorageError> {
        let now = self.upload(caller, upload.protocol, &upload.name).await?;
        if now.is_some_and(|now| now != *upload) {
            return Ok(UploadError::Busy);
        }
        self.cancel_upload(upload).await?;
        Ok(UploadError::Lost)
    }

    /// The bytes of an upload, its parts in the order of their numbers. A lost part is an error.
    pub fn upload_content(&self, upload: &UploadState) -> BoxStream<'static, io::Result<Bytes>> {
        let parts = upload.parts.iter().map(|part| (part.file.clone(), part.bytes)).collect();
        self.parts.blobs.parts.read(parts).boxed()
    }

    /// Marks an upload as finished with a result, and deletes its parts.
    pub async fn finish_upload(&self, upload: &UploadState, result: &str) -> Result<(), StorageError> {
        let files = self.parts.store.finish_upload(upload.id, result, self.parts.clock.now()).await?;
        self.delete_part_files(files).await;
        Ok(())
    }

    /// Deletes an upload and its parts.
    pub async fn cancel_upload(&self, upload: &UploadState) -> Result<(), StorageError> {
        let files = self.parts.store.delete_upload(upload.id).await?;
        self.delete_part_files(files).await;
        Ok(())
    }

    /// Deletes files that the store no longer names. If that fails, the periodic clean-up repeats it.
    async fn delete_part_files(&self, files: Vec<String>) {
        if files.is_empty() {
            return;
        }
        if let Err(error) = self.parts.blobs.parts.delete(files).await {
            tracing::warn!(%error, "parts of an upload could not be deleted; it will be retried");
        }
    }

    /// Reserves room for bytes of a file before they are received.
    async fn reserve_part(
        &self,
        account: AccountId,
        bytes: u64,
        replaced_bytes: u64,
    ) -> Result<Reservation, ImportError> {
        let quota_bytes = self.parts.limits.account_quota_bytes;
        self.reserve(account, quota_bytes, RoomFor::Part { replaced_bytes }, bytes).await
    }

    /// Which of these originals the caller's account has as images that are neither deleted nor failed; only the first
    /// [`MAX_KNOWN_HASHES`] are looked up. A lost original is not known, so that it is sent again.
    ///
    /// # Errors
    /// [`ImportError`]; a store failed.
    pub async fn known_originals(
        &self,
        caller: &Caller,
        originals: &[ContentHash],
    ) -> Result<Vec<ContentHash>, ImportError> {
        let originals = originals.get(..MAX_KNOWN_HASHES).unwrap_or(originals);
        let known = self.parts.store.known_originals(caller.account.id, originals).await?;
        let stored = stream::iter(known).map(|hash| async move {
            let is_stored = self.parts.blobs.content.contains(BlobKind::Original, hash).await?;
            Ok(is_stored.then_some(hash))
        });
        stored.buffered(LOOKUPS_AT_ONCE).try_filter_map(|hash| async move { Ok(hash) }).try_collect().await
    }
}

/// Why the parts of an upload could not be read. Only a file that is missing or too short is lost for good.
fn unreadable(error: io::Error) -> UploadError {
    tracing::error!(%error, "parts of an upload cannot be read");
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof => UploadError::Lost,
        _ => ImportError::Staging(error).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_or_short_part_files_are_lost() {
        for kind in [io::ErrorKind::NotFound, io::ErrorKind::UnexpectedEof] {
            assert!(matches!(unreadable(kind.into()), UploadError::Lost), "{kind}");
        }
        for error in [io::Error::from_raw_os_error(24), io::ErrorKind::PermissionDenied.into()] {
            let error = unreadable(error);
            assert!(matches!(error, UploadError::Import(ImportError::Staging(_))), "{error}");
        }
    }
}
