use std::{io, pin::pin};

use accounts::Caller;
use blobs::HEAD_BYTES;
use bytes::Bytes;
use domain::{AccountId, Checksum, Timestamp};
use futures_util::{Stream, StreamExt as _};
use storage::{UploadProtocol, UploadState};
use tracing::Instrument as _;

use super::{
    LockedUpload, UploadError, UploadResult,
    receive::{Head, PartLimits},
    sweep::TUS_EXPIRES_MS,
    unreadable,
};
use crate::{ImportError, ImportOutcome, Ingest, Upload, reserved_bytes::Reservation};

/// Bytes that continue a tus upload.
#[derive(Debug, Clone)]
pub struct TusPart {
    /// Where the bytes begin in the file.
    pub offset: u64,
    /// The number of bytes, if it was announced.
    pub bytes: Option<u64>,
    /// The checksums that were announced.
    pub checksums: Vec<Checksum>,
}

/// The progress of a tus upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The number of bytes received.
    pub received: u64,
    /// When it expires unless more bytes are received.
    pub expires_at: Timestamp,
    /// The result, once all bytes were received.
    pub result: Option<UploadResult>,
}

impl Ingest {
    /// The progress of an upload that has just begun.
    pub fn begun(&self) -> Progress {
        self.progress(0)
    }

    /// The progress of an upload that was written to now.
    fn progress(&self, received: u64) -> Progress {
        Progress { received, result: None, expires_at: expiry(self.parts.clock.now()) }
    }

    /// Continues a tus upload with a stream, in a task of its own, which completes even if the caller stops waiting. When
    /// this returns, the bytes survive a loss of power. The bytes of a broken stream are kept, unless they have a
    /// checksum. When the last bytes have arrived, the file is imported; `file` describes it.
    ///
    /// # Errors
    /// [`UploadError`]. If the file is not accepted, the upload is deleted.
    pub async fn continue_upload(
        &self,
        caller: Caller,
        name: String,
        part: TusPart,
        file: Upload,
        stream: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<Progress, UploadError> {
        let ingest = self.clone();
        let task = async move { ingest.continue_upload_now(&caller, &name, part, file, stream).await };
        tokio::spawn(task.in_current_span())
            .await
            .map_err(|error| ImportError::Staging(io::Error::other(error)))?
    }

    async fn continue_upload_now(
        &self,
        caller: &Caller,
        name: &str,
        part: TusPart,
        file: Upload,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<Progress, UploadError> {
        let LockedUpload { state: upload, _lock } =
            self.lock_upload(caller, UploadProtocol::Tus, name).await?;
        let received = upload.received_bytes();
        if part.offset != received {
            return Err(UploadError::WrongOffset { received });
        }
        let total = upload.total_bytes.unwrap_or_default();
        if upload.result.is_some() || received == total {
            return self.complete_upload(caller, upload, file).await;
        }
        let room = self.reserve_part(caller.account.id, total - received, 0).await?;
        let added = match self.append(&upload, part, room, stream).await {
            Err(UploadError::Lost) => return Err(self.lost(caller, &upload).await?),
            Err(refused @ UploadError::Import(ImportError::Refused(_))) => {
                self.cancel_upload(&upload).await?;
                return Err(refused);
            }
            added => added?,
        };
        let received = received + added;
        if received < total {
            return Ok(self.progress(received));
        }
        let upload = self.upload(caller, UploadProtocol::Tus, name).await?.ok_or(UploadError::NotFound)?;
        self.complete_upload(caller, upload, file).await
    }

    /// The progress of a tus upload. If all its bytes are there but their import was interrupted, it is imported now.
    pub async fn upload_progress(
        &self,
        caller: &Caller,
        name: &str,
        file: Upload,
    ) -> Result<Progress, UploadError> {
        let upload = self.upload(caller, UploadProtocol::Tus, name).await?.ok_or(UploadError::NotFound)?;
        let received = upload.received_bytes();
        if upload.total_bytes != Some(received) {
            return Ok(Progress { received, result: None, expires_at: expiry(upload.touched_at) });
        }
        let LockedUpload { state: upload, _lock } =
            self.lock_upload(caller, UploadProtocol::Tus, name).await?;
        self.complete_upload(caller, upload, file).await
    }

    /// Receives the bytes of a part; returns how many were added.
    async fn append(
        &self,
        upload: &UploadState,
        part: TusPart,
        room: Reservation,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<u64, UploadError> {
        let total = upload.total_bytes.unwrap_or_default();
        let max_bytes = total.saturating_sub(part.offset);
        if part.bytes.is_some_and(|bytes| bytes > max_bytes) {
            return Err(ImportError::WrongLength { expected: total }.into());
        }
        let limits = PartLimits {
            max_bytes,
            expected: part.bytes,
            keeps_broken: part.checksums.is_empty(),
            checksums: part.checksums,
            room,
        };
        let head = Head::Judged(self.head_of(upload).await?);
        let received = self.receive_part(limits, head, stream).await?;
        let Some(received) = received else { return Ok(0) };
        let added = self.add_part(upload.id, part.offset, &part.offset.to_string(), &received).await;
        added?;
        match received.broken {
            Some(error) => Err(ImportError::Interrupted(error).into()),
            None => Ok(received.bytes),
        }
    }

    /// The first bytes of an upload, as many as the detection of the format needs.
    async fn head_of(&self, upload: &UploadState) -> Result<Vec<u8>, UploadError> {
        let mut head = Vec::new();
        let mut content = pin!(self.upload_content(upload));
        while head.len() < HEAD_BYTES
            && let Some(chunk) = content.next().await
        {
            let chunk = chunk.map_err(unreadable)?;
            head.extend(chunk.iter().take(HEAD_BYTES - head.len()));
        }
        Ok(head)
    }

    /// Imports the photo of a tus upload whose bytes are all there, and finishes the upload. If the file is not accepted,
    /// the upload is deleted. If the service fails, the bytes stay.
    async fn complete_upload(
        &self,
        caller: &Caller,
        upload: UploadState,
        file: Upload,
    ) -> Result<Progress, UploadError> {
        let received = upload.received_bytes();
        if let Some(result) = &upload.result {
            let (result, expires_at) = (UploadResult::parse(result), expiry(upload.touched_at));
            return Ok(Progress { received, result, expires_at });
        }
        let imported = match self.import_parts(caller.account.id, &upload, file).await {
            Err(UploadError::Lost) => return Err(self.lost(caller, &upload).await?),
            Err(error) if !is_passing(&error) => {
                self.cancel_upload(&upload).await?;
                return Err(error);
            }
            imported => imported?,
        };
        let result = UploadResult::from(imported);
        self.finish_upload(&upload, &result.to_string()).await?;
        Ok(Progress { result: Some(result), ..self.progress(received) })
    }

    async fn import_parts(
        &self,
        account: AccountId,
        upload: &UploadState,
        file: Upload,
    ) -> Result<ImportOutcome, UploadError> {
        let received = upload.received_bytes();
        let quota_bytes = self.parts.limits.account_quota_bytes;
        let file = Upload { bytes: Some(received), quota_bytes, parts_bytes: received, ..file };
        let content = self.upload_content(upload);
        self.import_stream(account, file, content).await.map_err(|error| match error {
            ImportError::QuotaExceeded { .. } => {
                ImportError::QuotaExceeded { quota_bytes: quota_bytes.unwrap_or_default() }.into()
            }
            ImportError::Interrupted(error) => unreadable(error),
            error => error.into(),
        })
    }
}

/// When a tus upload expires that was last written to at `touched_at`.
fn expiry(touched_at: Timestamp) -> Timestamp {
    touched_at.plus_millis(TUS_EXPIRES_MS)
}

/// Whether an import that failed may succeed later with the same bytes.
fn is_passing(error: &UploadError) -> bool {
    matches!(error, UploadError::Import(error) if error.is_outage() || matches!(error, ImportError::BeingRemoved))
}
