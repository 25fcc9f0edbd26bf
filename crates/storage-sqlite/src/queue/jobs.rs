use diesel::{OptionalExtension, SqliteConnection, dsl::sql, prelude::*, sql_types::Bool};
use domain::Timestamp;
use storage::JobId;

use crate::{
    error::Failure,
    schema::{accounts, images, index_jobs},
};

/// Queues an image that waits; one that is queued stays as it is.
pub(super) fn enqueue(c: &mut SqliteConnection, seq: i64, not_before: Timestamp) -> Result<(), Failure> {
    diesel::insert_or_ignore_into(index_jobs::table)
        .values((index_jobs::image_seq.eq(seq), index_jobs::not_before_ms.eq(not_before.millis())))
        .execute(c)?;
    Ok(())
}

/// The image of a job that the worker holds.
pub(super) fn held_by(c: &mut SqliteConnection, job: JobId, worker: &str) -> Result<Option<i64>, Failure> {
    Ok(index_jobs::table
        .find(job.0)
        .filter(index_jobs::leased_by.eq(worker))
        .select(index_jobs::image_seq)
        .first(c)
        .optional()?)
}

pub(super) fn retry(
    c: &mut SqliteConnection,
    job: JobId,
    worker: &str,
    not_before: Timestamp,
) -> Result<(), Failure> {
    diesel::update(index_jobs::table.find(job.0))
        .filter(index_jobs::leased_by.eq(worker))
        .set((
            index_jobs::not_before_ms.eq(not_before.millis()),
            index_jobs::attempts.eq(index_jobs::attempts - 1),
            index_jobs::leased_by.eq(None::<String>),
            index_jobs::leased_until_ms.eq(None::<i64>),
        ))
        .execute(c)?;
    Ok(())
}

pub(super) fn fail(
    c: &mut SqliteConnection,
    job: JobId,
    worker: &str,
    reason: &str,
    decoder_version: u32,
) -> Result<(), Failure> {
    match held_by(c, job, worker)? {
        Some(seq) => fail_image(c, seq, reason, decoder_version),
        None => Ok(()),
    }
}

/// Ends the job of an image with a reason.
pub(super) fn fail_image(
    c: &mut SqliteConnection,
    seq: i64,
    reason: &str,
    decoder_version: u32,
) -> Result<(), Failure> {
    diesel::update(images::table.find(seq))
        .set((
            images::state.eq("failed"),
            images::failure.eq(reason),
            images::decoder_version.eq(i64::from(decoder_version)),
        ))
        .execute(c)?;
    diesel::delete(index_jobs::table.filter(index_jobs::image_seq.eq(seq))).execute(c)?;
    Ok(())
}

/// Makes a failed image wait again.
pub(super) fn requeue(c: &mut SqliteConnection, seq: i64, at: Timestamp) -> Result<(), Failure> {
    diesel::update(images::table.find(seq))
        .set((
            images::state.eq("pending"),
            images::failure.eq(None::<String>),
            images::decoder_version.eq(None::<i64>),
        ))
        .execute(c)?;
    enqueue(c, seq, at)
}

pub(super) fn requeue_failed(
    c: &mut SqliteConnection,
    decoder_version: u32,
    at: Timestamp,
) -> Result<u32, Failure> {
    // Written out, because a partial index is not found through a parameter; and put in order afterwards, because
    // a wanted order would make SQLite walk all images by row.
    let mut failed: Vec<i64> = images::table
        .inner_join(accounts::table)
        .filter(sql::<Bool>("images.state = 'failed'"))
        .filter(images::decoder_version.lt(i64::from(decoder_version)))
        .filter(images::deleted_at_ms.is_null())
        .filter(accounts::deleted_at_ms.is_null())
        .select(images::seq)
        .load(c)?;
    failed.sort_unstable();
    for seq in &failed {
        requeue(c, *seq, at)?;
    }
    Ok(u32::try_from(failed.len()).unwrap_or(u32::MAX))
}
