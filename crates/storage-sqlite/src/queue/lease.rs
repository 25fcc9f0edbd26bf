use diesel::{SqliteConnection, prelude::*};
use domain::{ImageId, Timestamp};
use storage::{Job, JobId, LeaseRequest};

use super::jobs::fail_image;
use crate::{
    error::Failure,
    schema::{images, index_jobs},
    value::RowName,
};

/// A worker's request that can move to another thread.
pub(super) struct Request {
    worker: String,
    pub(super) at: Timestamp,
    until: Timestamp,
    max: u32,
    max_attempts: u32,
    decoder_version: u32,
}

impl From<LeaseRequest<'_>> for Request {
    fn from(request: LeaseRequest<'_>) -> Self {
        Self {
            worker: request.worker.to_owned(),
            at: request.at,
            until: request.until,
            max: request.max,
            max_attempts: request.max_attempts,
            decoder_version: request.decoder_version,
        }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = index_jobs, check_for_backend(diesel::sqlite::Sqlite))]
struct FreeJob {
    id: i64,
    image_seq: i64,
    attempts: i64,
}

/// The first jobs, oldest first, that may be leased at that moment.
fn free(c: &mut SqliteConnection, at: Timestamp, max: u32) -> Result<Vec<FreeJob>, Failure> {
    let unleased = index_jobs::leased_until_ms.is_null().or(index_jobs::leased_until_ms.lt(at.millis()));
    Ok(index_jobs::table
        .filter(index_jobs::not_before_ms.le(at.millis()))
        .filter(unleased)
        .order(index_jobs::id)
        .limit(i64::from(max))
        .select(FreeJob::as_select())
        .load(c)?)
}

pub(super) fn any_free(c: &mut SqliteConnection, at: Timestamp) -> Result<bool, Failure> {
    Ok(!free(c, at, 1)?.is_empty())
}

/// Leases jobs, and fails those that were leased too often.
pub(super) fn lease(c: &mut SqliteConnection, request: &Request) -> Result<Vec<Job>, Failure> {
    let max = usize::try_from(request.max).unwrap_or(usize::MAX);
    let mut leased = Vec::new();
    while leased.len() < max {
        let wanted = u32::try_from(max - leased.len()).unwrap_or(u32::MAX);
        let batch = free(c, request.at, wanted)?;
        if batch.is_empty() {
            break;
        }
        for job in batch {
            if job.attempts >= i64::from(request.max_attempts) {
                let reason = format!("indexing was started {} times and never came to an end", job.attempts);
                fail_image(c, job.image_seq, &reason, request.decoder_version)?;
            } else {
                leased.push(take(c, &job, request)?);
            }
        }
    }
    Ok(leased)
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(diesel::sqlite::Sqlite))]
struct ImageToIndex {
    id: String,
    original: Vec<u8>,
    original_bytes: i64,
    file_name: Option<String>,
    modified_at_ms: Option<i64>,
    added_at_ms: i64,
}

fn take(c: &mut SqliteConnection, job: &FreeJob, request: &Request) -> Result<Job, Failure> {
    let attempts = job.attempts.saturating_add(1);
    diesel::update(index_jobs::table.find(job.id))
        .set((
            index_jobs::attempts.eq(attempts),
            index_jobs::leased_by.eq(&request.worker),
            index_jobs::leased_until_ms.eq(request.until.millis()),
        ))
        .execute(c)?;
    let image: ImageToIndex = images::table.find(job.image_seq).select(ImageToIndex::as_select()).first(c)?;
    let name = RowName::new("images", &job.image_seq);
    Ok(Job {
        id: JobId(job.id),
        image: name.some("id", ImageId::parse(image.id))?,
        original: name.hash("original", &image.original)?,
        original_bytes: name.unsigned("original_bytes", image.original_bytes)?,
        file_name: image.file_name,
        modified_at: name.optional_timestamp("modified_at_ms", image.modified_at_ms)?,
        added_at: name.timestamp("added_at_ms", image.added_at_ms)?,
        attempts: RowName::new("index_jobs", &job.id).unsigned("attempts", attempts)?,
    })
}

pub(super) fn renew(
    c: &mut SqliteConnection,
    worker: &str,
    jobs: Vec<i64>,
    until: Timestamp,
) -> Result<(), Failure> {
    let held = index_jobs::leased_by.eq(worker).and(index_jobs::id.eq_any(jobs));
    diesel::update(index_jobs::table.filter(held))
        .set(index_jobs::leased_until_ms.eq(until.millis()))
        .execute(c)?;
    Ok(())
}

/// Gives jobs back as if they had not been leased.
pub(super) fn release(c: &mut SqliteConnection, worker: &str) -> Result<(), Failure> {
    diesel::update(index_jobs::table.filter(index_jobs::leased_by.eq(worker)))
        .set((
            index_jobs::attempts.eq(index_jobs::attempts - 1),
            index_jobs::leased_by.eq(None::<String>),
            index_jobs::leased_until_ms.eq(None::<i64>),
        ))
        .execute(c)?;
    Ok(())
}

/// Gives all jobs back. Their attempts count: one of them may be what killed its worker.
pub(super) fn release_all(c: &mut SqliteConnection) -> Result<(), Failure> {
    diesel::update(index_jobs::table.filter(index_jobs::leased_by.is_not_null()))
        .set((index_jobs::leased_by.eq(None::<String>), index_jobs::leased_until_ms.eq(None::<i64>)))
        .execute(c)?;
    Ok(())
}
