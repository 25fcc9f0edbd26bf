//! The names of places, regions, cameras and keywords that filter an account's images.

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};
use storage::{NameKind, Viewer};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{image_rows::Visibility, marks::names_of_facets, statement},
};

#[derive(QueryableByName)]
struct NameRow {
    #[diesel(sql_type = Text)]
    name: String,
}

/// Finds each name in a column by one step in its index from the name before it, whatever the number of its images.
macro_rules! names_in {
    ($column:literal, $index:literal) => {
        concat!(
            "WITH RECURSIVE names (name, number) AS (
            SELECT min(i.",
            $column,
            "), CAST(1 AS BIGINT) FROM images AS i ",
            by_index!($index),
            " WHERE i.account_id = $1 AND i.live = TRUE AND i.",
            $column,
            " > ''
            UNION ALL
            SELECT (
                SELECT min(i.",
            $column,
            ") FROM images AS i ",
            by_index!($index),
            " WHERE i.account_id = $1 AND i.live = TRUE AND i.",
            $column,
            " > n.name
            ), n.number + 1
            FROM names AS n WHERE n.name IS NOT NULL AND n.number < $2
        )
        SELECT used.name AS name FROM (
            SELECT n.name AS name, (
                SELECT max(i.captured_at_ms) FROM images AS i ",
            by_index!($index),
            " WHERE i.account_id = $1 AND i.live = TRUE AND i.",
            $column,
            " = n.name
            ) AS newest_ms
            FROM names AS n WHERE n.name IS NOT NULL
        ) AS used
        WHERE used.newest_ms >= $3 ORDER BY used.newest_ms DESC"
        )
    };
}

/// The names of the viewer's images, that of the newest image first.
pub(crate) fn names(
    c: &mut SqlConnection,
    viewer: Viewer,
    kind: NameKind,
    max: u32,
) -> Result<Vec<String>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let query = match kind {
        NameKind::Camera => names_in!("camera", "images_camera"),
        NameKind::Place => names_in!("place", "images_place"),
        NameKind::Keyword => names_of_facets!("keyword"),
        NameKind::Region => names_of_facets!("region"),
    };
    let rows: Vec<NameRow> = statement(query)
        .bind::<BigInt, _>(visibility.account)
        .bind::<BigInt, _>(i64::from(max))
        .bind::<BigInt, _>(visibility.oldest_ms)
        .load(c)?;
    Ok(rows.into_iter().map(|row| row.name).collect())
}
