//! The cameras of an account.

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};
use storage::Viewer;

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{image_rows::Visibility, statement},
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
