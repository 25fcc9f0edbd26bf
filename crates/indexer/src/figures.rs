use sandbox::PoolLoad;
use storage::{QueueLength, StageProgress, StorageError};

use crate::Indexer;

/// The work that waits in the store, of all processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueFigures {
    /// New images, full renditions, and images that are indexed again.
    pub images: QueueLength,
    /// Seconds since the first image in the queue that is not visible yet was added; 0 if there is none.
    pub oldest_pending_s: u64,
    /// The stages that make images searchable.
    pub stages: Vec<StageProgress>,
}

impl Indexer {
    /// The work that waits in the store.
    pub async fn queue_figures(&self) -> Result<QueueFigures, StorageError> {
        let images = self.parts.store.queue_length().await?;
        let stages = self.parts.store.stage_progress(None).await?;
        let now_ms = self.parts.clock.now().millis();
        let age_ms = images.oldest_pending.map_or(0, |added| now_ms.saturating_sub(added.millis()));
        // Another machine's clock may be ahead.
        let oldest_pending_s = u64::try_from(age_ms).unwrap_or(0) / 1000;
        Ok(QueueFigures { images, oldest_pending_s, stages })
    }

    /// The jobs of the decoders of this process.
    pub fn decoder_load(&self) -> PoolLoad {
        self.parts.decoders.load()
    }
}
