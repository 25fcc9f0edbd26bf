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
    admitted: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    memory: Arc<Semaphore>,
    budget_units: u32,
    limits: Limits,
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
        let units = u32::try_from(settings.decode_memory_bytes / UNIT_BYTES).unwrap_or(u32::MAX);
        let budget_units = units.clamp(1, u32::MAX >> 4);
        let workers = settings.decode_workers.max(1);
        Self {
            // One more, so that reading a file overlaps decoding others.
            admitted: Arc::new(Semaphore::new(workers + 1)),
            workers: Arc::new(Semaphore::new(workers)),
            memory: Arc::new(Semaphore::new(budget_units as usize)),
            budget_units,
            limits: Limits { max_pixels: settings.max_pixels },
        }
    }

    /// Waits for leave to hold a file in memory until the slot is dropped: so many may at once, however many ask.
    pub(crate) async fn admit(&self) -> Result<OwnedSemaphorePermit, DecodeError> {
        self.admitted.clone().acquire_owned().await.map_err(|_| DecodeError::Crashed)
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
        let need = u32::try_from(probe.decode_memory_bytes(&wanted).div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX);
        let memory = self.memory.clone().acquire_many_owned(need.clamp(1, self.budget_units)).await;
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
