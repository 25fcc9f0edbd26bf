use std::time::Duration;

use blobs::BlobError;
use oauth_core::{StoreError, Sweep, UnixMillis};
use storage::{BlobRef, StorageError};
use tokio::{sync::watch, task::JoinHandle, time};

use crate::{
    Library,
    folder_watch::FORGET_MS,
    indexing::StoreFailure,
    roles::{HeldRole, MAX_STEP, Role},
    sign_in,
    signing_keys::RETIRED_KEY_MS,
};

/// How long a deleted image can be restored: 30 days.
pub const RESTORABLE_MS: i64 = 30 * 24 * 3600 * 1000;
/// How long an announced blob may stay unreferenced before it is removed.
const IDLE_BLOB_MS: i64 = 3600 * 1000;
/// How long unredeemed authorization codes are kept.
const UNREDEEMED_CODE_MS: i64 = 24 * 3600 * 1000;
/// How long a client without an active grant stays registered: 90 days. A revoked grant is kept as long, because it
/// records when that time began.
const UNUSED_CLIENT_MS: i64 = 90 * 24 * 3600 * 1000;
/// How often a running service cleans up.
const INTERVAL: Duration = Duration::from_secs(600);
/// How many rows one write covers, so that other writes wait only briefly.
const BATCH: u32 = 200;

/// The periodic clean-up of a running service, until it is stopped.
#[derive(Debug)]
pub struct Maintenance {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Maintenance {
    /// Stops after the current batch.
    pub async fn stop(self) {
        // Fails only if the task has already ended.
        let _ = self.stop.send(true);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the maintenance task failed");
        }
    }
}

impl Library {
    /// Cleans up after processes of this machine that were killed: releases their leases and roles. If no other process uses
    /// the blob folder, it also deletes their temporary files.
    ///
    /// Other processes are not disturbed: leases of other machines expire. Unreferenced blobs are left to the periodic
    /// clean-up, because another process may be about to refer to them.
    ///
    /// # Errors
    /// A store failed; the next start retries.
    pub async fn recover(&self) -> Result<(), String> {
        self.free_ended_owners().await.map_err(|error| error.to_string())?;
        self.parts.blobs.run_exclusively(async {}).await.map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Starts the periodic clean-up. It forgets expired uploads, purges images that were deleted more than 30 days ago and the data of deleted
    /// accounts, and deletes expired rows.
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
                let cleaned = library.clean_up(|| *stopped.borrow()).await;
                if let Err(error) = cleaned {
                    tracing::warn!(%error, "clean-up failed; it will be retried");
                }
            }
        });
        Maintenance { stop, task }
    }

    /// Purges the data of deleted accounts completely.
    ///
    /// # Errors
    /// A store failed; a running service retries.
    pub async fn purge_deleted(&self) -> Result<(), String> {
        self.sweep_uploads(|| false).await.map_err(|error| error.to_string())?;
        self.purge().await.map_err(|error| error.to_string())?;
        self.finish_removals().await.map_err(|error| error.to_string())
    }

    /// Deletes expired sessions, login flows, failed sign-ins, authorization codes, grants, clients and signing keys.
    ///
    /// # Errors
    /// The store failed; a running service retries.
    pub async fn delete_expired(&self) -> Result<(), StorageError> {
        self.delete_expired_until(|| false).await
    }

    /// Forgets expired uploads, and deletes parts of uploads that nothing refers to.
    ///
    /// # Errors
    /// A store failed; a running service retries.
    pub async fn delete_expired_uploads(&self) -> Result<(), String> {
        self.sweep_uploads(|| false).await.map_err(|error| error.to_string())
    }

    async fn delete_expired_until(&self, stopped: impl Fn() -> bool) -> Result<(), StorageError> {
        let (store, now) = (&self.parts.store, self.parts.clock.now());
        while !stopped() && store.sweep_sessions(now, BATCH).await? > 0 {}
        let counted_since = now.plus_millis(-sign_in::LIMITS.window_ms);
        while !stopped() && store.sweep_sign_in_attempts(counted_since, BATCH).await? > 0 {}
        while !stopped() && store.sweep_login_flows(now, BATCH).await? > 0 {}
        let before = |millis: i64| UnixMillis(now.millis()).plus_ms(-millis);
        let expired = Sweep {
            codes_before: before(UNREDEEMED_CODE_MS),
            grants_before: before(UNUSED_CLIENT_MS),
            clients_before: before(UNUSED_CLIENT_MS),
            max: BATCH,
        };
        let failed = |StoreError(reason)| StorageError::Unavailable(reason);
        while !stopped() && store.sweep(expired).await.map_err(failed)? > 0 {}
        store.delete_retired_signing_keys(now.plus_millis(-RETIRED_KEY_MS)).await?;
        Ok(())
    }

    /// One process of all machines does this at a time. If it takes so long that another one begins as well, they share the
    /// rows between them.
    async fn clean_up(&self, stopped: impl Fn() -> bool) -> Result<(), StoreFailure> {
        // The folder of parts may belong to this machine.
        self.sweep_part_files().await?;
        let Some(mut sweeper) = self.try_role(Role::Sweeper).await? else { return Ok(()) };
        let cleaned = async {
            self.delete_expired_until(&stopped).await?;
            // Before the purge, which deletes the rows of deleted accounts.
            self.sweep_expired_uploads(&stopped).await?;
            // Before the purge, which can take long: imports of the same bytes wait for removals that have begun.
            self.remove_idle_blobs(&mut sweeper, &stopped).await?;
            self.purge_as(&mut sweeper, &stopped).await?;
            self.remove_idle_blobs(&mut sweeper, stopped).await
        };
        let cleaned = cleaned.await;
        sweeper.release().await;
        cleaned
    }

    /// Purges while this process has the sweeper's role. It renews the role, because deleting an account can take hours.
    async fn purge_as(&self, sweeper: &mut HeldRole, stopped: impl Fn() -> bool) -> Result<(), StorageError> {
        while !stopped() && sweeper.is_valid().await? && self.purge_batch().await? {}
        Ok(())
    }

    async fn purge(&self) -> Result<(), StorageError> {
        while self.purge_batch().await? {}
        Ok(())
    }

    /// Deletes one batch of rows; `false` when none is left.
    async fn purge_batch(&self) -> Result<bool, StorageError> {
        let (store, now) = (&self.parts.store, self.parts.clock.now());
        Ok(store.sweep_watched_files(now.plus_millis(-FORGET_MS), BATCH).await? > 0
            || store.sweep_deleted_files(None, now, BATCH).await? > 0
            || store.purge_images(now.plus_millis(-RESTORABLE_MS), BATCH).await? > 0)
    }

    /// Removes unreferenced blobs, unless another process sweeps. First those whose removal a killed process began: an
    /// import of the same bytes has to wait for them.
    pub(crate) async fn finish_removals(&self) -> Result<(), StoreFailure> {
        let Some(mut sweeper) = self.try_role(Role::Sweeper).await? else { return Ok(()) };
        let removed = self.remove_idle_blobs(&mut sweeper, || false).await;
        sweeper.release().await;
        removed
    }

    /// With two sweepers, a slow one could delete a file that was written again after the fast one had removed it. So this
    /// ends when the role is lost.
    pub(crate) async fn remove_idle_blobs(
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
    pub(crate) async fn delete_blob(&self, blob: &BlobRef) -> Result<(), BlobError> {
        let deleted = time::timeout(MAX_STEP, self.parts.blobs.content.delete(blob.kind, blob.hash));
        deleted.await.unwrap_or(Err(BlobError::TimedOut))
    }
}
