use blobs::BlobError;
use storage::{BlobRef, StorageError};
use tokio::time;

use crate::{HeldRole, MAX_STEP, Role, Roles};

/// How long an announced blob may stay unreferenced before it is removed.
const IDLE_BLOB_MS: i64 = 3600 * 1000;
/// How many blobs one write covers, so that other writes wait only briefly.
const BATCH: u32 = 200;

/// The metadata store or the blob store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreFailure {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Blob(#[from] BlobError),
}

impl Roles {
    /// Removes unreferenced blobs, unless another process sweeps. Begins with blobs whose removal a killed process began,
    /// because an import of the same bytes waits for these.
    pub async fn finish_removals(&self) -> Result<(), StoreFailure> {
        let Some(mut sweeper) = self.try_role(Role::SWEEPER).await? else { return Ok(()) };
        let removed = self.remove_idle_blobs(&mut sweeper, || false).await;
        sweeper.release().await;
        removed
    }

    /// Removes unreferenced blobs until the role is lost. With two sweepers, the slower one could delete a file that was
    /// written again after the faster one had removed it.
    pub async fn remove_idle_blobs(
        &self,
        sweeper: &mut HeldRole,
        stopped: impl Fn() -> bool,
    ) -> Result<(), StoreFailure> {
        while !stopped() && sweeper.is_valid().await? {
            let now = self.parts.clock.now();
            let left = self.parts.store.taken_blobs(BATCH).await?;
            let taken = if left.is_empty() {
                let idle_since = now.plus_millis(1 - IDLE_BLOB_MS);
                self.parts.store.take_unreferenced_blobs(idle_since, now, BATCH).await?
            } else {
                left
            };
            if taken.is_empty() {
                break;
            }
            for blob in &taken {
                if !sweeper.is_valid().await? {
                    return Ok(());
                }
                self.delete_blob(blob).await?;
            }
            if !sweeper.is_valid().await? {
                return Ok(());
            }
            self.parts.store.forget_blobs(&taken).await?;
        }
        Ok(())
    }

    /// Deletes a taken blob in the time for which the sweeper's role is certainly valid.
    pub async fn delete_blob(&self, blob: &BlobRef) -> Result<(), BlobError> {
        let deleted = time::timeout(MAX_STEP, self.parts.blobs.content.delete(blob.kind, blob.hash));
        deleted.await.unwrap_or(Err(BlobError::TimedOut))
    }
}
