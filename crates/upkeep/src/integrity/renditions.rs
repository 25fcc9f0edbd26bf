//! Waits until renditions have been made again.

use std::time::Duration;

use indexer::IndexingScope;
use storage::{RuleRow, StoreRule};
use tokio::time::Instant;

use super::{Audit, BATCH, FindingKind, IntegrityError, describe};

/// How often the store is asked whether the renditions exist.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long the check waits without any progress. A decoder may work two minutes on one photo.
const MAX_STALL: Duration = Duration::from_secs(180);

impl Audit<'_> {
    /// Makes the queued renditions in this process, unless a server makes them, and waits for medium and thumb.
    pub(super) async fn await_renditions(&mut self) -> Result<(), IntegrityError> {
        if !self.awaits_renditions {
            return Ok(());
        }
        let indexing = self.upkeep.parts.indexer.start_indexing(IndexingScope::Images)?;
        let waited = self.wait().await;
        indexing.stop().await;
        waited
    }

    /// Walks over all images, and waits for each one that has a job for its renditions.
    async fn wait(&mut self) -> Result<(), IntegrityError> {
        let store = &self.upkeep.parts.store;
        let (mut after, mut last_progress, mut made) = (None, Instant::now(), 0);
        loop {
            let page = store.check_rule(StoreRule::RenditionsExist, after, BATCH).await?;
            let Some(missing) = page.violations.first() else {
                let Some(last) = page.last else { return Ok(()) };
                after = Some(last);
                continue;
            };
            let before = Some(RuleRow(missing.row.0.saturating_sub(1)));
            if after != before {
                (after, last_progress) = (before, Instant::now());
                made += 1;
                self.show("new renditions", made);
            }
            let without_job = store.check_rule(StoreRule::RenditionsExistOrQueued, before, 1).await?;
            if let Some(failed) = without_job.violations.first() {
                let text = failed.image.as_ref().map(describe).unwrap_or_default();
                self.add(FindingKind::FailedRendition, false, text);
                after = Some(missing.row);
            } else if last_progress.elapsed() > MAX_STALL {
                self.report.renditions_pending = true;
                return Ok(());
            } else {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    }
}
