use std::time::Duration;

use oauth_core::{StoreError, Sweep, UnixMillis};
use storage::StorageError;
use tokio::{sync::watch, task::JoinHandle, time};

use crate::{Library, indexing::StorageErrorOrBlob, sign_in, signing_keys::RETIRED_KEY_MS};

/// How long a deleted image can be restored: 30 days.
const RESTORABLE_MS: i64 = 30 * 24 * 3600 * 1000;
/// How long an announced blob may wait for the image that refers to it.
const IDLE_BLOB_MS: i64 = 3600 * 1000;
/// How long codes that nobody redeemed are kept.
const UNREDEEMED_CODE_MS: i64 = 24 * 3600 * 1000;
/// How long an app stays registered that nobody let in, or nobody any more: 90 days. A grant that ended is kept as long,
/// because it is what tells when that was.
const UNUSED_CLIENT_MS: i64 = 90 * 24 * 3600 * 1000;
/// How often a running service tidies up, and how many rows it takes at once so that nobody waits for it long.
const INTERVAL: Duration = Duration::from_secs(600);
const BATCH: u32 = 200;

/// The tidying of a running service, until it is stopped.
#[derive(Debug)]
pub struct Maintenance {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Maintenance {
    /// Stops after the batch at work.
    pub async fn stop(self) {
        // Without a receiver the task has ended already.
        let _ = self.stop.send(true);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the upkeep task failed");
        }
    }
}

impl Library {
    /// Tidies up after processes that were killed, if no other process uses the same blobs: frees the jobs they held,
    /// and removes the blobs they left without an image.
    ///
    /// # Errors
    /// A store failed; the next start tries again.
    pub async fn recover(&self) -> Result<(), String> {
        let tidy = async {
            self.parts.store.release_all_leases().await?;
            self.remove_idle_blobs(0, || false).await
        };
        match self.parts.blobs.run_exclusively(tidy).await {
            Ok(None | Some(Ok(()))) => Ok(()),
            Ok(Some(Err(error))) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Starts tidying at intervals: removes for good what was deleted 30 days ago and what deleted accounts held, and
    /// forgets what expired.
    pub fn start_maintenance(&self) -> Maintenance {
        let (stop, mut stopped) = watch::channel(false);
        let library = self.clone();
        let task = tokio::spawn(async move {
            let mut interval = time::interval(INTERVAL);
            loop {
                tokio::select! {
                    _ = stopped.changed() => return,
                    _ = interval.tick() => {}
                }
                let tidied = library.tidy(|| *stopped.borrow()).await;
                if let Err(error) = tidied {
                    tracing::warn!(%error, "tidying up failed; it is tried again later");
                }
            }
        });
        Maintenance { stop, task }
    }

    /// Removes, now and to the end, what deleted accounts held.
    ///
    /// # Errors
    /// A store failed; a running service goes on with it.
    pub async fn purge_deleted(&self) -> Result<(), String> {
        self.purge(|| false).await.map_err(|error| error.to_string())?;
        self.remove_idle_blobs(IDLE_BLOB_MS, || false).await.map_err(|error| error.to_string())
    }

    /// Forgets what is over: sessions, failed sign-ins, codes, grants and apps, signing keys.
    ///
    /// # Errors
    /// The store failed; a running service tries again.
    pub async fn delete_expired(&self) -> Result<(), StorageError> {
        self.forget(|| false).await
    }

    async fn forget(&self, stopped: impl Fn() -> bool) -> Result<(), StorageError> {
        let (store, now) = (&self.parts.store, self.parts.clock.now());
        while !stopped() && store.sweep_sessions(now, BATCH).await? > 0 {}
        let counted_since = now.plus_millis(-sign_in::LIMITS.window_ms);
        while !stopped() && store.sweep_sign_in_attempts(counted_since, BATCH).await? > 0 {}
        let before = |millis: i64| UnixMillis(now.millis()).plus_ms(-millis);
        let ended = Sweep {
            codes_before: before(UNREDEEMED_CODE_MS),
            grants_before: before(UNUSED_CLIENT_MS),
            clients_before: before(UNUSED_CLIENT_MS),
            max: BATCH,
        };
        let failed = |StoreError(reason)| StorageError::Unavailable(reason);
        while !stopped() && store.sweep(ended).await.map_err(failed)? > 0 {}
        store.delete_retired_signing_keys(now.plus_millis(-RETIRED_KEY_MS)).await?;
        Ok(())
    }

    async fn tidy(&self, stopped: impl Fn() -> bool) -> Result<(), StorageErrorOrBlob> {
        self.forget(&stopped).await?;
        self.purge(&stopped).await?;
        self.remove_idle_blobs(IDLE_BLOB_MS, stopped).await
    }

    async fn purge(&self, stopped: impl Fn() -> bool) -> Result<(), StorageError> {
        while !stopped() {
            let now = self.parts.clock.now();
            if self.parts.store.purge_images(now.plus_millis(-RESTORABLE_MS), BATCH).await? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Removes what a killed sweeper had taken, now that nobody else is sweeping: whoever brings the same bytes again
    /// would wait for it otherwise.
    pub(crate) async fn finish_removals(&self) -> Result<(), StorageErrorOrBlob> {
        self.remove_idle_blobs(IDLE_BLOB_MS, || false).await
    }

    /// Removes blobs that nothing refers to, unless another process is at it.
    async fn remove_idle_blobs(
        &self,
        idle_ms: i64,
        stopped: impl Fn() -> bool,
    ) -> Result<(), StorageErrorOrBlob> {
        // With two sweepers, a slow one could delete a file that was written again after the quick one's removal.
        let Some(_sweeper) = self.parts.blobs.locks.try_sweeper()? else { return Ok(()) };
        while !stopped() {
            let now = self.parts.clock.now();
            let left = self.parts.store.taken_blobs(BATCH).await?;
            let taken = if left.is_empty() {
                let idle_since = now.plus_millis(1 - idle_ms);
                self.parts.store.take_unreferenced_blobs(idle_since, now, BATCH).await?
            } else {
                left
            };
            if taken.is_empty() {
                break;
            }
            for blob in &taken {
                self.parts.blobs.content.delete(blob.kind, blob.hash).await?;
            }
            self.parts.store.forget_blobs(&taken).await?;
        }
        Ok(())
    }
}
