use std::collections::HashMap;

use diesel::{SqliteConnection, prelude::*};
use domain::{ImageId, Timestamp};
use storage::{Job, JobId, KnownPicture, LeaseRequest, Sidecar};

use super::{jobs::fail_image, sidecars};
use crate::{
    error::Failure,
    schema::{images, index_jobs},
    value::{LEASE_BATCH, RowName},
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

/// The first jobs, in the order of the queue, that may be leased at that moment.
fn free(c: &mut SqliteConnection, at: Timestamp, max: u32) -> Result<Vec<FreeJob>, Failure> {
    let unleased = index_jobs::leased_until_ms.is_null().or(index_jobs::leased_until_ms.lt(at.millis()));
    Ok(index_jobs::table
        .filter(index_jobs::not_before_ms.le(at.millis()))
        .filter(unleased)
        .order((index_jobs::priority, index_jobs::id))
        .limit(i64::from(max))
        .select(FreeJob::as_select())
        .load(c)?)
}

pub(super) fn any_free(c: &mut SqliteConnection, at: Timestamp) -> Result<bool, Failure> {
    Ok(!free(c, at, 1)?.is_empty())
}

/// Leases jobs, and fails those that were leased too often.
pub(super) fn lease(c: &mut SqliteConnection, request: &Request) -> Result<Vec<Job>, Failure> {
    let mut leased = Vec::new();
    loop {
        let wanted = request.max.saturating_sub(u32::try_from(leased.len()).unwrap_or(u32::MAX));
        let batch = free(c, request.at, wanted.min(LEASE_BATCH))?;
        if batch.is_empty() {
            return Ok(leased);
        }
        let (given_up, taken): (Vec<FreeJob>, Vec<FreeJob>) =
            batch.into_iter().partition(|job| job.attempts >= i64::from(request.max_attempts));
        for job in given_up {
            let reason = format!("indexing was started {} times and never came to an end", job.attempts);
            fail_image(c, job.image_seq, &reason, request.decoder_version)?;
        }
        leased.extend(take(c, &taken, request)?);
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(diesel::sqlite::Sqlite))]
struct ImageToIndex {
    seq: i64,
    id: String,
    state: String,
    original: Vec<u8>,
    original_bytes: i64,
    file_name: Option<String>,
    modified_at_ms: Option<i64>,
    added_at_ms: i64,
    width: Option<i64>,
    height: Option<i64>,
    ocr_text: Option<String>,
    damaged: Option<String>,
    decoder_version: Option<i64>,
}

fn take(c: &mut SqliteConnection, jobs: &[FreeJob], request: &Request) -> Result<Vec<Job>, Failure> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    diesel::update(index_jobs::table.filter(index_jobs::id.eq_any(jobs.iter().map(|job| job.id))))
        .set((
            index_jobs::attempts.eq(index_jobs::attempts + 1),
            index_jobs::leased_by.eq(&request.worker),
            index_jobs::leased_until_ms.eq(request.until.millis()),
        ))
        .execute(c)?;
    let seqs: Vec<i64> = jobs.iter().map(|job| job.image_seq).collect();
    let rows: Vec<ImageToIndex> = images::table
        .filter(images::seq.eq_any(seqs.iter().copied()))
        .select(ImageToIndex::as_select())
        .load(c)?;
    let mut images: HashMap<i64, ImageToIndex> = rows.into_iter().map(|row| (row.seq, row)).collect();
    let mut sidecars = sidecars::of(c, &seqs)?;
    jobs.iter()
        .map(|job| {
            let name = RowName::new("index_jobs", &job.id);
            let image = name.some("image_seq", images.remove(&job.image_seq))?;
            described(job, image, sidecars.remove(&job.image_seq).unwrap_or_default())
        })
        .collect()
}

/// A job that was just leased, as its worker sees it.
fn described(job: &FreeJob, image: ImageToIndex, sidecars: Vec<Sidecar>) -> Result<Job, Failure> {
    let name = RowName::new("images", &job.image_seq);
    Ok(Job {
        id: JobId(job.id),
        picture: picture(&image)?,
        image: name.some("id", ImageId::parse(image.id))?,
        original: name.hash("original", &image.original)?,
        original_bytes: name.unsigned("original_bytes", image.original_bytes)?,
        file_name: image.file_name,
        modified_at: name.optional_timestamp("modified_at_ms", image.modified_at_ms)?,
        added_at: name.timestamp("added_at_ms", image.added_at_ms)?,
        sidecars,
        attempts: RowName::new("index_jobs", &job.id).unsigned("attempts", job.attempts.saturating_add(1))?,
    })
}

fn picture(image: &ImageToIndex) -> Result<Option<KnownPicture>, Failure> {
    if image.state != "ready" {
        return Ok(None);
    }
    let name = RowName::new("images", &image.seq);
    let version = name.some("decoder_version", image.decoder_version)?;
    Ok(Some(KnownPicture {
        size: name.size(name.some("width", image.width)?, name.some("height", image.height)?)?,
        text: image.ocr_text.clone(),
        damaged: image.damaged.clone(),
        decoder_version: name.unsigned("decoder_version", version)?,
    }))
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
