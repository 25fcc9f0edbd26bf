use diesel::{
    OptionalExtension,
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
};
use domain::Timestamp;
use storage::JobId;

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{accounts, images, index_jobs},
        statement,
        value::json_array,
    },
};

/// Queues a new image.
pub(super) fn enqueue(c: &mut SqlConnection, seq: i64, not_before: Timestamp) -> Result<(), SqlError> {
    diesel::insert_into(index_jobs::table)
        .values((index_jobs::image_seq.eq(seq), index_jobs::not_before_ms.eq(not_before.millis())))
        .execute(c)?;
    Ok(())
}

/// Queues a pending or ready image to be indexed with a new sidecar or after the loss of renditions.
///
/// A worker that is indexing the image does not know what changed. So its job is replaced by one with a new id, which the
/// same worker may lease next; the attempt does not count.
pub(crate) fn replace_job(c: &mut SqlConnection, seq: i64, at: Timestamp) -> Result<(), SqlError> {
    let mut attempts = 0;
    loop {
        let replaced: Option<(i64, Option<String>)> =
            diesel::delete(index_jobs::table.filter(index_jobs::image_seq.eq(seq)))
                .returning((index_jobs::attempts, index_jobs::leased_by))
                .get_result(c)
                .optional()?;
        if let Some((former, worker)) = replaced {
            attempts = former - i64::from(worker.is_some());
        }
        // From here on no worker can give the image up, because the image has no job.
        statement(RESET_TO_PENDING).bind::<Text, _>(json_array(&[seq])).execute(c)?;
        let state = images::table.find(seq).select(images::state).get_result::<String>(c).optional()?;
        let Some(state) = state else { return Ok(()) };
        let inserted = diesel::insert_into(index_jobs::table)
            .values((
                index_jobs::image_seq.eq(seq),
                index_jobs::priority.eq(i64::from(state != "pending")),
                index_jobs::attempts.eq(attempts),
                index_jobs::not_before_ms.eq(at.millis()),
            ))
            .on_conflict_do_nothing()
            .execute(c)?;
        // Otherwise another write has queued the image meanwhile, and the next iteration replaces that job.
        if inserted > 0 {
            return Ok(());
        }
    }
}

/// The account of a job, which never changes.
pub(super) fn account_of(c: &mut SqlConnection, job: JobId) -> Result<Option<i64>, SqlError> {
    Ok(images::table
        .inner_join(index_jobs::table)
        .filter(index_jobs::id.eq(job.0))
        .select(images::account_id)
        .get_result(c)
        .optional()?)
}

/// The image of a job, if the worker holds its lease. No other write leases or deletes the job until this one ends.
pub(super) fn lock_leased_image(
    c: &mut SqlConnection,
    job: JobId,
    worker: &str,
) -> Result<Option<i64>, SqlError> {
    let job =
        index_jobs::table.find(job.0).filter(index_jobs::leased_by.eq(worker)).select(index_jobs::image_seq);
    Ok(for_update!(job).get_result(c).optional()?)
}

pub(super) fn fail(
    c: &mut SqlConnection,
    job: JobId,
    worker: &str,
    reason: &str,
    decoder_version: u32,
) -> Result<(), SqlError> {
    match lock_leased_image(c, job, worker)? {
        Some(seq) => fail_image(c, seq, reason, decoder_version),
        None => Ok(()),
    }
}

/// Fails the job of an image. A pending image fails with the reason. A ready one stays unchanged, but is marked as
/// decoded by these decoders, so that it is not queued for them again.
pub(super) fn fail_image(
    c: &mut SqlConnection,
    seq: i64,
    reason: &str,
    decoder_version: u32,
) -> Result<(), SqlError> {
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

const RESET_TO_PENDING: &str = concat!(
    "UPDATE images SET state = 'pending', failure = NULL, decoder_version = NULL
    WHERE state = 'failed' AND seq IN (SELECT value FROM ",
    integers!("$1"),
    " AS queued)"
);

const ENQUEUE_ALL: &str = concat!(
    "INSERT INTO index_jobs (image_seq, not_before_ms)
    SELECT queued.value, $1 FROM ",
    integers!("$2"),
    " AS queued JOIN images ON images.seq = queued.value WHERE images.state = 'pending'
    ON CONFLICT DO NOTHING"
);

/// Queues failed images in this order.
pub(crate) fn requeue(c: &mut SqlConnection, seqs: &[i64], at: Timestamp) -> Result<(), SqlError> {
    let seqs = json_array(seqs);
    statement(RESET_TO_PENDING).bind::<Text, _>(&seqs).execute(c)?;
    statement(ENQUEUE_ALL).bind::<BigInt, _>(at.millis()).bind::<Text, _>(&seqs).execute(c)?;
    Ok(())
}

pub(super) fn requeue_failed(
    c: &mut SqlConnection,
    decoder_version: u32,
    at: Timestamp,
) -> Result<u32, SqlError> {
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

// Index and order of the join make the planner read the images from the end of their index: new images are viewed
// first.
const REQUEUE_OUTDATED: &str = concat!(
    "
INSERT INTO index_jobs (image_seq, priority, not_before_ms)
SELECT i.seq, 2, $1
FROM images AS i ",
    by_index!("images_read_by"),
    " ",
    join_after!("accounts", "accounts", "accounts.id = i.account_id"),
    "
WHERE i.state = 'ready' AND i.decoder_version < $2 AND i.deleted_at_ms IS NULL
    AND accounts.deleted_at_ms IS NULL
    AND NOT EXISTS (SELECT 1 FROM index_jobs WHERE index_jobs.image_seq = i.seq)
ORDER BY i.decoder_version DESC, i.seq DESC
LIMIT $3
ON CONFLICT DO NOTHING"
);

pub(super) fn requeue_outdated(
    c: &mut SqlConnection,
    decoder_version: u32,
    at: Timestamp,
    max: u32,
) -> Result<u32, SqlError> {
    let queued = statement(REQUEUE_OUTDATED)
        .bind::<BigInt, _>(at.millis())
        .bind::<BigInt, _>(i64::from(decoder_version))
        .bind::<BigInt, _>(i64::from(max))
        .execute(c)?;
    Ok(u32::try_from(queued).unwrap_or(u32::MAX))
}
