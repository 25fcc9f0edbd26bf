//! Marks images as deleted, and restores them, in all tables.

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
};
use domain::Timestamp;

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        account_rows::adjust_live_images,
        map, months, rendition_queue,
        schema::{files, images},
        statement,
        text::{add_text, remove_text},
        value::json_array,
    },
};

/// Deletes an image, indexed or not, if no file has it any more. An image that is already deleted stays as it is.
pub(crate) fn delete_without_files(c: &mut SqlConnection, seq: i64, at: Timestamp) -> Result<(), SqlError> {
    let file = files::table.filter(files::image_seq.eq(seq)).select(files::id).first::<i64>(c).optional()?;
    if file.is_none() {
        let account = images::table.find(seq).select(images::account_id).get_result(c)?;
        mark_deleted(c, account, &[seq], at, true)?;
    }
    Ok(())
}

const DELETE: &str = concat!(
    "UPDATE images SET deleted_at_ms = $1, deleted_with_files = $2
    WHERE deleted_at_ms IS NULL AND seq IN (SELECT value FROM ",
    integers!("$3"),
    " AS chosen)"
);

/// Deletes images of an account, indexed or not. Returns how many it deleted; those deleted before do not count.
pub(crate) fn mark_deleted(
    c: &mut SqlConnection,
    account: i64,
    seqs: &[i64],
    at: Timestamp,
    with_files: bool,
) -> Result<u32, SqlError> {
    if seqs.is_empty() {
        return Ok(0);
    }
    let live = live_among(c, seqs)?;
    let deleted = statement(DELETE)
        .bind::<BigInt, _>(at.millis())
        .bind::<Bool, _>(with_files)
        .bind::<Text, _>(json_array(seqs))
        .execute(c)?;
    if !live.is_empty() {
        // In the index, a deleted image would displace hits of others, and its words would stay in the vocabulary.
        remove_text(c, &live)?;
        live.iter().try_for_each(|seq| map::update(c, *seq))?;
        set_live_in_copies(c, &live, false)?;
        months::remove(c, &live)?;
        adjust_live_images(c, account, -len(&live))?;
        rendition_queue::drop_unneeded_jobs(c, &live)?;
    }
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}

#[derive(QueryableByName)]
struct Seq {
    #[diesel(sql_type = BigInt)]
    seq: i64,
}

const LIVE_AMONG: &str = concat!(
    "SELECT i.seq AS seq FROM ",
    integers!("$1"),
    " AS chosen ",
    join_after!("images", "i", "i.seq = chosen.value"),
    " WHERE i.live = TRUE"
);

fn live_among(c: &mut SqlConnection, seqs: &[i64]) -> Result<Vec<i64>, SqlError> {
    let live: Vec<Seq> = statement(LIVE_AMONG).bind::<Text, _>(json_array(seqs)).load(c)?;
    Ok(live.into_iter().map(|row| row.seq).collect())
}

fn len(seqs: &[i64]) -> i64 {
    i64::try_from(seqs.len()).unwrap_or(i64::MAX)
}

const RESTORE: &str = concat!(
    "UPDATE images SET deleted_at_ms = NULL, deleted_with_files = FALSE
    WHERE deleted_at_ms IS NOT NULL AND seq IN (SELECT value FROM ",
    integers!("$1"),
    " AS chosen)"
);

/// Restores images of an account in all tables; returns their number. All of them must be deleted.
pub(crate) fn undelete(c: &mut SqlConnection, account: i64, seqs: &[i64]) -> Result<u32, SqlError> {
    if seqs.is_empty() {
        return Ok(0);
    }
    let restored = statement(RESTORE).bind::<Text, _>(json_array(seqs)).execute(c)?;
    let live = live_among(c, seqs)?;
    if !live.is_empty() {
        add_text(c, &live)?;
        live.iter().try_for_each(|seq| map::update(c, *seq))?;
        set_live_in_copies(c, &live, true)?;
        months::add(c, &live)?;
        adjust_live_images(c, account, len(&live))?;
        rendition_queue::update_jobs(c, &live)?;
    }
    Ok(u32::try_from(restored).unwrap_or(u32::MAX))
}

macro_rules! set_live {
    ($table:literal) => {
        concat!(
            "UPDATE ",
            $table,
            " SET live = $1 WHERE image_seq IN (SELECT value FROM ",
            integers!("$2"),
            " AS chosen)"
        )
    };
}

fn set_live_in_copies(c: &mut SqlConnection, seqs: &[i64], live: bool) -> Result<(), SqlError> {
    for table in [set_live!("album_images"), set_live!("image_facets")] {
        statement(table).bind::<Bool, _>(live).bind::<Text, _>(json_array(seqs)).execute(c)?;
    }
    Ok(())
}
