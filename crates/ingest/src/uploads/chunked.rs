use std::io;

use accounts::Caller;
use bytes::Bytes;
use domain::Checksum;
use futures_util::Stream;
use storage::{FileWritten, StorageError, UploadState};
use tracing::Instrument as _;

use super::{
    LockedUpload, UploadError,
    receive::{Head, PartLimits},
    unreadable,
};
use crate::{FileError, ImportError, Ingest, PutFile};

/// A chunk of a chunked upload.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// Its position among the chunks.
    pub number: u64,
    /// Its name in URLs.
    pub name: String,
    /// Its length in bytes, if it was announced.
    pub bytes: Option<u64>,
    /// The checksums that were announced.
    pub checksums: Vec<Checksum>,
}

/// Why the chunks of an upload did not become a file.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// The upload cannot be completed.
    #[error(transparent)]
    Upload(#[from] UploadError),
    /// The file cannot be put.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Ingest {
    /// Receives a chunk of a chunked upload, in a task of its own, which completes even if the caller stops waiting. When
    /// this returns, the chunk survives a loss of power. It replaces a chunk of the same number. A broken chunk is
    /// dropped.
    ///
    /// # Errors
    /// [`UploadError`]; nothing of the chunk is kept. If the file is too large, the whole upload is deleted.
    pub async fn put_chunk(
        &self,
        caller: Caller,
        upload: UploadState,
        chunk: Chunk,
        stream: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<(), UploadError> {
        let ingest = self.clone();
        let task = async move {
            let put = ingest.put_chunk_now(&caller, &upload, chunk, stream).await;
            if let Err(UploadError::Import(ImportError::TooLarge { .. })) = &put {
                ingest.cancel_upload(&upload).await?;
            }
            put
        };
        tokio::spawn(task.in_current_span())
            .await
            .map_err(|error| ImportError::Staging(io::Error::other(error)))?
    }

    async fn put_chunk_now(
        &self,
        caller: &Caller,
        upload: &UploadState,
        chunk: Chunk,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<(), UploadError> {
        let limits = &self.parts.limits;
        let replaced = upload.parts.iter().find(|part| part.number == chunk.number);
        let replaced = replaced.map_or(0, |part| part.bytes);
        let others = upload.received_bytes().saturating_sub(replaced);
        let max_bytes = limits.max_upload_bytes.saturating_sub(others);
        if chunk.bytes.is_some_and(|bytes| bytes > max_bytes) {
            return Err(ImportError::TooLarge { max_bytes: limits.max_upload_bytes }.into());
        }
        let announced = chunk.bytes.unwrap_or_default();
        let room = self.reserve_part(caller.account.id, announced, replaced).await?;
        let limits = PartLimits {
            max_bytes,
            expected: chunk.bytes,
            checksums: chunk.checksums,
            keeps_broken: false,
            room,
        };
        match self.receive_part(limits, Head::NotJudged, stream).await? {
            Some(received) => self.add_part(upload.id, chunk.number, &chunk.name, &received).await,
            None => Ok(()),
        }
    }

    /// Deletes a chunk; `false` if there is none of this number.
    pub async fn delete_chunk(&self, upload: &UploadState, number: u64) -> Result<bool, StorageError> {
        let file = self.parts.store.remove_part(upload.id, number).await?;
        let is_found = file.is_some();
        self.delete_part_files(file.into_iter().collect()).await;
        Ok(is_found)
    }

    /// Puts the file that the chunks of an upload make together, and finishes the upload, in a task of its own, which
    /// completes even if the caller stops waiting. What kind of file it is depends on its name and its bytes, and both
    /// are known only now.
    ///
    /// # Errors
    /// [`AssembleError`]. If the file is not accepted, the upload is deleted. If the service fails, the chunks stay.
    pub async fn assemble(
        &self,
        caller: Caller,
        upload: LockedUpload,
        file: PutFile,
    ) -> Result<FileWritten, AssembleError> {
        let ingest = self.clone();
        let task = async move { ingest.assemble_now(&caller, &upload.state, file).await };
        let assembled = tokio::spawn(task.in_current_span()).await;
        assembled.map_err(|error| UploadError::from(ImportError::Staging(io::Error::other(error))))?
    }

    async fn assemble_now(
        &self,
        caller: &Caller,
        upload: &UploadState,
        file: PutFile,
    ) -> Result<FileWritten, AssembleError> {
        let file = PutFile { parts_bytes: upload.received_bytes(), ..file };
        let written = match self.put_file(caller, file, self.upload_content(upload)).await {
            Err(FileError::Import(ImportError::Interrupted(error))) => {
                return Err(match unreadable(error) {
                    UploadError::Lost => self.lost(caller, upload).await.map_err(UploadError::from)?,
                    error => error,
                }
                .into());
            }
            Err(error) => {
                if let FileError::Import(ImportError::Refused(_) | ImportError::TooLarge { .. }) = &error {
                    self.cancel_upload(upload).await.map_err(UploadError::from)?;
                }
                return Err(error.into());
            }
            Ok(written) => written,
        };
        let result = written.entry.id.0.to_string();
        self.finish_upload(upload, &result).await.map_err(UploadError::from)?;
        Ok(written)
    }
}
