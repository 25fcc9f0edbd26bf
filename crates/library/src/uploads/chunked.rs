use std::io;

use bytes::Bytes;
use futures_util::Stream;
use storage::UploadState;

use super::{
    UploadError,
    receive::{Head, PartLimits},
};
use crate::{Caller, ImportError, Library};

/// A chunk of a chunked upload.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// Its position among the chunks.
    pub number: u64,
    /// Its name in URLs.
    pub name: String,
    /// Its length in bytes, if it was announced.
    pub bytes: Option<u64>,
}

impl Library {
    /// Receives a chunk of a chunked upload, in a task of its own: it also ends when the caller stops waiting. When this
    /// returns, the chunk survives a loss of power. It replaces one of the same number. A broken one is dropped.
    ///
    /// # Errors
    /// [`UploadError`]; nothing of the chunk is kept.
    pub async fn put_chunk(
        &self,
        caller: Caller,
        upload: UploadState,
        chunk: Chunk,
        stream: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<(), UploadError> {
        let library = self.clone();
        let task = tokio::spawn(async move { library.put_chunk_now(&caller, &upload, chunk, stream).await });
        task.await.map_err(|error| ImportError::Staging(io::Error::other(error)))?
    }

    async fn put_chunk_now(
        &self,
        caller: &Caller,
        upload: &UploadState,
        chunk: Chunk,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<(), UploadError> {
        let settings = &self.parts.settings;
        let others = upload.parts.iter().filter(|part| part.number != chunk.number).map(|part| part.bytes);
        let max_bytes = settings.max_upload_bytes.saturating_sub(others.sum());
        if chunk.bytes.is_some_and(|bytes| bytes > max_bytes) {
            return Err(ImportError::TooLarge { max_bytes: settings.max_upload_bytes }.into());
        }
        self.check_upload_length(caller.account.id, chunk.bytes.unwrap_or_default()).await?;
        let limits = PartLimits { max_bytes, expected: chunk.bytes, checksum: None, keeps_broken: false };
        match self.receive_part(limits, Head::NotJudged, stream).await? {
            Some(received) => self.add_part(upload.id, chunk.number, &chunk.name, &received).await,
            None => Ok(()),
        }
    }
}
