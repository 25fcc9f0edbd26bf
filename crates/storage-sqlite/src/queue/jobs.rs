use diesel::{
    OptionalExtension, SqliteConnection,
    dsl::sql,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Bool, Text},
};
use domain::Timestamp;
use storage::JobId;

use crate::{
    error::SqliteError,
    schema::{accounts, images, index_jobs},
    value::json_array,
};

/// Queues a new image.
pub(super) fn enqueue(c: &mut SqliteConnection, seq: i64, not_before: Timestamp) -> Result<(), SqliteError> {
    diesel::insert_into(index_jobs::table)
        .values((index_jobs::image_seq.eq(seq), index_jobs::not_before_ms.eq(not_before.millis())))
        .execute(c)?;
    Ok(())
}

// A worker that is indexing the image does not know what changed. So its job is replaced by one with a new id, which the
// same worker may lease next; the attempt does not count.
const REPLACE_JOB: &str = "
INSERT OR REPLACE INTO index_jobs (image_seq, priority, attempts, not_before_ms)
SELECT i.seq, i.state <> 'pending', coalesce(j.attempts - (j.leased_by IS NOT NULL), 0), ?2
FROM images AS i LEFT JOIN index_jobs AS j ON j.image_seq = i.seq
WHERE i.seq = ?1";

/// Queues a pending or ready image to be indexed with a new sidecar or after the loss of renditions.
pub(crate) fn replace_job(c: &mut SqliteConnection, seq: i64, at: Timestamp) -> Result<(), SqliteError> {
    sql_query(REPLACE_JOB).bind::<BigInt, _>(seq).bind::<BigInt, _>(at.millis()).execute(c)?;
    Ok(())
}

/// The image of a job, if the worker holds its lease.
pub(super) fn leased_image(
    c: &mut SqliteConnection,
    job: JobId,
    worker: &str,
) -> Result<Option<i64>, SqliteError> {
    Ok(index_jobs::table
        .find(job.0)
        .filter(index_jobs::leased_by.eq(worker))
        .select(index_jobs::image_seq)
        .get_result(c)
        .optional()?)
}

pub(super) fn fail(
    c: &mut SqliteConnection,
    job: JobId,
    worker: &str,
    reason: &str,
    decoder_version: u32,
) -> Result<(), SqliteError> {
    match leased_image(c, job, worker)? {
        Some(seq) => fail_image(c, seq, reason, decoder_version),
        None => Ok(()),
    }
}

/// Fails the job of an image. A pending image fails with the reason. A ready one stays unchanged, but is marked as
/// decoded by these decoders, so that it is not queued for them again.
pub(super) fn fail_image(
    c: &mut SqliteConnection,
    seq: i64,
    reason: &str,
    decoder_version: u32,
) -> Result<(), SqliteError> {
    let version = i64::from(decoder_version);
    let image = || images::table.find(seq);
    diesel::update(image().filter(images::state.eq("pending")))
        .set((images::state.eq("failed"), images::failure.eq(reason), images::decoder_version.eq(version)))
        .execute(c)?;
    diesel::update(image().filter(images::state.eq("ready")).filter(images::decoder_version.lt(version)))
        .set(images::decoder_version.eq(version))
        .execute(c)?;
    diesel::delete(index_jobs::table.filter(index_jobs::image_seq.eq(seq))).execute(c)?;
    Ok(())
}

const RESET_TO_PENDING: &str = "
UPDATE images SET state = 'pending', failure = NULL, decoder_version = NULL
WHERE seq IN (SELECT value FROM json_each(?))";

const ENQUEUE_ALL: &str = "
INSERT INTO index_jobs (image_seq, not_before_ms) SELECT value, ? FROM json_each(?)";

/// Queues failed images in this order.
pub(super) fn requeue(c: &mut SqliteConnection, seqs: &[i64], at: Timestamp) -> Result<(), SqliteError> {
    let seqs = json_array(seqs);
    sql_query(RESET_TO_PENDING).bind::<Text, _>(&seqs).execute(c)?;
    sql_query(ENQUEUE_ALL).bind::<BigInt, _>(at.millis()).bind::<Text, _>(&seqs).execute(c)?;
    Ok(())
}

pub(super) fn requeue_failed(
    c: &mut SqliteConnection,
    decoder_version: u32,
    at: Timestamp,
) -> Result<u32, SqliteError> {
    // A literal, because SQLite does not match a partial index with a parameter. Sorted afterwards, because with an
    // ORDER BY SQLite would scan all images by row.
    let mut failed: Vec<i64> = images::table
        .inner_join(accounts::table)
        .filter(sql::<Bool>("images.state = 'failed'"))
        .filter(images::decoder_version.lt(i64::from(decoder_version)))
        .filter(images::deleted_at_ms.is_null())
        .filter(accounts::deleted_at_ms.is_null())
        .select(images::seq)
        .load(c)?;
    failed.sort_unstable();
    requeue(c, &failed, at)?;
    Ok(u32::try_from(failed.len()).unwrap_or(u32::MAX))
}

/// The priority of ready images that are queued for newer decoders.
pub(super) const FOR_NEWER_DECODERS: i64 = 2;

// CROSS JOIN and INDEXED BY make the planner read the images from the end of their index: new images are viewed
// first.
const REQUEUE_OUTDATED: &str = "
INSERT INTO index_jobs (image_seq, priority, not_before_ms)
SELECT i.seq, 2, ?1
FROM images AS i INDEXED BY images_read_by CROSS JOIN accounts ON accounts.id = i.account_id
WHERE i.state = 'ready' AND i.decoder_version < ?2 AND i.deleted_at_ms IS NULL
    AND accounts.deleted_at_ms IS NULL
    AND NOT EXISTS (SELECT 1 FROM index_jobs WHERE index_jobs.image_seq = i.seq)
ORDER BY i.decoder_version DESC, i.seq DESC
LIMIT ?3";

pub(super) fn requeue_outdated(
    c: &mut SqliteConnection,
    decoder_version: u32,
    at: Timestamp,
    max: u32,
) -> Result<u32, SqliteError> {
    let queued = sql_query(REQUEUE_OUTDATED)
        .bind::<BigInt, _>(at.millis())
        .bind::<BigInt, _>(i64::from(decoder_version))
        .bind::<BigInt, _>(i64::from(max))
        .execute(c)?;
    Ok(u32::try_from(queued).unwrap_or(u32::MAX))
}
