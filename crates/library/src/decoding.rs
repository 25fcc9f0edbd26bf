use std::sync::Arc;

use bytes::Bytes;
use domain::Rendition;
use media::{Limits, MediaError, Rendered};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Settings;

/// Memory is accounted in these units.
const UNIT_BYTES: u64 = 1024 * 1024;

/// Runs decoders off the async threads: so many at once as there are workers, and no more than the memory budget
/// holds.
pub(crate) struct Decoder {
    workers: Arc<Semaphore>,
    files: Budget,
    decoding: Budget,
    limits: Limits,
}

/// So much memory, in units.
struct Budget {
    free: Arc<Semaphore>,
    units: u32,
}

impl Budget {
    fn new(bytes: u64) -> Self {
        let units = u32::try_from(bytes / UNIT_BYTES).unwrap_or(u32::MAX).clamp(1, u32::MAX >> 4);
        Self { free: Arc::new(Semaphore::new(units as usize)), units }
    }

    /// Waits for so many bytes; whoever needs more than there are gets all of them.
    async fn take(&self, bytes: u64) -> Result<OwnedSemaphorePermit, DecodeError> {
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX).clamp(1, self.units);
        self.free.clone().acquire_many_owned(units).await.map_err(|_| DecodeError::Crashed)
    }
}

/// Why a photo was not decoded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecodeError {
    /// The file is at fault.
    #[error(transparent)]
    Media(#[from] MediaError),
    /// The decoder is at fault.
    #[error("the decoder failed on this file")]
    Crashed,
}

impl Decoder {
    pub(crate) fn new(settings: &Settings) -> Self {
        // A quarter for the files, the rest for what decoding them takes: whoever holds memory for decoding never
        // waits for a file's, so that nobody waits in a circle.
        let files_bytes = settings.decode_memory_bytes / 4;
        Self {
            workers: Arc::new(Semaphore::new(settings.decode_workers.max(1))),
            files: Budget::new(files_bytes),
            decoding: Budget::new(settings.decode_memory_bytes - files_bytes),
            limits: Limits { max_pixels: settings.max_pixels },
        }
    }

    /// Waits for leave to hold a file of so many bytes in memory until the permit is dropped.
    pub(crate) async fn admit(&self, file_bytes: u64) -> Result<OwnedSemaphorePermit, DecodeError> {
        self.files.take(file_bytes).await
    }

    /// Makes the renditions that `wanted` chooses once the size is known, and whatever `also` reads of the file.
    pub(crate) async fn render<T: Send + 'static>(
        &self,
        file: Bytes,
        wanted: impl FnOnce(domain::PixelSize) -> Vec<Rendition>,
        also: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<(Rendered, T), DecodeError> {
        let probe = media::probe(&file, &self.limits)?;
        let wanted = wanted(probe.upright_size);
        let memory = self.decoding.take(probe.decode_memory_bytes(&wanted)).await?;
        let worker = self.workers.clone().acquire_owned().await;
        let limits = self.limits;
        let work = tokio::task::spawn_blocking(move || {
            // The permits go with the work: it runs on although its caller gave up.
            let _permits = (memory, worker);
            let rendered = media::render(&file, &wanted, &limits)?;
            Ok((rendered, also(&file)))
        });
        work.await.unwrap_or(Err(DecodeError::Crashed))
    }
}
