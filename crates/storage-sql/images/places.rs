use std::collections::BTreeSet;

use diesel::{
    QueryableByName,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Double, Text},
};
use domain::{Circle, LatLonBox, Limit, Position};

use super::filter::ResolvedFilter;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{schema::image_places, value::json_array},
};

/// Up to this many places in the bounding boxes are checked one by one. With more, the timeline is scanned, which
/// then soon reaches places in the circle.
const MAX_CANDIDATES: usize = 5000;

#[derive(QueryableByName)]
struct Seq {
    #[diesel(sql_type = BigInt)]
    seq: i64,
}

/// Adds an image to the place index.
pub(crate) fn add_place(
    c: &mut SqlConnection,
    seq: i64,
    account: i64,
    position: Position,
) -> Result<(), SqlError> {
    let account = account_coordinate(account)?;
    diesel::insert_into(image_places::table)
        .values((
            image_places::seq.eq(seq),
            image_places::min_latitude.eq(position.latitude()),
            image_places::max_latitude.eq(position.latitude()),
            image_places::min_longitude.eq(position.longitude()),
            image_places::max_longitude.eq(position.longitude()),
            image_places::min_account.eq(account),
            image_places::max_account.eq(account),
        ))
        .execute(c)?;
    Ok(())
}

/// Removes an image from the place index.
pub(crate) fn remove_place(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    diesel::delete(image_places::table.find(seq)).execute(c)?;
    Ok(())
}

/// The place index rounds to 32-bit floats, which represent integers below 2^24 exactly.
fn account_coordinate(account: i64) -> Result<f64, SqlError> {
    i32::try_from(account).ok().filter(|account| (0..1 << 24).contains(account)).map(f64::from).ok_or_else(
        || SqlError::Refused(format!("account id {account} exceeds the range of the place index")),
    )
}

/// The rows of the newest images in a circle.
pub(super) fn in_circle(
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
        scan(c, SCAN_TIMELINE, filter.account, filter, circle, limit)
    }
}

/// The account's places in the bounding boxes of the circle: all of them if there are at most `max`, otherwise more
/// than `max` of them.
pub(super) fn in_bounding_boxes(
    c: &mut SqlConnection,
    account: i64,
    circle: Circle,
    max: usize,
) -> Result<Vec<i64>, SqlError> {
    let mut seqs = BTreeSet::new();
    for area in circle.bounding_boxes() {
        seqs.extend(in_box(c, account, area, max)?);
        if seqs.len() > max {
            break;
        }
    }
    Ok(seqs.into_iter().collect())
}

fn in_box(c: &mut SqlConnection, account: i64, area: LatLonBox, max: usize) -> Result<Vec<i64>, SqlError> {
    let account = account_coordinate(account)?;
    let limit = i64::try_from(max).unwrap_or(i64::MAX).saturating_add(1);
    Ok(image_places::table
        .filter(image_places::min_account.le(account))
        .filter(image_places::max_account.ge(account))
        .filter(image_places::min_latitude.le(area.north))
        .filter(image_places::max_latitude.ge(area.south))
        .filter(image_places::min_longitude.le(area.east))
        .filter(image_places::max_longitude.ge(area.west))
        .limit(limit)
        .select(image_places::seq)
        .load(c)?)
}

// The three queries below have the same conditions; they differ in where they get the images from. They compare
// latitudes first, because computing the distance is expensive.

const FILTER_CANDIDATES: &str = "
SELECT i.seq FROM json_each(?) AS candidate CROSS JOIN images AS i ON i.seq = candidate.value
WHERE i.account_id = ? AND i.live = 1 AND i.captured_at_ms BETWEEN ? AND ?
    AND i.latitude BETWEEN ? AND ? AND distance_m(?, ?, i.latitude, i.longitude) <= ?
ORDER BY i.captured_at_ms DESC LIMIT ?";

fn filter_candidates(
    c: &mut SqlConnection,
    seqs: &[i64],
    filter: &ResolvedFilter,
    circle: Circle,
    limit: Limit,
) -> Result<Vec<i64>, SqlError> {
    let (south, north) = latitudes(circle);
    let rows: Vec<Seq> = sql_query(FILTER_CANDIDATES)
        .bind::<Text, _>(json_array(seqs))
        .bind::<BigInt, _>(filter.account)
        .bind::<BigInt, _>(filter.start_ms)
        .bind::<BigInt, _>(filter.end_ms)
        .bind::<Double, _>(south)
        .bind::<Double, _>(north)
        .bind::<Double, _>(circle.centre().latitude())
        .bind::<Double, _>(circle.centre().longitude())
        .bind::<Double, _>(circle.radius_m())
        .bind::<BigInt, _>(i64::from(limit.get()))
        .load(c)?;
    Ok(rows.into_iter().map(|row| row.seq).collect())
}

const SCAN_TIMELINE: &str = "
SELECT i.seq FROM images AS i INDEXED BY images_timeline
WHERE i.account_id = ? AND i.live = 1 AND i.captured_at_ms BETWEEN ? AND ?
    AND i.latitude BETWEEN ? AND ? AND distance_m(?, ?, i.latitude, i.longitude) <= ?
ORDER BY i.captured_at_ms DESC LIMIT ?";

const SCAN_ALBUM: &str = "
SELECT i.seq
FROM album_images AS a INDEXED BY album_images_timeline CROSS JOIN images AS i ON i.seq = a.image_seq
WHERE a.album_seq = ? AND a.live = 1 AND a.captured_at_ms BETWEEN ? AND ?
    AND i.latitude BETWEEN ? AND ? AND distance_m(?, ?, i.latitude, i.longitude) <= ?
ORDER BY a.captured_at_ms DESC LIMIT ?";

/// Scans the timeline of `owner`, an account or an album.
fn scan(
    c: &mut SqlConnection,
    query: &str,
    owner: i64,
    filter: &ResolvedFilter,
    circle: Circle,
    limit: Limit,
) -> Result<Vec<i64>, SqlError> {
    let (south, north) = latitudes(circle);
    let rows: Vec<Seq> = sql_query(query)
        .bind::<BigInt, _>(owner)
        .bind::<BigInt, _>(filter.start_ms)
        .bind::<BigInt, _>(filter.end_ms)
        .bind::<Double, _>(south)
        .bind::<Double, _>(north)
        .bind::<Double, _>(circle.centre().latitude())
        .bind::<Double, _>(circle.centre().longitude())
        .bind::<Double, _>(circle.radius_m())
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
