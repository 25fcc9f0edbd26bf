//! Images in a circle.

use std::collections::BTreeSet;

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};
use domain::{Circle, Limit};

use super::ResolvedFilter;
use crate::{
    SqlConnection,
    error::SqlError,
    place_index,
    sql::{statement, value::json_array},
};

/// Maximum number of places in the bounding boxes that are checked one by one. If there are more, the timeline or the
/// images of the camera are scanned instead, because such a scan soon reaches places in the circle.
const MAX_CANDIDATES: usize = 5000;

#[derive(QueryableByName)]
struct Seq {
    #[diesel(sql_type = BigInt)]
    seq: i64,
}

const NEWEST: &str = " ORDER BY images.captured_at_ms DESC LIMIT ";

const AMONG: &str = concat!(
    "SELECT images.seq AS seq FROM ",
    integers!("$1"),
    " AS candidate ",
    join_after!("images", "images", "images.seq = candidate.value"),
    " WHERE "
);

const IN_TIMELINE: &str =
    concat!("SELECT images.seq AS seq FROM images ", by_index!("images_timeline"), " WHERE ");

const OF_CAMERA: &str =
    concat!("SELECT images.seq AS seq FROM images ", by_index!("images_camera"), " WHERE ");

const IN_ALBUM: &str = concat!(
    "SELECT images.seq AS seq FROM album_images AS a ",
    by_index!("album_images_timeline"),
    " ",
    join_after!("images", "images", "images.seq = a.image_seq"),
    " WHERE a.album_seq = $1 AND a.live = TRUE AND a.captured_at_ms BETWEEN $2 AND $3 AND "
);

/// The rows of the newest images that pass a filter with a circle.
pub(super) fn newest_in_circle(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    circle: Circle,
    limit: Limit,
) -> Result<Vec<i64>, SqlError> {
    let limit = i64::from(limit.get());
    let rows: Vec<Seq> = if let Some(album_seq) = filter.album_seq {
        statement(IN_ALBUM)
            .bind::<BigInt, _>(album_seq)
            .bind::<BigInt, _>(filter.start_ms)
            .bind::<BigInt, _>(filter.end_ms)
            .then(filter.conditions_within_album_range())
            .then_sql(" ORDER BY a.captured_at_ms DESC LIMIT ")
            .then_value::<BigInt, _>(limit)
            .load(c)?
    } else {
        let candidates = in_bounding_boxes(c, filter.account, circle, MAX_CANDIDATES)?;
        if candidates.len() <= MAX_CANDIDATES {
            statement(AMONG)
                .bind::<Text, _>(json_array(&candidates))
                .then(filter.conditions())
                .then_sql(NEWEST)
                .then_value::<BigInt, _>(limit)
                .load(c)?
        } else {
            statement(if filter.camera.is_some() { OF_CAMERA } else { IN_TIMELINE })
                .then(filter.conditions())
                .then_sql(NEWEST)
                .then_value::<BigInt, _>(limit)
                .load(c)?
        }
    };
    Ok(rows.into_iter().map(|row| row.seq).collect())
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
