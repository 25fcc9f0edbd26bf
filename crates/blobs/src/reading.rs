use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::Range,
    path::Path,
};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use object_store::{GetResult, GetResultPayload};

use crate::{BlobError, read_regular};

/// How much of a file is read at once. Each chunk costs a switch to a blocking thread.
const CHUNK_BYTES: u64 = 256 * 1024;

/// An open blob, or a range of it.
#[derive(Debug)]
pub struct BlobReader {
    bytes: u64,
    range: Range<u64>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    File(File),
    Object(GetResult),
}

impl BlobReader {
    pub(crate) fn of_object(result: GetResult) -> Self {
        Self { bytes: result.meta.size, range: result.range.clone(), source: Source::Object(result) }
    }

    /// Opens a file, or a range of it. Blocks.
    pub(crate) fn of_file(path: &Path, range: Option<Range<u64>>) -> io::Result<Self> {
        let file = read_regular(path)?;
        let bytes = file.metadata()?.len();
        let range = match range {
            Some(range) if range.start >= range.end.min(bytes) => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "the range is not in the file"));
            }
            Some(range) => range.start..range.end.min(bytes),
            None => 0..bytes,
        };
        Ok(Self { bytes, range, source: Source::File(file) })
    }

    /// The length of the whole blob.
    pub fn blob_bytes(&self) -> u64 {
        self.bytes
    }

    /// The range of bytes that this reader returns.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// The bytes in chunks.
    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes, BlobError>> + Send + 'static {
        match self.source {
            Source::File(file) => file_stream(file, self.range).left_stream(),
            Source::Object(result) => match result.payload {
                GetResultPayload::File(file, _) => file_stream(file, self.range).left_stream(),
                GetResultPayload::Stream(stream) => stream.map_err(BlobError::from).right_stream(),
            },
        }
    }

    /// All bytes of the range.
    pub async fn into_bytes(self) -> Result<Bytes, BlobError> {
        match self.source {
            Source::Object(result) => Ok(result.bytes().await?),
            Source::File(_) => {
                let bytes = usize::try_from(self.range.end - self.range.start).unwrap_or_default();
                let mut all = BytesMut::with_capacity(bytes);
                let mut chunks = std::pin::pin!(self.into_stream());
                while let Some(chunk) = chunks.next().await {
                    all.extend_from_slice(&chunk?);
                }
                Ok(all.freeze())
            }
        }
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

pub(crate) fn unreadable(error: io::Error) -> BlobError {
    object_store::Error::Generic { store: "LocalFileSystem", source: error.into() }.into()
}
