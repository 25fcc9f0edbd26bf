use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::Range,
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use object_store::{GetResult, GetResultPayload};

use crate::BlobError;

/// How much of a file is read at once. Each chunk costs a switch to a blocking thread.
const CHUNK_BYTES: u64 = 256 * 1024;

/// An open blob, or a range of it.
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

    /// The range of bytes that this reader returns.
    pub fn range(&self) -> Range<u64> {
        self.result.range.clone()
    }

    /// The bytes in chunks.
    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes, BlobError>> + Send + 'static {
        match self.result.payload {
            GetResultPayload::File(file, _) => file_stream(file, self.result.range).left_stream(),
            GetResultPayload::Stream(stream) => stream.map_err(BlobError::from).right_stream(),
        }
    }

    /// All bytes of the range.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`].
    pub async fn into_bytes(self) -> Result<Bytes, BlobError> {
        Ok(self.result.bytes().await?)
    }
}

/// The bytes of a file in large chunks. The stream ends early if the file does.
pub(crate) fn file_stream(
    file: File,
    range: Range<u64>,
) -> impl Stream<Item = Result<Bytes, BlobError>> + Send + 'static {
    stream::try_unfold((file, range), |(mut file, mut left)| async move {
        let bytes = (left.end - left.start).min(CHUNK_BYTES);
        if bytes == 0 {
            return Ok(None);
        }
        let read = tokio::task::spawn_blocking(move || {
            let mut chunk = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
            file.seek(SeekFrom::Start(left.start))?;
            (&mut file).take(bytes).read_to_end(&mut chunk)?;
            Ok::<_, io::Error>((file, chunk))
        });
        let (file, chunk) = read.await.map_err(io::Error::other).flatten().map_err(unreadable)?;
        if chunk.is_empty() {
            return Ok(None);
        }
        left.start += chunk.len() as u64;
        Ok(Some((chunk.into(), (file, left))))
    })
}

fn unreadable(error: io::Error) -> BlobError {
    object_store::Error::Generic { store: "LocalFileSystem", source: error.into() }.into()
}
