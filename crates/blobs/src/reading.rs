use std::ops::Range;

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt as _};
use object_store::GetResult;

use crate::BlobError;

/// A blob, or a part of it, that is about to be read.
#[derive(Debug)]
pub struct BlobReader {
    result: GetResult,
}

impl BlobReader {
    pub(crate) fn new(result: GetResult) -> Self {
        Self { result }
    }

    /// The length of the whole blob.
    pub fn blob_bytes(&self) -> u64 {
        self.result.meta.size
    }

    /// Which of its bytes will come.
    pub fn range(&self) -> Range<u64> {
        self.result.range.clone()
    }

    /// The bytes, chunk by chunk.
    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes, BlobError>> + Send + 'static {
        self.result.into_stream().map_err(BlobError::from)
    }

    /// The bytes at once.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`].
    pub async fn into_bytes(self) -> Result<Bytes, BlobError> {
        Ok(self.result.bytes().await?)
    }
}
