use sandbox::WorkerCommand;

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
    /// How much memory all decoding together may take, in bytes. A photo that alone needs more is decoded alone.
    pub decode_memory_bytes: u64,
    /// How many passwords may wait to be checked, a check taking some 20 ms; whoever comes then is sent away.
    pub passwords_waiting: usize,
    /// The program that decodes, in processes of its own.
    pub decoder: WorkerCommand,
}

impl Settings {
    /// The defaults: 1000 images in the free window, files up to 200 MB and 200 megapixels, a decoder for each
    /// processor, 512 MiB for all of them, 64 passwords waiting.
    pub fn new(decoder: WorkerCommand) -> Self {
        Self {
            free_window: 1000,
            max_upload_bytes: 200_000_000,
            max_pixels: 200_000_000,
            decode_workers: std::thread::available_parallelism().map_or(2, usize::from),
            decode_memory_bytes: 512 * 1024 * 1024,
            passwords_waiting: 64,
            decoder,
        }
    }
}
