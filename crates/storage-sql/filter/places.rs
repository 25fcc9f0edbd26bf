//! Images in a circle.

use std::collections::BTreeSet;

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};
use domain::{Circle, Limit};

use super::{ResolvedFilter, newest::newest_seqs};
use crate::{
    SqlConnection,
    error::SqlError,
    place_index,
    sql::{statement, value::json_array},
};

/// Maximum number of places in the bounding boxes that are checked one by one. If there are more, the lists of the filter are
/// scanned instead, because such a scan soon reaches places in the circle.
const MAX_CANDIDATES: usize = 5000;

#[derive(QueryableByName)]
struct Seq {
    #[diesel(sql_type = BigInt)]
    seq: i64,
}

const AMONG: &str = concat!(
    "SELECT images.seq AS seq FROM ",
    integers!("$1"),
    " AS candidate ",
    join_after!("images", "images", "images.seq = candidate.value"),
    " WHERE "
);

/// The rows of the newest images that pass a filter with a circle.
pub(super) fn newest_in_circle(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    circle: Circle,
    limit: Limit,
) -> Result<Vec<i64>, SqlError> {
    let limit = i64::from(limit.get());
    if filter.album_seq.is_none() {
        let candidates = in_bounding_boxes(c, filter.account, circle, MAX_CANDIDATES)?;
        if candidates.len() <= MAX_CANDIDATES {
            let rows: Vec<Seq> = statement(AMONG)
                .bind::<Text, _>(json_array(&candidates))
                .then(filter.conditions())
                .then_sql(" ORDER BY images.captured_at_ms DESC LIMIT ")
                .then_value::<BigInt, _>(limit)
                .load(c)?;
            return Ok(rows.into_iter().map(|row| row.seq).collect());
        }
    }
    newest_seqs(c, filter, limit)
}

/// The account's places in the bounding boxes of the circle: all of them if there are at most `max`, otherwise more
/// than `max` of them.
pub(super) fn in_bounding_boxes(
    c: &mut SqlConnection,
    account: i64,
    circle: Circle,
    max: usize,
) -> Result<Vec<i64>, SqlError> {
    let limit = i64::try_from(max).unwrap_or(i64::MAX).saturating_add(1);
    let mut seqs = BTreeSet::new();
    for area in circle.bounding_boxes() {
        seqs.extend(place_index::in_box(c, account, area, limit)?);
        if seqs.len() > max {
            break;
        }
    }
    Ok(seqs.into_iter().collect())
}
