use std::sync::Arc;

use sandbox::{Languages, WorkerCommand};

use crate::ModelSource;

/// How a library is set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many of its newest images an account on the free plan sees.
    pub free_window: u32,
    /// The longest file that is taken in, in bytes.
    pub max_upload_bytes: u64,
    /// The most pixels that a photo may have.
    pub max_pixels: u64,
    /// How many photos are decoded at once in the background; one more when somebody waits for it.
    pub decode_workers: usize,
    /// How much memory all decoding together may take, reading words included, in bytes. A photo that alone needs more is
    /// decoded alone.
    pub decode_memory_bytes: u64,
    /// How many passwords may wait to be checked, a check taking some 20 ms; whoever comes then is sent away.
    pub passwords_waiting: usize,
    /// The program that decodes, in processes of its own.
    pub decoder: WorkerCommand,
    /// The program that reads the words in photos, in a process of its own, and in which languages; none: they are not
    /// read.
    pub ocr_worker: Option<WorkerCommand>,
    /// The languages that its arguments name, as they were asked for; which of them it reads, it says itself.
    pub ocr_languages: Languages,
    /// Where vision models come from, if there are any beside the encoder that is always there.
    pub models: Option<Arc<dyn ModelSource>>,
    /// How much memory may hold what pictures look like, in bytes; an account that alone needs more has more while it
    /// searches.
    pub search_memory_bytes: usize,
    /// How many threads a search over many pictures takes, and how many searches compute at once.
    pub search_threads: usize,
}

impl Settings {
    /// The defaults: 1000 images in the free window, files up to 200 MB and 200 megapixels, a decoder for each
    /// processor, 300 MiB for all of them, 64 passwords waiting, no reading of words, no vision model, 1 GiB and all
    /// processors for searches.
    pub fn new(decoder: WorkerCommand) -> Self {
        Self {
            free_window: 1000,
            max_upload_bytes: 200_000_000,
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
