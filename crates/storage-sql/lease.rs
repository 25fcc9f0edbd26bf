use domain::Timestamp;
use storage::LeaseRequest;

use crate::{SqlConnection, error::SqlError};

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

    /// Whether there is a job in the queue that can be leased at that time.
    fn is_any_available(c: &mut SqlConnection, queue: Self::Queue, at: Timestamp) -> Result<bool, SqlError>;

    /// The first `max` jobs of the queue, in its order, that can be leased at that time. No other write leases them until
    /// this one ends.
    fn claim(
        c: &mut SqlConnection,
        queue: Self::Queue,
        at: Timestamp,
        max: u32,
    ) -> Result<Vec<Self>, SqlError>;

    /// How many times the job has been leased.
    fn attempts(&self) -> i64;

    fn lease(
        c: &mut SqlConnection,
        jobs: &[Self],
        request: &OwnedLeaseRequest,
    ) -> Result<Vec<Self::Leased>, SqlError>;
}

/// Leases jobs. Those that have been leased too often go to `give_up` instead, which removes them from the queue.
pub(crate) fn lease<J: LeasableJob>(
    c: &mut SqlConnection,
    queue: J::Queue,
    request: &OwnedLeaseRequest,
    give_up: impl Fn(&mut SqlConnection, &[J]) -> Result<(), SqlError>,
) -> Result<Vec<J::Leased>, SqlError> {
    let mut leased = Vec::new();
    loop {
        let missing = request.max.saturating_sub(u32::try_from(leased.len()).unwrap_or(u32::MAX));
        if missing == 0 {
            return Ok(leased);
        }
        let batch = J::claim(c, queue, request.at, missing.min(MAX_BATCH))?;
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

/// The jobs of a table, as a row type reads them, that can be leased at a time.
macro_rules! available_jobs {
    ($jobs:ident as $row:ty, $at:expr) => {
        $jobs::table
            .filter($jobs::not_before_ms.le($at.millis()))
            .filter($jobs::leased_until_ms.is_null().or($jobs::leased_until_ms.lt($at.millis())))
            .select(<$row>::as_select())
    };
}
pub(crate) use available_jobs;

/// Defines the lease statements of a job table. The column `$key` of type `$type` identifies a job to its worker.
macro_rules! lease_statements {
    ($jobs:ident by $key:ident: $type:ty) => {
        /// Marks jobs as leased by the worker of the request.
        fn mark_leased(
            c: &mut SqlConnection,
            ids: impl Iterator<Item = i64>,
            request: &OwnedLeaseRequest,
        ) -> Result<(), SqlError> {
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
            c: &mut SqlConnection,
            worker: &str,
            jobs: &[$type],
            until: Timestamp,
        ) -> Result<(), SqlError> {
            let leased = $jobs::leased_by.eq(worker).and($jobs::$key.eq_any(jobs.to_vec()));
            diesel::update($jobs::table.filter(leased))
                .set($jobs::leased_until_ms.eq(until.millis()))
                .execute(c)?;
            Ok(())
        }

        /// Returns a job to the queue for a later retry; the attempt does not count.
        pub(crate) fn retry(
            c: &mut SqlConnection,
            job: &$type,
            worker: &str,
            not_before: Timestamp,
        ) -> Result<(), SqlError> {
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
        pub(crate) fn release(c: &mut SqlConnection, worker: &str) -> Result<(), SqlError> {
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
        pub(crate) fn abandon(c: &mut SqlConnection, worker: &str) -> Result<(), SqlError> {
            diesel::update($jobs::table.filter($jobs::leased_by.eq(worker)))
                .set(($jobs::leased_by.eq(None::<String>), $jobs::leased_until_ms.eq(None::<i64>)))
                .execute(c)?;
            Ok(())
        }
    };
}
pub(crate) use lease_statements;
