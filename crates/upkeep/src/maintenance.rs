use std::time::Duration;

use catalogue::RESTORABLE_MS;
use ingest::FORGET_MS;
use roles::{HeldRole, Role, StoreFailure};
use storage::{StorageError, StoreRule};
use tokio::{sync::watch, task::JoinHandle, time};

use crate::Upkeep;

/// How often a running service cleans up.
const INTERVAL: Duration = Duration::from_secs(600);
/// How many rows one write covers, so that other writes wait only briefly.
const BATCH: u32 = 200;
/// How many accounts one read covers when months are checked.
const MONTHS_BATCH: u32 = 20;
/// How often the months of the timeline are checked, and for how long after the start. During a rolling upgrade, programs of the
/// previous release count photos in months of UTC.
const MONTHS_EVERY: Duration = Duration::from_secs(3_600);
const MONTHS_FOR: Duration = Duration::from_secs(24 * 3_600);

/// When this process checks the months of the timeline, by the monotonic clock.
struct MonthChecks {
    next: Duration,
    last: Duration,
}

impl MonthChecks {
    fn new(start: Duration) -> Self {
        Self { next: start, last: start + MONTHS_FOR }
    }

    fn are_due(&self, now: Duration) -> bool {
        self.next <= now && self.next <= self.last
    }

    fn done(&mut self, now: Duration) {
        self.next = now + MONTHS_EVERY;
    }
}

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

impl Upkeep {
    /// Starts the periodic clean-up. It forgets expired uploads, purges images that were deleted more than 30 days ago and the data of deleted
    /// accounts, and deletes expired rows. In the first day it also corrects the months of timelines.
    pub fn start_maintenance(&self) -> Maintenance {
        let (stop, mut stopped) = watch::channel(false);
        let upkeep = self.clone();
        let task = tokio::spawn(async move {
            let mut interval = time::interval(INTERVAL);
            let mut months = MonthChecks::new(upkeep.parts.clock.monotonic());
            loop {
                tokio::select! {
                    _ = stopped.changed() => return,
                    _ = interval.tick() => {}
                }
                let cleaned = upkeep.clean_up(&mut months, || *stopped.borrow()).await;
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
        self.parts.ingest.sweep_uploads(|| false).await.map_err(|error| error.to_string())?;
        self.purge().await.map_err(|error| error.to_string())?;
        self.parts.roles.finish_removals().await.map_err(|error| error.to_string())
    }

    /// Forgets expired uploads, and deletes parts of uploads that nothing refers to.
    ///
    /// # Errors
    /// A store failed; a running service retries.
    pub async fn delete_expired_uploads(&self) -> Result<(), String> {
        self.parts.ingest.sweep_uploads(|| false).await.map_err(|error| error.to_string())
    }

    /// Counts the months of the timeline again in accounts where they are wrong.
    ///
    /// # Errors
    /// The store failed; a running service retries.
    pub async fn correct_months(&self) -> Result<(), StorageError> {
        self.correct_months_as(None, || false).await
    }

    async fn correct_months_as(
        &self,
        mut sweeper: Option<&mut HeldRole>,
        stopped: impl Fn() -> bool,
    ) -> Result<(), StorageError> {
        let (store, rule, mut after) = (&self.parts.store, StoreRule::TimelineMonths, None);
        while !stopped() {
            if let Some(sweeper) = &mut sweeper
                && !sweeper.is_valid().await?
            {
                break;
            }
            let page = store.check_rule(rule, after, MONTHS_BATCH).await?;
            for violation in &page.violations {
                tracing::info!(account = violation.row.0, "the months of a timeline are counted again");
                store.repair_rule(rule, &[violation.row], self.parts.clock.now()).await?;
            }
            let Some(last) = page.last else { break };
            after = Some(last);
        }
        Ok(())
    }

    /// Only one process of all machines does this at a time, except for part files. If it takes so long that another
    /// process begins as well, the two share the rows between them.
    async fn clean_up(
        &self,
        months: &mut MonthChecks,
        stopped: impl Fn() -> bool,
    ) -> Result<(), StoreFailure> {
        // Every process sweeps part files, because the folder of parts may be local to this machine.
        self.parts.ingest.sweep_part_files().await?;
        let Some(mut sweeper) = self.parts.roles.try_role(Role::SWEEPER).await? else { return Ok(()) };
        let cleaned = async {
            self.parts.accounts.delete_expired(&stopped).await?;
            // Before the purge, which deletes the rows of deleted accounts.
            self.parts.ingest.sweep_expired_uploads(&stopped).await?;
            // Before the purge, which can take long: imports of the same bytes wait for removals that have begun.
            self.parts.roles.remove_idle_blobs(&mut sweeper, &stopped).await?;
            self.purge_as(&mut sweeper, &stopped).await?;
            self.parts.roles.remove_idle_blobs(&mut sweeper, &stopped).await?;
            let now = self.parts.clock.monotonic();
            if months.are_due(now) && !stopped() {
                self.correct_months_as(Some(&mut sweeper), stopped).await?;
                months.done(now);
            }
            Ok(())
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_checked_at_the_start_and_each_hour_of_the_first_day() {
        let start = Duration::from_secs(77);
        let mut months = MonthChecks::new(start);
        let mut checks = 0;
        for tick in 0..400 {
            let now = start + INTERVAL * tick;
            if months.are_due(now) {
                assert_eq!(tick % 6, 0, "{tick}");
                months.done(now);
                checks += 1;
            }
        }
        assert_eq!(checks, 25);
    }
}
