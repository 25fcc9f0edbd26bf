use diesel::SqliteConnection;
use domain::Timestamp;
use storage::LeaseRequest;

use crate::error::SqliteError;

/// Maximum number of jobs that one statement leases: each is a bound parameter.
const MAX_BATCH: u32 = 1000;

/// A [`LeaseRequest`] that can be sent to another thread.
pub(crate) struct OwnedLeaseRequest {
    pub(crate) worker: String,
    pub(crate) at: Timestamp,
    pub(crate) until: Timestamp,
    max: u32,
    max_attempts: u32,
}

impl From<LeaseRequest<'_>> for OwnedLeaseRequest {
    fn from(request: LeaseRequest<'_>) -> Self {
        Self {
            worker: request.worker.to_owned(),
            at: request.at,
            until: request.until,
            max: request.max,
            max_attempts: request.max_attempts,
        }
    }
}

/// The row of a job that can be leased.
pub(crate) trait LeasableJob: Sized {
    /// The job as its worker gets it.
    type Leased;

    /// Selects one of several queues in the table.
    type Queue: Copy;

    /// The first `max` jobs of the queue, in its order, that can be leased at that time.
    fn available(
        c: &mut SqliteConnection,
        queue: Self::Queue,
        at: Timestamp,
        max: u32,
    ) -> Result<Vec<Self>, SqliteError>;

    /// How many times the job has been leased.
    fn attempts(&self) -> i64;

    /// Leases jobs.
    fn lease(
        c: &mut SqliteConnection,
        jobs: &[Self],
        request: &OwnedLeaseRequest,
    ) -> Result<Vec<Self::Leased>, SqliteError>;
}

/// Leases jobs. Those that have been leased too often go to `give_up` instead, which removes them from the queue.
pub(crate) fn lease<J: LeasableJob>(
    c: &mut SqliteConnection,
    queue: J::Queue,
    request: &OwnedLeaseRequest,
    give_up: impl Fn(&mut SqliteConnection, &[J]) -> Result<(), SqliteError>,
) -> Result<Vec<J::Leased>, SqliteError> {
    let mut leased = Vec::new();
    loop {
        let missing = request.max.saturating_sub(u32::try_from(leased.len()).unwrap_or(u32::MAX));
        let batch = J::available(c, queue, request.at, missing.min(MAX_BATCH))?;
        if batch.is_empty() {
            return Ok(leased);
        }
        let (exhausted, jobs): (Vec<J>, Vec<J>) =
            batch.into_iter().partition(|job| job.attempts() >= i64::from(request.max_attempts));
        give_up(c, &exhausted)?;
        if !jobs.is_empty() {
            leased.extend(J::lease(c, &jobs, request)?);
        }
    }
}

/// Defines the lease statements of a job table. The column `$key` of type `$type` identifies a job to its worker.
macro_rules! lease_statements {
    ($jobs:ident by $key:ident: $type:ty) => {
        /// Marks jobs as leased by the worker of the request.
        fn mark_leased(
            c: &mut SqliteConnection,
            ids: impl Iterator<Item = i64>,
            request: &OwnedLeaseRequest,
        ) -> Result<(), SqliteError> {
            diesel::update($jobs::table.filter($jobs::id.eq_any(ids)))
                .set((
                    $jobs::attempts.eq($jobs::attempts + 1),
                    $jobs::leased_by.eq(&request.worker),
                    $jobs::leased_until_ms.eq(request.until.millis()),
                ))
                .execute(c)?;
            Ok(())
        }

        /// Renews the leases of a worker on these jobs.
        pub(crate) fn renew(
            c: &mut SqliteConnection,
            worker: &str,
            jobs: Vec<$type>,
            until: Timestamp,
        ) -> Result<(), SqliteError> {
            let leased = $jobs::leased_by.eq(worker).and($jobs::$key.eq_any(jobs));
            diesel::update($jobs::table.filter(leased))
                .set($jobs::leased_until_ms.eq(until.millis()))
                .execute(c)?;
            Ok(())
        }

        /// Returns a job to the queue for a later retry; the attempt does not count.
        pub(crate) fn retry(
            c: &mut SqliteConnection,
            job: $type,
            worker: &str,
            not_before: Timestamp,
        ) -> Result<(), SqliteError> {
            let leased = $jobs::leased_by.eq(worker).and($jobs::$key.eq(job));
            diesel::update($jobs::table.filter(leased))
                .set((
                    $jobs::not_before_ms.eq(not_before.millis()),
                    $jobs::attempts.eq($jobs::attempts - 1),
                    $jobs::leased_by.eq(None::<String>),
                    $jobs::leased_until_ms.eq(None::<i64>),
                ))
                .execute(c)?;
            Ok(())
        }

        /// Returns all jobs of a worker to the queue; the attempts do not count.
        pub(crate) fn release(c: &mut SqliteConnection, worker: &str) -> Result<(), SqliteError> {
            diesel::update($jobs::table.filter($jobs::leased_by.eq(worker)))
                .set((
                    $jobs::attempts.eq($jobs::attempts - 1),
                    $jobs::leased_by.eq(None::<String>),
                    $jobs::leased_until_ms.eq(None::<i64>),
                ))
                .execute(c)?;
            Ok(())
        }

        /// Returns all jobs of a killed worker to the queue. The attempts count: one of the jobs may have killed it.
        pub(crate) fn abandon(c: &mut SqliteConnection, worker: &str) -> Result<(), SqliteError> {
            diesel::update($jobs::table.filter($jobs::leased_by.eq(worker)))
                .set(($jobs::leased_by.eq(None::<String>), $jobs::leased_until_ms.eq(None::<i64>)))
                .execute(c)?;
            Ok(())
        }
    };
}
pub(crate) use lease_statements;
