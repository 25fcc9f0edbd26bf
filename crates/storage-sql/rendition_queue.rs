use std::collections::{HashMap, HashSet};

use diesel::{
    prelude::*,
    sql_types::{Binary, Text},
};
use domain::{ContentHash, Rendition, Timestamp};
use storage::{LeaseRequest, RenditionJob, RenditionQueue, StorageError};

use crate::{
    Lock, SqlConnection,
    error::SqlError,
    sql::{
        blob_registry,
        lease::{LeasableJob, OwnedLeaseRequest, available_jobs, lease, lease_statements},
        schema::{accounts, images, rendition_jobs},
        statement,
        value::{RowReader, json_array},
    },
};

operations! {
    impl RenditionQueue {
        write(Lock::Nothing) renew_rendition_leases(
            worker: &str, originals: &[ContentHash], until: Timestamp
        ) -> () { |c| renew(c, &worker, &bytes_of(&originals), until) }
        read holds_rendition_job(original: &ContentHash, worker: &str) -> bool = holds_job;
        write(Lock::Nothing) retry_rendition_job(
            original: &ContentHash, worker: &str, not_before: Timestamp
        ) -> () { |c| retry(c, &original.as_bytes().to_vec(), &worker, not_before) }
        write(Lock::Nothing) drop_rendition_job(original: &ContentHash, worker: &str) -> () = drop_leased_job;
    }
    by hand {
        async fn lease_rendition_jobs(
            &self,
            request: LeaseRequest<'_>,
        ) -> Result<Vec<RenditionJob>, StorageError> {
            let request = OwnedLeaseRequest::from(request);
            let at = request.at;
            // As in `lease_jobs`: check for a queued job without the write lock first.
            if !self.query(move |c| RenditionJobRow::is_any_available(c, (), at)).await? {
                return Ok(Vec::new());
            }
            self.write(Lock::Nothing, move |c| lease(c, (), &request, drop_jobs)).await
        }
    }
}

fn bytes_of(originals: &[ContentHash]) -> Vec<Vec<u8>> {
    originals.iter().map(|hash| hash.as_bytes().to_vec()).collect()
}

/// The job of an original, if the worker holds its lease.
macro_rules! leased_job {
    ($original:expr, $worker:expr) => {
        rendition_jobs::table
            .filter(rendition_jobs::original.eq($original.as_bytes().as_slice()))
            .filter(rendition_jobs::leased_by.eq($worker))
    };
}

fn holds_job(c: &mut SqlConnection, original: &ContentHash, worker: &str) -> Result<bool, SqlError> {
    Ok(diesel::select(diesel::dsl::exists(leased_job!(original, worker))).get_result(c)?)
}

fn drop_leased_job(c: &mut SqlConnection, original: &ContentHash, worker: &str) -> Result<(), SqlError> {
    diesel::delete(leased_job!(original, worker)).execute(c)?;
    Ok(())
}

lease_statements!(rendition_jobs by original: Vec<u8>);

#[derive(Queryable, Selectable)]
#[diesel(table_name = rendition_jobs, check_for_backend(crate::Backend))]
struct RenditionJobRow {
    id: i64,
    original: Vec<u8>,
    attempts: i64,
}

impl LeasableJob for RenditionJobRow {
    type Leased = RenditionJob;
    type Queue = ();

    fn is_any_available(c: &mut SqlConnection, (): (), at: Timestamp) -> Result<bool, SqlError> {
        let any = available_jobs!(rendition_jobs as Self, at).order(rendition_jobs::id.desc()).limit(1);
        Ok(any.load(c)?.len() == 1)
    }

    /// Newest first. Drops the jobs whose accounts were all deleted since they were queued.
    fn claim(c: &mut SqlConnection, (): (), at: Timestamp, max: u32) -> Result<Vec<Self>, SqlError> {
        loop {
            let available = available_jobs!(rendition_jobs as Self, at)
                .order(rendition_jobs::id.desc())
                .limit(i64::from(max));
            let found: Vec<Self> = skip_locked!(available).load(c)?;
            let needed = with_live_image(c, &found)?;
            let (claimed, unneeded): (Vec<Self>, Vec<Self>) =
                found.into_iter().partition(|job| needed.contains(&job.original));
            drop_jobs(c, &unneeded)?;
            if unneeded.is_empty() || !claimed.is_empty() {
                return Ok(claimed);
            }
        }
    }

    fn attempts(&self) -> i64 {
        self.attempts
    }

    fn lease(
        c: &mut SqlConnection,
        jobs: &[Self],
        request: &OwnedLeaseRequest,
    ) -> Result<Vec<RenditionJob>, SqlError> {
        mark_leased(c, jobs.iter().map(|job| job.id), request)?;
        let mut lengths = lengths(c, jobs)?;
        jobs.iter()
            .map(|job| {
                let reader = RowReader::new("rendition_jobs", &job.id);
                Ok(RenditionJob {
                    original: reader.hash("original", &job.original)?,
                    original_bytes: reader.required("original", lengths.remove(&job.original))?,
                    attempts: reader.unsigned("attempts", job.attempts.saturating_add(1))?,
                })
            })
            .collect()
    }
}

/// Removes jobs from the queue.
fn drop_jobs(c: &mut SqlConnection, jobs: &[RenditionJobRow]) -> Result<(), SqlError> {
    if !jobs.is_empty() {
        let ids = jobs.iter().map(|job| job.id);
        diesel::delete(rendition_jobs::table.filter(rendition_jobs::id.eq_any(ids))).execute(c)?;
    }
    Ok(())
}

/// Which originals have a live image of an account that is not deleted.
fn with_live_image(c: &mut SqlConnection, jobs: &[RenditionJobRow]) -> Result<HashSet<Vec<u8>>, SqlError> {
    if jobs.is_empty() {
        return Ok(HashSet::new());
    }
    let originals: Vec<Vec<u8>> = images::table
        .inner_join(accounts::table)
        .filter(images::original.eq_any(jobs.iter().map(|job| &job.original)))
        .filter(images::live.eq(true))
        .filter(accounts::deleted_at_ms.is_null())
        .select(images::original)
        .load(c)?;
    Ok(originals.into_iter().collect())
}

/// The lengths of the originals, read from their images in one query.
fn lengths(c: &mut SqlConnection, jobs: &[RenditionJobRow]) -> Result<HashMap<Vec<u8>, u64>, SqlError> {
    let rows: Vec<(i64, Vec<u8>, i64)> = images::table
        .filter(images::original.eq_any(jobs.iter().map(|job| &job.original)))
        .select((images::seq, images::original, images::original_bytes))
        .load(c)?;
    rows.into_iter()
        .map(|(seq, original, bytes)| {
            Ok((original, RowReader::new("images", &seq).unsigned("original_bytes", bytes)?))
        })
        .collect()
}

// A job exists if and only if its original `$1` has a live image and no rendition of the name `$2`. Exceptions: a job that
// cannot be done is dropped, and that of a deleted account is dropped when it is leased or its image is removed.

const DROP_UNNEEDED_JOB: &str = "
DELETE FROM rendition_jobs
WHERE original = $1 AND (
    EXISTS (SELECT 1 FROM renditions WHERE renditions.original = $1 AND renditions.name = $2)
    OR NOT EXISTS (
        SELECT 1 FROM images JOIN accounts ON accounts.id = images.account_id
        WHERE images.original = $1 AND images.live = TRUE AND accounts.deleted_at_ms IS NULL
    )
)";

const ADD_NEEDED_JOB: &str = "
INSERT INTO rendition_jobs (original)
SELECT $1
WHERE NOT EXISTS (SELECT 1 FROM renditions WHERE renditions.original = $1 AND renditions.name = $2)
    AND EXISTS (
        SELECT 1 FROM images JOIN accounts ON accounts.id = images.account_id
        WHERE images.original = $1 AND images.live = TRUE AND accounts.deleted_at_ms IS NULL
    )
ON CONFLICT DO NOTHING";

/// Removes the job of an original that has no live image any more, or has its full rendition.
pub(crate) fn drop_unneeded_job(c: &mut SqlConnection, original: &[u8]) -> Result<(), SqlError> {
    blob_registry::lock_original(c, original)?;
    statement(DROP_UNNEEDED_JOB)
        .bind::<Binary, _>(original)
        .bind::<Text, _>(Rendition::Full.name())
        .execute(c)?;
    Ok(())
}

/// Queues the full rendition of an original that has a live image, unless it exists or is queued.
fn add_needed_job(c: &mut SqlConnection, original: &[u8]) -> Result<(), SqlError> {
    statement(ADD_NEEDED_JOB)
        .bind::<Binary, _>(original)
        .bind::<Text, _>(Rendition::Full.name())
        .execute(c)?;
    Ok(())
}

/// Updates the queue for an original after its images or renditions changed.
pub(crate) fn update_job(c: &mut SqlConnection, original: &[u8]) -> Result<(), SqlError> {
    drop_unneeded_job(c, original)?;
    add_needed_job(c, original)
}

/// The originals of the images `$1`.
macro_rules! originals_of_images {
    () => {
        concat!(
            "SELECT i.original FROM ",
            integers!("$1"),
            " AS chosen ",
            join_after!("images", "i", "i.seq = chosen.value")
        )
    };
}

const DROP_UNNEEDED_JOBS: &str = concat!(
    "DELETE FROM rendition_jobs
    WHERE original IN (",
    originals_of_images!(),
    ") AND (
        EXISTS (
            SELECT 1 FROM renditions WHERE renditions.original = rendition_jobs.original AND renditions.name = $2
        )
        OR NOT EXISTS (
            SELECT 1 FROM images JOIN accounts ON accounts.id = images.account_id
            WHERE images.original = rendition_jobs.original AND images.live = TRUE AND accounts.deleted_at_ms IS NULL
        )
    )"
);

const ADD_NEEDED_JOBS: &str = concat!(
    "INSERT INTO rendition_jobs (original)
    SELECT made.original FROM (",
    originals_of_images!(),
    ") AS made
    WHERE NOT EXISTS (
            SELECT 1 FROM renditions WHERE renditions.original = made.original AND renditions.name = $2
        )
        AND EXISTS (
            SELECT 1 FROM images JOIN accounts ON accounts.id = images.account_id
            WHERE images.original = made.original AND images.live = TRUE AND accounts.deleted_at_ms IS NULL
        )
    ON CONFLICT DO NOTHING"
);

/// As [`drop_unneeded_job`], for the originals of these images.
pub(crate) fn drop_unneeded_jobs(c: &mut SqlConnection, images: &[i64]) -> Result<(), SqlError> {
    blob_registry::lock_originals_of(c, images)?;
    run_for_images(c, DROP_UNNEEDED_JOBS, images)
}

/// As [`update_job`], for the originals of these images.
pub(crate) fn update_jobs(c: &mut SqlConnection, images: &[i64]) -> Result<(), SqlError> {
    drop_unneeded_jobs(c, images)?;
    run_for_images(c, ADD_NEEDED_JOBS, images)
}

fn run_for_images(c: &mut SqlConnection, sql: &'static str, images: &[i64]) -> Result<(), SqlError> {
    statement(sql).bind::<Text, _>(json_array(images)).bind::<Text, _>(Rendition::Full.name()).execute(c)?;
    Ok(())
}
