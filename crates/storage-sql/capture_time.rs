use diesel::{
    OptionalExtension, QueryableByName,
    dsl::{max, min},
    prelude::*,
    sql_types::BigInt,
};
use domain::Timestamp;

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{schema::images, statement},
};

#[derive(QueryableByName)]
struct CaptureTimeRow {
    #[diesel(sql_type = BigInt)]
    ms: i64,
}

/// A unique capture time for an image: the requested one, or the first later millisecond that no other image of the
/// account has, deleted images included. If none is left before the end of year 9999, the first earlier one.
///
/// Within a burst of images with the same requested time, the search starts at the last time of the burst, so that a
/// burst costs no more than as many single images. A time within the burst that a purged image left stays unused.
pub(crate) fn free_capture_time(
    c: &mut SqlConnection,
    account: i64,
    seq: i64,
    requested: Timestamp,
) -> Result<i64, SqlError> {
    let requested_ms = requested.millis();
    let burst = || {
        images::table
            .filter(images::account_id.eq(account))
            .filter(images::requested_captured_at_ms.eq(requested_ms))
    };
    // One query each for maximum and minimum: only a query for one of them reads just the end of an index.
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
WHERE a.account_id = $1 AND a.captured_at_ms >= $2 AND NOT EXISTS (
    SELECT 1 FROM images AS b
    WHERE b.account_id = $1 AND b.captured_at_ms = a.captured_at_ms + 1 AND b.seq <> $3
)
ORDER BY a.captured_at_ms LIMIT 1";

const EARLIER: &str = "
SELECT a.captured_at_ms - 1 AS ms FROM images AS a
WHERE a.account_id = $1 AND a.captured_at_ms <= $2 AND NOT EXISTS (
    SELECT 1 FROM images AS b
    WHERE b.account_id = $1 AND b.captured_at_ms = a.captured_at_ms - 1 AND b.seq <> $3
)
ORDER BY a.captured_at_ms DESC LIMIT 1";

/// `from_ms` if it is unused, otherwise the first unused millisecond next to the run of used ones around it. The
/// image's own current time counts as unused.
fn next_free(
    c: &mut SqlConnection,
    query: &'static str,
    account: i64,
    seq: i64,
    from_ms: i64,
) -> Result<i64, SqlError> {
    if is_free(c, account, seq, from_ms)? {
        return Ok(from_ms);
    }
    let end: CaptureTimeRow = statement(query)
        .bind::<BigInt, _>(account)
        .bind::<BigInt, _>(from_ms)
        .bind::<BigInt, _>(seq)
        .get_result(c)?;
    Ok(end.ms)
}

/// Whether no other image of the account has this capture time.
pub(crate) fn is_free(
    c: &mut SqlConnection,
    account: i64,
    seq: i64,
    captured_at_ms: i64,
) -> Result<bool, SqlError> {
    let taken = images::table
        .filter(images::account_id.eq(account))
        .filter(images::captured_at_ms.eq(captured_at_ms))
        .filter(images::seq.ne(seq))
        .select(images::seq)
        .get_result::<i64>(c)
        .optional()?;
    Ok(taken.is_none())
}
