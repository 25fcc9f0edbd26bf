use sandbox::PoolLoad;
use storage::{QueueLength, StageProgress, StorageError};

use crate::Library;

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

/// The state of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessFigures {
    /// The jobs of the decoders.
    pub decoders: PoolLoad,
    /// The renditions that are kept in memory.
    pub renditions: RenditionCacheFigures,
    /// The memory of embeddings for search by look, in bytes.
    pub embeddings_bytes: usize,
}

/// The size and the use of the renditions in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenditionCacheFigures {
    /// Their memory in bytes.
    pub bytes: u64,
    /// Look-ups that found a rendition, since the start of the process.
    pub hits: u64,
    /// Look-ups that found none.
    pub misses: u64,
}

impl Library {
    /// The work that waits in the store.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn queue_figures(&self) -> Result<QueueFigures, StorageError> {
        let images = self.parts.store.queue_length().await?;
        let stages = self.parts.store.stage_progress(None).await?;
        let now_ms = self.parts.clock.now().millis();
        let age_ms = images.oldest_pending.map_or(0, |added| now_ms.saturating_sub(added.millis()));
        // Another machine's clock may be ahead.
        let oldest_pending_s = u64::try_from(age_ms).unwrap_or(0) / 1000;
        Ok(QueueFigures { images, oldest_pending_s, stages })
    }

    /// The state of this process.
    pub fn process_figures(&self) -> ProcessFigures {
        ProcessFigures {
            decoders: self.parts.decoders.load(),
            renditions: self.parts.hot_renditions.figures(),
            embeddings_bytes: self.parts.embeddings.bytes(),
        }
    }
}
