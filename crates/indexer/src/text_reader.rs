use std::{
    io,
    time::{Duration, Instant},
};

use sandbox::{OCR_VERSION, OcrStatus, Pool};
use tokio::sync::Mutex;

/// How long the OCR version is cached. It changes when languages are installed.
const VERSION_TTL: Duration = Duration::from_secs(600);

/// The pool of OCR workers.
pub(crate) struct TextReader {
    pub(crate) pool: Pool,
    /// How many photos are read at once.
    pub(crate) workers: usize,
    /// The cached OCR version and when it was read.
    version: Mutex<Option<(Instant, String)>>,
}

impl TextReader {
    pub(crate) fn new(pool: Pool, workers: usize) -> Self {
        Self { pool, workers, version: Mutex::default() }
    }

    pub(crate) async fn stop_idle_workers(&self) {
        self.pool.stop_idle_workers().await;
    }

    /// The OCR version: release and languages. When it changes, text is read again.
    pub(crate) async fn version(&self) -> io::Result<String> {
        let mut cached = self.version.lock().await;
        if let Some((read_at, version)) = &*cached
            && read_at.elapsed() < VERSION_TTL
        {
            return Ok(version.clone());
        }
        let version = match self.pool.ocr_status().await? {
            OcrStatus::Ready { version, languages, .. } => {
                format!("tesseract {version} {}, reading {OCR_VERSION}", languages.join("+"))
            }
            OcrStatus::Off => return Err(io::Error::other("the workers were started without OCR")),
            OcrStatus::Unavailable { reason, .. } => return Err(io::Error::other(reason)),
        };
        *cached = Some((Instant::now(), version.clone()));
        Ok(version)
    }
}
