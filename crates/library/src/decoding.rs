use std::io;

use blobs::{BlobError, BlobStore};
use bytes::Bytes;
use domain::{BlobKind, ContentHash};
use futures_util::Stream;
use sandbox::{DecodeError, Decoded, FileSource, Pool, PoolOptions, Task, Urgency};

use crate::{Library, Settings};

/// A pool of decoders as the settings want it. None of its processes is started before it is needed.
pub(crate) fn pool(settings: &Settings) -> io::Result<Pool> {
    Pool::new(PoolOptions {
        workers: settings.decode_workers,
        memory_bytes: settings.decode_memory_bytes,
        max_pixels: settings.max_pixels,
        ..PoolOptions::new(settings.decoder.clone())
    })
}

/// An original as the decoders read it: straight from the blob store, never as a whole in this process.
struct Original<'a> {
    blobs: &'a BlobStore,
    hash: ContentHash,
    bytes: u64,
}

impl FileSource for Original<'_> {
    type Error = BlobError;

    fn length(&self) -> u64 {
        self.bytes
    }

    async fn open(&self) -> Result<impl Stream<Item = Result<Bytes, BlobError>> + Send, BlobError> {
        Ok(self.blobs.open(BlobKind::Original, self.hash, None).await?.into_stream())
    }
}

impl Library {
    /// Has an original decoded.
    pub(crate) async fn decode(
        &self,
        original: ContentHash,
        original_bytes: u64,
        task: &Task,
        urgency: Urgency,
    ) -> Result<Decoded, DecodeError<BlobError>> {
        let original = Original { blobs: &self.parts.blobs, hash: original, bytes: original_bytes };
        self.parts.decoders.decode(&original, task, urgency).await
    }
}
