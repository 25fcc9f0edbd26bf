use std::io;

use blobs::{BlobError, ContentStore};
use bytes::Bytes;
use domain::{BlobKind, ContentHash, TRACE_TARGET};
use futures_util::Stream;
use sandbox::{DecodeError, DecodeTask, DecodedPhoto, FileSource, Pool, PoolOptions, Urgency};
use tracing::{Instrument as _, field::Empty};

use crate::{Indexer, settings::IndexerSettings, text_reader::TextReader};

/// The pool of decoders. Its processes are started when they are needed.
pub(crate) fn pool(settings: &IndexerSettings) -> io::Result<Pool> {
    Pool::new(PoolOptions {
        workers: settings.decode_workers,
        memory_bytes: settings.decode_memory_bytes,
        max_pixels: settings.max_pixels,
        ..PoolOptions::new(settings.decoder.clone())
    })
}

/// The pool of OCR workers, if OCR is on. It shares the memory budget of the decoders. It has one worker for each
/// decoder, or fewer if the budget is too small. Workers are started when they are needed.
pub(crate) fn text_reader(settings: &IndexerSettings, decoders: &Pool) -> io::Result<Option<TextReader>> {
    let Some(command) = settings.ocr_worker.clone() else { return Ok(None) };
    let workers = decoders.text_capacity().min(settings.decode_workers.max(1));
    let options = PoolOptions { workers, max_pixels: settings.max_pixels, ..PoolOptions::ocr(command) };
    Ok(Some(TextReader::new(decoders.with_shared_memory(options)?, workers)))
}

/// A blob as a source for the decoders. It is streamed from the content store and never as a whole in this process.
pub(crate) struct BlobSource<'a> {
    blobs: &'a ContentStore,
    kind: BlobKind,
    hash: ContentHash,
    bytes: u64,
}

impl<'a> BlobSource<'a> {
    pub(crate) fn new(blobs: &'a ContentStore, kind: BlobKind, hash: ContentHash, bytes: u64) -> Self {
        Self { blobs, kind, hash, bytes }
    }

    pub(crate) fn original(blobs: &'a ContentStore, hash: ContentHash, bytes: u64) -> Self {
        Self::new(blobs, BlobKind::Original, hash, bytes)
    }
}

impl FileSource for BlobSource<'_> {
    type Error = BlobError;

    fn length(&self) -> u64 {
        self.bytes
    }

    async fn open(&self) -> Result<impl Stream<Item = Result<Bytes, BlobError>> + Send, BlobError> {
        Ok(self.blobs.open(self.kind, self.hash, None).await?.into_stream())
    }
}

impl Indexer {
    /// How many photos are decoded at once.
    pub(crate) fn decode_workers(&self) -> usize {
        self.parts.decode_workers
    }

    /// Starts a decoder and an OCR worker, which log what they lack. Jobs start them as well.
    pub async fn start_decoders(&self) {
        // Failures are logged, and logged again when a job needs the worker.
        let _ = self.parts.decoders.ocr_status().await;
        if let Some(reader) = &self.parts.text_reader {
            let _ = reader.version().await;
        }
    }

    /// Stops idle workers, so that another process can use their memory.
    pub(crate) async fn stop_idle_workers(&self) {
        self.parts.decoders.stop_idle_workers().await;
        if let Some(reader) = &self.parts.text_reader {
            reader.stop_idle_workers().await;
        }
    }

    /// Decodes an original in a worker.
    pub(crate) async fn decode(
        &self,
        original: ContentHash,
        original_bytes: u64,
        task: &DecodeTask,
        urgency: Urgency,
    ) -> Result<DecodedPhoto, DecodeError<BlobError>> {
        let original = BlobSource::original(&self.parts.blobs.content, original, original_bytes);
        let bytes = i64::try_from(original_bytes).unwrap_or(i64::MAX);
        let span = tracing::info_span!(
            target: TRACE_TARGET, "decode", otel.status_code = Empty, bytes, ?urgency,
        );
        let decoded = self.parts.decoders.decode(&original, task, urgency).instrument(span.clone()).await;
        if decoded.is_err() {
            span.record("otel.status_code", "ERROR");
        }
        decoded
    }
}
