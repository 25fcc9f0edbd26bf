use std::collections::BTreeSet;

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Double, Nullable, Text},
};
use domain::{Circle, Limit};

use super::ResolvedFilter;
use crate::{
    SqlConnection,
    error::SqlError,
    place_index,
    sql::{statement, value::json_array},
};

/// Up to this many places in the bounding boxes are checked one by one. With more, the timeline, or what the camera took,
/// is scanned, which then soon reaches places in the circle.
const MAX_CANDIDATES: usize = 5000;

#[derive(QueryableByName)]
struct Seq {
    #[diesel(sql_type = BigInt)]
    seq: i64,
}

/// The rows of the newest images in a circle.
pub(crate) fn in_circle(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    circle: Circle,
    limit: Limit,
) -> Result<Vec<i64>, SqlError> {
    if let Some(album_seq) = filter.album_seq {
        return scan(c, SCAN_ALBUM, album_seq, filter, circle, limit);
    }
    let seqs = in_bounding_boxes(c, filter.account, circle, MAX_CANDIDATES)?;
    if seqs.len() <= MAX_CANDIDATES {
        filter_candidates(c, &seqs, filter, circle, limit)
    } else {
        let query = if filter.camera.is_some() { SCAN_CAMERA } else { SCAN_TIMELINE };
        scan(c, query, filter.account, filter, circle, limit)
    }
}

/// The account's places in the bounding boxes of the circle: all of them if there are at most `max`, otherwise more
/// than `max` of them.
pub(crate) fn in_bounding_boxes(
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

// The four queries below have the same conditions; they differ in where they get the images from. They compare
// latitudes first, because computing the distance is expensive.

const FILTER_CANDIDATES: &str = concat!(
    "SELECT i.seq FROM ",
    integers!("$1"),
    " AS candidate ",
    join_after!("images", "i", "i.seq = candidate.value"),
    "
WHERE i.account_id = $2 AND i.live = TRUE AND i.captured_at_ms BETWEEN $3 AND $4
    AND i.latitude BETWEEN $5 AND $6 AND distance_m($7, $8, i.latitude, i.longitude) <= $9
    AND ($10 IS NULL OR i.camera = $10)
ORDER BY i.captured_at_ms DESC LIMIT $11"
);

fn filter_candidates(
    c: &mut SqlConnection,
    seqs: &[i64],
    filter: &ResolvedFilter,
    circle: Circle,
    limit: Limit,
) -> Result<Vec<i64>, SqlError> {
    let (south, north) = latitudes(circle);
    let rows: Vec<Seq> = statement(FILTER_CANDIDATES)
        .bind::<Text, _>(json_array(seqs))
        .bind::<BigInt, _>(filter.account)
        .bind::<BigInt, _>(filter.start_ms)
        .bind::<BigInt, _>(filter.end_ms)
        .bind::<Double, _>(south)
        .bind::<Double, _>(north)
        .bind::<Double, _>(circle.centre().latitude())
        .bind::<Double, _>(circle.centre().longitude())
        .bind::<Double, _>(circle.radius_m())
        .bind::<Nullable<Text>, _>(filter.camera.as_deref())
        .bind::<BigInt, _>(i64::from(limit.get()))
        .load(c)?;
    Ok(rows.into_iter().map(|row| row.seq).collect())
}

const SCAN_TIMELINE: &str = concat!(
    "SELECT i.seq FROM images AS i ",
    by_index!("images_timeline"),
    "
WHERE i.account_id = $1 AND i.live = TRUE AND i.captured_at_ms BETWEEN $2 AND $3
    AND i.latitude BETWEEN $4 AND $5 AND distance_m($6, $7, i.latitude, i.longitude) <= $8
    AND ($9 IS NULL OR i.camera = $9)
ORDER BY i.captured_at_ms DESC LIMIT $10"
);

const SCAN_CAMERA: &str = concat!(
    "SELECT i.seq FROM images AS i ",
    by_index!("images_camera"),
    "
WHERE i.account_id = $1 AND i.live = TRUE AND i.captured_at_ms BETWEEN $2 AND $3
    AND i.latitude BETWEEN $4 AND $5 AND distance_m($6, $7, i.latitude, i.longitude) <= $8
    AND i.camera = $9
ORDER BY i.captured_at_ms DESC LIMIT $10"
);

const SCAN_ALBUM: &str = concat!(
    "SELECT i.seq
FROM album_images AS a ",
    by_index!("album_images_timeline"),
    " ",
    join_after!("images", "i", "i.seq = a.image_seq"),
    "
WHERE a.album_seq = $1 AND a.live = TRUE AND a.captured_at_ms BETWEEN $2 AND $3
    AND i.latitude BETWEEN $4 AND $5 AND distance_m($6, $7, i.latitude, i.longitude) <= $8
    AND ($9 IS NULL OR i.camera = $9)
ORDER BY a.captured_at_ms DESC LIMIT $10"
);

/// Scans the timeline of `owner`, an account or an album, or the images of the camera.
fn scan(
    c: &mut SqlConnection,
    query: &'static str,
    owner: i64,
    filter: &ResolvedFilter,
    circle: Circle,
    limit: Limit,
) -> Result<Vec<i64>, SqlError> {
    let (south, north) = latitudes(circle);
    let rows: Vec<Seq> = statement(query)
        .bind::<BigInt, _>(owner)
        .bind::<BigInt, _>(filter.start_ms)
        .bind::<BigInt, _>(filter.end_ms)
        .bind::<Double, _>(south)
        .bind::<Double, _>(north)
        .bind::<Double, _>(circle.centre().latitude())
        .bind::<Double, _>(circle.centre().longitude())
        .bind::<Double, _>(circle.radius_m())
        .bind::<Nullable<Text>, _>(filter.camera.as_deref())
        .bind::<BigInt, _>(i64::from(limit.get()))
        .load(c)?;
    Ok(rows.into_iter().map(|row| row.seq).collect())
}

/// The lowest and the highest latitude of the circle's bounding boxes.
pub(crate) fn latitudes(circle: Circle) -> (f64, f64) {
    circle
        .bounding_boxes()
        .iter()
        .fold((90.0_f64, -90.0_f64), |(south, north), area| (south.min(area.south), north.max(area.north)))
}
