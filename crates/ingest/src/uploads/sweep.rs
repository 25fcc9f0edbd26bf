use std::{
    collections::HashSet,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use roles::StoreFailure;
use storage::UploadProtocol;

use crate::Ingest;

/// How long an upload is kept after it was last written to: a day for tus, three days for chunks, because their clients
/// retry less often.
pub(super) const TUS_EXPIRES_MS: i64 = 24 * 3600 * 1000;
const CHUNKED_EXPIRES_MS: i64 = 3 * TUS_EXPIRES_MS;

/// The age from which a file without a part in the store is left over from a killed process.
const ORPHAN_MS: i64 = 24 * 3600 * 1000;

/// How many uploads one write covers, so that other writes wait only briefly.
const SWEEP_BATCH: u32 = 100;

/// How many files one query asks for.
const FILES_PER_QUERY: usize = 500;

impl Ingest {
    /// Deletes expired uploads, and files that belong to no part.
    pub async fn sweep_uploads(&self, stopped: impl Fn() -> bool) -> Result<(), StoreFailure> {
        self.sweep_expired_uploads(stopped).await?;
        self.sweep_part_files().await
    }

    /// Deletes expired uploads.
    pub async fn sweep_expired_uploads(&self, stopped: impl Fn() -> bool) -> Result<(), StoreFailure> {
        let now = self.parts.clock.now();
        for (protocol, expires_ms) in
            [(UploadProtocol::Tus, TUS_EXPIRES_MS), (UploadProtocol::Chunked, CHUNKED_EXPIRES_MS)]
        {
            while !stopped() {
                let before = now.plus_millis(-expires_ms);
                let swept = self.parts.store.sweep_uploads(protocol, before, SWEEP_BATCH).await?;
                self.delete_part_files(swept.files).await;
                if swept.uploads == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Aborts uploads to a remote blob store that a killed process left unfinished. Their data takes space until then.
    async fn abort_blob_uploads(&self, before_ms: i64) {
        let before = UNIX_EPOCH + Duration::from_millis(u64::try_from(before_ms).unwrap_or_default());
        match self.parts.blobs.abort_uploads(before).await {
            Ok(0) => {}
            Ok(uploads) => tracing::info!(uploads, "incomplete uploads to the blob store were aborted"),
            Err(error) => {
                tracing::warn!(%error, "incomplete uploads to the blob store could not be aborted; it will be retried");
            }
        }
    }

    /// Deletes files that are left over from killed processes: old files that the store does not name.
    pub async fn sweep_part_files(&self) -> Result<(), StoreFailure> {
        let before_ms = self.parts.clock.now().millis() - ORPHAN_MS;
        self.abort_blob_uploads(before_ms).await;
        let files = match self.parts.blobs.parts.files().await {
            Ok(files) => files,
            Err(error) => {
                tracing::warn!(%error, "the folder of uploads cannot be read");
                return Ok(());
            }
        };
        let old = files.into_iter().filter(|file| unix_millis(file.modified) < before_ms);
        let mut old: Vec<String> = old.map(|file| file.name).collect();
        while !old.is_empty() {
            let batch = old.split_off(old.len().saturating_sub(FILES_PER_QUERY));
            let known: HashSet<String> =
                self.parts.store.known_part_files(&batch).await?.into_iter().collect();
            self.delete_part_files(batch.into_iter().filter(|name| !known.contains(name)).collect()).await;
        }
        Ok(())
    }
}

/// Milliseconds since 1970; an earlier time counts as 1970.
fn unix_millis(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
