use diesel::{
    OptionalExtension, QueryableByName, SqliteConnection,
    dsl::{max, min},
    prelude::*,
    sql_query,
    sql_types::BigInt,
};
use domain::Timestamp;

use crate::{error::SqliteError, schema::images};

#[derive(QueryableByName)]
struct CaptureTimeRow {
    #[diesel(sql_type = BigInt)]
    ms: i64,
}

/// The capture time that an image gets: the requested one, or else the first later one, to the millisecond, that
/// no other image of the account has, deleted ones included. Behind the last moment that can be with_hint it is the first
/// earlier one.
///
/// Of many images with one time each starts where the one before it ended, so that a burst costs no more than as
/// many single images. A time that a purged image left free within a burst stays free.
pub(super) fn free_capture_time(
    c: &mut SqliteConnection,
    account: i64,
    seq: i64,
    requested: Timestamp,
) -> Result<i64, SqliteError> {
    let requested_ms = requested.millis();
    let burst = || {
        images::table
            .filter(images::account_id.eq(account))
            .filter(images::requested_captured_at_ms.eq(requested_ms))
    };
    // One at a time: only an extreme that is asked for alone is read off the end of an index.
    let last: Option<i64> = burst().select(max(images::captured_at_ms)).get_result(c)?;
    let later = next_free(c, LATER, account, seq, last.map_or(requested_ms, |last| last.max(requested_ms)))?;
    if later <= Timestamp::MAX.millis() {
        return Ok(later);
    }
    let first: Option<i64> = burst().select(min(images::captured_at_ms)).get_result(c)?;
    next_free(c, EARLIER, account, seq, first.map_or(requested_ms, |first| first.min(requested_ms)))
}

const LATER: &str = "
SELECT a.captured_at_ms + 1 AS ms FROM images AS a
WHERE a.account_id = ?1 AND a.captured_at_ms >= ?2 AND NOT EXISTS (
    SELECT 1 FROM images AS b
    WHERE b.account_id = ?1 AND b.captured_at_ms = a.captured_at_ms + 1 AND b.seq <> ?3
)
ORDER BY a.captured_at_ms LIMIT 1";

const EARLIER: &str = "
SELECT a.captured_at_ms - 1 AS ms FROM images AS a
WHERE a.account_id = ?1 AND a.captured_at_ms <= ?2 AND NOT EXISTS (
    SELECT 1 FROM images AS b
    WHERE b.account_id = ?1 AND b.captured_at_ms = a.captured_at_ms - 1 AND b.seq <> ?3
)
ORDER BY a.captured_at_ms DESC LIMIT 1";

/// `from_ms` itself when it is free, else the end of the run of taken moments that it lies in. A moment that the
/// image itself has is free to it.
fn next_free(
    c: &mut SqliteConnection,
    query: &str,
    account: i64,
    seq: i64,
    from_ms: i64,
) -> Result<i64, SqliteError> {
    let taken = images::table
        .filter(images::account_id.eq(account))
        .filter(images::captured_at_ms.eq(from_ms))
        .filter(images::seq.ne(seq))
        .select(images::seq)
        .get_result::<i64>(c)
        .optional()?;
    if taken.is_none() {
        return Ok(from_ms);
    }
    let end: CaptureTimeRow = sql_query(query)
        .bind::<BigInt, _>(account)
        .bind::<BigInt, _>(from_ms)
        .bind::<BigInt, _>(seq)
        .get_result(c)?;
    Ok(end.ms)
}
