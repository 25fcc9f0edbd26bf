use std::sync::Arc;

use sandbox::{Languages, WorkerCommand};

use crate::encoders::ModelSource;

/// What decodes photos, reads text and computes embeddings.
#[derive(Debug, Clone)]
pub struct IndexerSettings {
    /// The most pixels that a photo may have.
    pub max_pixels: u64,
    /// How many photos are decoded at once in the background. One more is decoded to become visible, and one when a request
    /// waits for it.
    pub decode_workers: usize,
    /// Memory budget of all decoding and OCR together, in bytes. A photo that alone needs more is decoded alone.
    pub decode_memory_bytes: u64,
    /// The command that starts a decoder process.
    pub decoder: WorkerCommand,
    /// The command that starts an OCR process, with its languages as arguments. `None` turns OCR off.
    pub ocr_worker: Option<WorkerCommand>,
    /// The requested OCR languages. The OCR process reports which of them it can read.
    pub ocr_languages: Languages,
    /// The source of vision models, if any are used besides the built-in encoder.
    pub models: Option<Arc<dyn ModelSource>>,
}

impl IndexerSettings {
    /// The defaults: photos up to 200 megapixels, one decoder for each processor, 300 MiB for all of them, no OCR, no vision
    /// model.
    pub fn new(decoder: WorkerCommand) -> Self {
        Self {
            max_pixels: 200_000_000,
            decode_workers: std::thread::available_parallelism().map_or(2, usize::from),
            decode_memory_bytes: 300 * 1024 * 1024,
            decoder,
            ocr_worker: None,
            ocr_languages: Languages::Installed,
            models: None,
        }
    }
}
