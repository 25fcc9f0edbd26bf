mod jobs;
mod progress;
mod registry;

use domain::{AccountId, ImageId, Timestamp};
use storage::{
    BackfillFilter, JobId, LeaseRequest, Stage, StageId, StageJob, StageOutcome, StageProgress, StageQueue,
    StorageError, VersionPolicy,
};

use crate::{
    Lock,
    sql::{lease::OwnedLeaseRequest, vectors},
};

pub(crate) use jobs::{abandon, release, requeue_image};

operations! {
    impl StageQueue {
        write_of_account(move |c| jobs::account_of(c, job)) complete_stage_job(
            job: JobId, worker: &str, version: &str, outcome: StageOutcome as ref
        ) -> bool = jobs::complete;
        query_inline stage(name: &str) -> Option<Stage> = registry::stage;
        write(Lock::Stages) restart_backfill(stage: StageId) -> () = registry::restart_backfill;
        write(Lock::Nothing) retry_stage_job(job: JobId, worker: &str, not_before: Timestamp) -> () {
            |c| jobs::retry(c, &job.0, &worker, not_before)
        }
        write(Lock::SharedStages) fail_stage_job(job: JobId, worker: &str, reason: &str) -> () = jobs::fail;
        write(Lock::Stages) mark_stage_complete(stage: StageId, version: &str) -> bool
            = registry::mark_complete;
        read stage_progress(account: Option<AccountId>) -> Vec<StageProgress> = progress::progress;
        read images_with_pending_stages(images: &[ImageId], stages: &[StageId]) -> Vec<ImageId>
            = progress::pending_images;
    }
    by hand {
        async fn open_stage(
            &self,
            name: &str,
            version: &str,
            revision: u32,
            other_version: VersionPolicy,
        ) -> Result<Stage, StorageError> {
            let (name, version) = (name.to_owned(), version.to_owned());
            // Each process calls this every few seconds, and the lock would delay all writes that complete jobs.
            let known = {
                let (name, version) = (name.clone(), version.clone());
                self.query(move |c| registry::opened(c, &name, (&version, revision), other_version)).await?
            };
            if let Some(known) = known {
                return Ok(known);
            }
            self.write(Lock::Stages, move |c| registry::open(c, &name, (&version, revision), other_version))
                .await
        }

        async fn backfill_stage(
            &self,
            stage: StageId,
            undone: BackfillFilter<'_>,
            max: u32,
        ) -> Result<bool, StorageError> {
            let encoder = match undone {
                BackfillFilter::All => None,
                BackfillFilter::WithoutVector(encoder) => Some(encoder.to_owned()),
            };
            if !self.query(move |c| registry::has_backfill(c, stage)).await? {
                return Ok(false);
            }
            self.write(Lock::Stages, move |c| registry::backfill(c, stage, encoder.as_deref(), max)).await
        }

        async fn lease_stage_jobs(
            &self,
            stage: StageId,
            request: LeaseRequest<'_>,
        ) -> Result<Vec<StageJob>, StorageError> {
            let request = OwnedLeaseRequest::from(request);
            let at = request.at;
            // As in `lease_jobs`: check for a queued job without the write lock first.
            if !self.query(move |c| jobs::has_available(c, stage, at)).await? {
                return Ok(Vec::new());
            }
            self.write(Lock::SharedStages, move |c| jobs::lease(c, stage, &request)).await
        }

        async fn renew_stage_leases(
            &self,
            worker: &str,
            jobs: &[JobId],
            until: Timestamp,
        ) -> Result<(), StorageError> {
            let worker = worker.to_owned();
            let jobs: Vec<i64> = jobs.iter().map(|job| job.0).collect();
            self.write(Lock::Nothing, move |c| jobs::renew(c, &worker, &jobs, until)).await
        }

        async fn prune_vectors(&self, names: &[&str], max: u32) -> Result<u32, StorageError> {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            if !self
                .read({
                    let names = names.clone();
                    move |c| vectors::any_prunable(c, &names)
                })
                .await?
            {
                return Ok(0);
            }
            self.write(Lock::Nothing, move |c| vectors::prune(c, &names, max)).await
        }
    }
}
