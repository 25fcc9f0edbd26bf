use std::io;

use blobs::{BlobError, ContentStore};
use bytes::Bytes;
use domain::{BlobKind, ContentHash};
use futures_util::Stream;
use sandbox::{DecodeError, DecodeTask, DecodedPhoto, FileSource, Pool, PoolOptions, Urgency};

use crate::{Library, Settings, stages::Reader};

/// A pool of decoders as the settings want it. None of its processes is started before it is needed.
pub(crate) fn pool(settings: &Settings) -> io::Result<Pool> {
    Pool::new(PoolOptions {
        workers: settings.decode_workers,
        memory_bytes: settings.decode_memory_bytes,
        max_pixels: settings.max_pixels,
        ..PoolOptions::new(settings.decoder.clone())
    })
}

/// Workers that read words, if the settings want them, within the memory of the decoders. None is started before it is
/// needed.
pub(crate) fn reader(settings: &Settings, decoders: &Pool) -> io::Result<Option<Reader>> {
    let Some(command) = settings.ocr_worker.clone() else { return Ok(None) };
    let options = PoolOptions { max_pixels: settings.max_pixels, ..PoolOptions::ocr(command) };
    Ok(Some(Reader::new(decoders.with_shared_memory(options)?)))
}

/// A blob as the decoders read it: straight from the blob store, never as a whole in this process.
pub(crate) struct Stored<'a> {
    blobs: &'a ContentStore,
    kind: BlobKind,
    hash: ContentHash,
    bytes: u64,
}

impl<'a> Stored<'a> {
    pub(crate) fn new(blobs: &'a ContentStore, kind: BlobKind, hash: ContentHash, bytes: u64) -> Self {
        Self { blobs, kind, hash, bytes }
    }

    pub(crate) fn original(blobs: &'a ContentStore, hash: ContentHash, bytes: u64) -> Self {
        Self::new(blobs, BlobKind::Original, hash, bytes)
    }
}

impl FileSource for Stored<'_> {
    type Error = BlobError;

    fn length(&self) -> u64 {
        self.bytes
    }

    async fn open(&self) -> Result<impl Stream<Item = Result<Bytes, BlobError>> + Send, BlobError> {
        Ok(self.blobs.open(self.kind, self.hash, None).await?.into_stream())
    }
}

impl Library {
    /// Ends the workers that have nothing to do, so that another process can have their memory.
    pub(crate) async fn end_idle_workers(&self) {
        self.parts.decoders.stop_idle_workers().await;
        if let Some(reader) = &self.parts.reader {
            reader.end_idle().await;
        }
    }

    /// Has an original decoded.
    pub(crate) async fn decode(
        &self,
        original: ContentHash,
        original_bytes: u64,
        task: &DecodeTask,
        urgency: Urgency,
    ) -> Result<DecodedPhoto, DecodeError<BlobError>> {
        let original = Stored::original(&self.parts.blobs.content, original, original_bytes);
        self.parts.decoders.decode(&original, task, urgency).await
    }
}
