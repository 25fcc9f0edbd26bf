//! Finds files that nothing refers to.

use std::time::{SystemTime, UNIX_EPOCH};

use domain::{BlobKind, Timestamp};
use futures_util::TryStreamExt as _;
use storage::{AnnounceOutcome, BlobRef};

use super::{Audit, BATCH, FindingKind, IntegrityError};

/// A running upload never pauses for this long: a day.
pub(super) const MAX_UPLOAD_MS: i64 = 24 * 3600 * 1000;

impl Audit<'_> {
    /// Finds files that are not registered. Every file is registered before it is written, so a killed process leaves no
    /// such file. A repair hands renditions to the clean-up, because they can be made again. An original stays: it shows
    /// that the metadata store is older than the files, and may be the only copy of a photo.
    pub(super) async fn check_orphans(&mut self) -> Result<(), IntegrityError> {
        for kind in [BlobKind::Original, BlobKind::Rendition] {
            let mut listed = self
                .upkeep
                .parts
                .blobs
                .content
                .list(kind)
                .map_ok(|(hash, bytes)| BlobRef { kind, hash, bytes })
                .try_chunks(usize::try_from(BATCH).unwrap_or(usize::MAX));
            let mut checked = 0;
            while let Some(files) = listed.try_next().await.map_err(|error| error.1)? {
                checked += files.len() as u64;
                self.show("files", checked);
                self.check_registration(kind, &files).await?;
            }
        }
        Ok(())
    }

    async fn check_registration(&mut self, kind: BlobKind, files: &[BlobRef]) -> Result<(), IntegrityError> {
        let (store, content) = (&self.upkeep.parts.store, &self.upkeep.parts.blobs.content);
        let hashes: Vec<_> = files.iter().map(|file| file.hash).collect();
        let unregistered = store.unregistered_blobs(kind, &hashes).await?;
        for orphan in files.iter().filter(|file| unregistered.contains(&file.hash)) {
            // A clean-up may have deleted the file and its registration after the file was listed.
            if content.length(kind, orphan.hash).await?.is_none() {
                continue;
            }
            let text = format!("{}, {} bytes", content.location(kind, orphan.hash), orphan.bytes);
            if kind == BlobKind::Original {
                self.add(FindingKind::OriginalWithoutPhoto, false, text);
                continue;
            }
            let handed_over = self.options.repair
                && store.announce_blobs(&[*orphan], self.upkeep.parts.clock.now()).await?
                    == AnnounceOutcome::Ready;
            self.add(FindingKind::OrphanFile, handed_over, text);
        }
        Ok(())
    }

    /// Finds temporary files that no running process uses.
    pub(super) async fn check_temporary_files(&mut self) -> Result<(), IntegrityError> {
        let parts = &self.upkeep.parts;
        let written_before = parts.clock.now().plus_millis(-MAX_UPLOAD_MS);
        let mut files = parts.blobs.temporary_files().await?;
        files.retain(|file| timestamp(file.modified).is_some_and(|modified| modified < written_before));
        for file in files {
            if self.options.repair {
                parts.blobs.delete_temporary_file(&file).await?;
            }
            let bytes = file.bytes.map(|bytes| format!(", {bytes} bytes")).unwrap_or_default();
            self.add(FindingKind::TemporaryFile, self.options.repair, format!("{}{bytes}", file.location));
        }
        Ok(())
    }
}

/// A time of the file system.
pub(super) fn timestamp(modified: SystemTime) -> Option<Timestamp> {
    let since_epoch = modified.duration_since(UNIX_EPOCH).ok()?;
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).ok()?)
}
