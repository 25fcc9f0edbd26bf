//! The cameras of an account, and their images.

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};
use domain::Limit;
use storage::Viewer;

use super::ResolvedFilter;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::{ImageRow, Visibility},
        schema::images,
        statement,
    },
};

#[derive(QueryableByName)]
struct CameraRow {
    #[diesel(sql_type = Text)]
    camera: String,
}

/// Finds each camera by one step in the index from the camera before it, whatever the number of its images.
const NAMES: &str = concat!(
    "WITH RECURSIVE cameras (camera, number) AS (
    SELECT min(i.camera), CAST(1 AS BIGINT) FROM images AS i ",
    by_index!("images_camera"),
    " WHERE i.account_id = $1 AND i.live = TRUE AND i.camera > ''
    UNION ALL
    SELECT (
        SELECT min(i.camera) FROM images AS i ",
    by_index!("images_camera"),
    " WHERE i.account_id = $1 AND i.live = TRUE AND i.camera > c.camera
    ), c.number + 1
    FROM cameras AS c WHERE c.camera IS NOT NULL AND c.number < $2
)
SELECT used.camera AS camera FROM (
    SELECT c.camera AS camera, (
        SELECT max(i.captured_at_ms) FROM images AS i ",
    by_index!("images_camera"),
    " WHERE i.account_id = $1 AND i.live = TRUE AND i.camera = c.camera
    ) AS newest_ms
    FROM cameras AS c WHERE c.camera IS NOT NULL
) AS used
WHERE used.newest_ms >= $3 ORDER BY used.newest_ms DESC"
);

/// The cameras of the viewer's images, the camera of the newest image first.
pub(crate) fn names(c: &mut SqlConnection, viewer: Viewer, max: u32) -> Result<Vec<String>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let rows: Vec<CameraRow> = statement(NAMES)
        .bind::<BigInt, _>(visibility.account)
        .bind::<BigInt, _>(i64::from(max))
        .bind::<BigInt, _>(visibility.oldest_ms)
        .load(c)?;
    Ok(rows.into_iter().map(|row| row.camera).collect())
}

/// The images of a camera that pass a filter without an album and a circle, the newest first.
pub(crate) fn page(
    c: &mut SqlConnection,
    camera: &str,
    filter: &ResolvedFilter,
    limit: Limit,
) -> Result<Vec<ImageRow>, SqlError> {
    Ok(images::table
        .filter(images::account_id.eq(filter.account))
        .filter(images::live.eq(true))
        .filter(images::camera.eq(camera))
        .filter(images::captured_at_ms.between(filter.start_ms, filter.end_ms))
        .order(images::captured_at_ms.desc())
        .limit(i64::from(limit.get()))
        .select(ImageRow::as_select())
        .load(c)?)
}

/// The newest images of a camera between two times, at most `max`.
pub(crate) fn newest(
    c: &mut SqlConnection,
    account: i64,
    camera: &str,
    (start_ms, end_ms): (i64, i64),
    max: i64,
) -> Result<Vec<i64>, SqlError> {
    Ok(images::table
        .filter(images::account_id.eq(account))
        .filter(images::live.eq(true))
        .filter(images::camera.eq(camera))
        .filter(images::captured_at_ms.between(start_ms, end_ms))
        .order(images::captured_at_ms.desc())
        .limit(max)
        .select(images::seq)
        .load(c)?)
}
