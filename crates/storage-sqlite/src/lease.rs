use diesel::SqliteConnection;
use domain::Timestamp;
use storage::LeaseRequest;

use crate::error::Failure;

/// The most jobs that one statement leases: each is a parameter of it.
const LEASE_BATCH: u32 = 1000;

/// A worker's request for jobs that can move to another thread.
pub(crate) struct Request {
    pub(crate) worker: String,
    pub(crate) at: Timestamp,
    pub(crate) until: Timestamp,
    max: u32,
    max_attempts: u32,
}

impl From<LeaseRequest<'_>> for Request {
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

/// A job that may be leased.
pub(crate) trait FreeJob: Sized {
    /// What is told of one that is leased.
    type Leased;

    /// Which of several queues is meant.
    type Queue: Copy;

    /// The first jobs, in the order of their queue, that may be leased at that moment.
    fn free(
        c: &mut SqliteConnection,
        queue: Self::Queue,
        at: Timestamp,
        max: u32,
    ) -> Result<Vec<Self>, Failure>;

    /// How often it was leased.
    fn attempts(&self) -> i64;

    /// Leases jobs.
    fn take(c: &mut SqliteConnection, jobs: &[Self], request: &Request)
    -> Result<Vec<Self::Leased>, Failure>;
}

/// Leases jobs, and hands those that were leased too often to `give_up`, which takes them out of the queue.
pub(crate) fn lease<J: FreeJob>(
    c: &mut SqliteConnection,
    queue: J::Queue,
    request: &Request,
    give_up: impl Fn(&mut SqliteConnection, &[J]) -> Result<(), Failure>,
) -> Result<Vec<J::Leased>, Failure> {
    let mut leased = Vec::new();
    loop {
        let wanted = request.max.saturating_sub(u32::try_from(leased.len()).unwrap_or(u32::MAX));
        let batch = J::free(c, queue, request.at, wanted.min(LEASE_BATCH))?;
        if batch.is_empty() {
            return Ok(leased);
        }
        let (given_up, taken): (Vec<J>, Vec<J>) =
            batch.into_iter().partition(|job| job.attempts() >= i64::from(request.max_attempts));
        give_up(c, &given_up)?;
        if !taken.is_empty() {
            leased.extend(J::take(c, &taken, request)?);
        }
    }
}

/// The statements about the leases of a queue's table. A worker names its jobs by the column `$key`, which is a
/// `$type`.
macro_rules! leases {
    ($jobs:ident by $key:ident: $type:ty) => {
        /// Notes whose jobs these are now.
        fn hold(
            c: &mut SqliteConnection,
            ids: impl Iterator<Item = i64>,
            request: &Request,
        ) -> Result<(), Failure> {
            diesel::update($jobs::table.filter($jobs::id.eq_any(ids)))
                .set((
                    $jobs::attempts.eq($jobs::attempts + 1),
                    $jobs::leased_by.eq(&request.worker),
                    $jobs::leased_until_ms.eq(request.until.millis()),
                ))
                .execute(c)?;
            Ok(())
        }

        /// Prolongs the leases of jobs that a worker holds.
        pub(crate) fn renew(
            c: &mut SqliteConnection,
            worker: &str,
            jobs: Vec<$type>,
            until: Timestamp,
        ) -> Result<(), Failure> {
            let held = $jobs::leased_by.eq(worker).and($jobs::$key.eq_any(jobs));
            diesel::update($jobs::table.filter(held))
                .set($jobs::leased_until_ms.eq(until.millis()))
                .execute(c)?;
            Ok(())
        }

        /// Gives a job that a worker holds back to be tried again later, as if it had not been leased.
        pub(crate) fn retry(
            c: &mut SqliteConnection,
            job: $type,
            worker: &str,
            not_before: Timestamp,
        ) -> Result<(), Failure> {
            let held = $jobs::leased_by.eq(worker).and($jobs::$key.eq(job));
            diesel::update($jobs::table.filter(held))
                .set((
                    $jobs::not_before_ms.eq(not_before.millis()),
                    $jobs::attempts.eq($jobs::attempts - 1),
                    $jobs::leased_by.eq(None::<String>),
                    $jobs::leased_until_ms.eq(None::<i64>),
                ))
                .execute(c)?;
            Ok(())
        }

        /// Gives jobs back as if they had not been leased.
        pub(crate) fn release(c: &mut SqliteConnection, worker: &str) -> Result<(), Failure> {
            diesel::update($jobs::table.filter($jobs::leased_by.eq(worker)))
                .set((
                    $jobs::attempts.eq($jobs::attempts - 1),
                    $jobs::leased_by.eq(None::<String>),
                    $jobs::leased_until_ms.eq(None::<i64>),
                ))
                .execute(c)?;
            Ok(())
        }

        /// Gives all jobs back. Their attempts count: one of them may be what killed its worker.
        pub(crate) fn release_all(c: &mut SqliteConnection) -> Result<(), Failure> {
            diesel::update($jobs::table.filter($jobs::leased_by.is_not_null()))
                .set(($jobs::leased_by.eq(None::<String>), $jobs::leased_until_ms.eq(None::<i64>)))
                .execute(c)?;
            Ok(())
        }
    };
}
pub(crate) use leases;
