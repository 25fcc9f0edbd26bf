use std::sync::Arc;

use sandbox::{Languages, WorkerCommand};

use crate::ModelSource;

/// The settings of a library.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many of its newest images an account on the free plan sees.
    pub free_window: u32,
    /// The longest file that can be imported, in bytes.
    pub max_upload_bytes: u64,
    /// Maximum number of bytes that an account may store; `None` for no limit. It does not apply to imports by an operator.
    pub account_quota_bytes: Option<u64>,
    /// The most pixels that a photo may have.
    pub max_pixels: u64,
    /// How many photos are decoded at once in the background. One more is decoded to become visible, and one when a request
    /// waits for it.
    pub decode_workers: usize,
    /// Memory budget of all decoding and OCR together, in bytes. A photo that alone needs more is decoded alone.
    pub decode_memory_bytes: u64,
    /// How many passwords may wait to be checked; further sign-ins are refused. A check takes about 20 ms.
    pub passwords_waiting: usize,
    /// The command that starts a decoder process.
    pub decoder: WorkerCommand,
    /// The command that starts an OCR process, with its languages as arguments. `None` turns OCR off.
    pub ocr_worker: Option<WorkerCommand>,
    /// The requested OCR languages. The OCR process reports which of them it can read.
    pub ocr_languages: Languages,
    /// The source of vision models, if any are used besides the built-in encoder.
    pub models: Option<Arc<dyn ModelSource>>,
    /// Memory limit of the embedding cache, in bytes. An account that alone needs more exceeds it while it searches.
    pub search_memory_bytes: usize,
    /// How many threads a search over many embeddings uses, and how many searches compute at once.
    pub search_threads: usize,
}

impl Settings {
    /// The defaults: 1000 images in the free window, files up to 200 MB and 200 megapixels, one decoder for each
    /// processor, 300 MiB for all of them, 64 waiting passwords, no OCR, no vision model, 1 GiB and all processors for
    /// searches.
    pub fn new(decoder: WorkerCommand) -> Self {
        Self {
            free_window: 1000,
            max_upload_bytes: 200_000_000,
            account_quota_bytes: None,
            max_pixels: 200_000_000,
            decode_workers: std::thread::available_parallelism().map_or(2, usize::from),
            decode_memory_bytes: 300 * 1024 * 1024,
            passwords_waiting: 64,
            decoder,
            ocr_worker: None,
            ocr_languages: Languages::Installed,
            models: None,
            search_memory_bytes: 1 << 30,
            search_threads: std::thread::available_parallelism().map_or(2, usize::from),
        }
    }
}
