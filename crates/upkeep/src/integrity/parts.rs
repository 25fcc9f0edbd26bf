//! Checks that the parts of uploads and their files belong together.

use std::collections::HashSet;

use blobs::PartFile;
use storage::StoredPart;

use super::{
    Audit, BATCH, FindingKind, IntegrityError,
    orphans::{MAX_UPLOAD_MS, timestamp},
};

impl Audit<'_> {
    /// Finds parts whose file is missing or has another length. Their upload can never be completed. A repair deletes the
    /// upload, so that its client begins again.
    pub(super) async fn check_parts(&mut self) -> Result<(), IntegrityError> {
        let (mut after, mut checked): (Option<String>, u64) = (None, 0);
        loop {
            let page = self.upkeep.parts.store.upload_parts(after.as_deref(), BATCH).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.file.clone());
            checked += page.len() as u64;
            self.report.rows += page.len() as u64;
            self.show("parts of uploads", checked);
            for part in page {
                self.check_part(&part).await?;
            }
        }
    }

    async fn check_part(&mut self, part: &StoredPart) -> Result<(), IntegrityError> {
        let parts = &self.upkeep.parts;
        let bytes = parts.blobs.parts.length(&part.file).await?;
        // The upload may have been completed after the part was listed.
        if bytes == Some(part.bytes) || !self.is_known(&part.file).await? {
            return Ok(());
        }
        if self.options.repair {
            let files = parts.store.delete_upload(part.upload).await?;
            // The check of part files finds files that could not be deleted.
            if let Err(error) = parts.blobs.parts.delete(files).await {
                tracing::warn!(%error, "parts of an upload could not be deleted");
            }
        }
        let account = part.account.as_deref().unwrap_or("a deleted account");
        let state = bytes.map_or("missing".to_owned(), |bytes| format!("{bytes} bytes long"));
        let text = format!("{account}: {} is {state} instead of {} bytes long", part.file, part.bytes);
        self.add(FindingKind::LostPart, self.options.repair, text);
        Ok(())
    }

    async fn is_known(&self, file: &str) -> Result<bool, IntegrityError> {
        Ok(!self.upkeep.parts.store.known_part_files(&[file.to_owned()]).await?.is_empty())
    }

    /// Finds files that belong to no part and are no longer written to.
    pub(super) async fn check_part_files(&mut self) -> Result<(), IntegrityError> {
        let parts = &self.upkeep.parts;
        let written_before = parts.clock.now().plus_millis(-MAX_UPLOAD_MS);
        let is_old = |file: &PartFile| timestamp(file.modified).is_some_and(|at| at < written_before);
        let files = parts.blobs.parts.files().await?;
        let mut old: Vec<String> = files.into_iter().filter(is_old).map(|file| file.name).collect();
        let batch = usize::try_from(BATCH).unwrap_or(usize::MAX);
        while !old.is_empty() {
            let files = old.split_off(old.len().saturating_sub(batch));
            let known: HashSet<String> = parts.store.known_part_files(&files).await?.into_iter().collect();
            for file in files.into_iter().filter(|file| !known.contains(file)) {
                if self.options.repair {
                    parts.blobs.parts.delete(vec![file.clone()]).await?;
                }
                self.add(FindingKind::OrphanPart, self.options.repair, file);
            }
        }
        Ok(())
    }
}
