use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};

use domain::{FileName, FilePath};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{statement, value::RowReader},
};

const CHANGE_FOLDERS: &str = "
WITH RECURSIVE above (id, parent_id) AS (
    SELECT id, parent_id FROM files WHERE id = $1
    UNION ALL
    SELECT f.id, f.parent_id FROM above JOIN files AS f ON f.id = above.parent_id
)
UPDATE files SET version = version + 1, bytes = bytes + $2 WHERE id IN (SELECT id FROM above)";

/// Increases the version of a folder and of all above it after a change of a member, and adds to their sums of bytes.
pub(super) fn change_folders(c: &mut SqlConnection, folder: i64, difference: i64) -> Result<(), SqlError> {
    statement(CHANGE_FOLDERS).bind::<BigInt, _>(folder).bind::<BigInt, _>(difference).execute(c)?;
    Ok(())
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = BigInt)]
    value: i64,
}

const IS_IN_TREE: &str = "
WITH RECURSIVE above (id, parent_id, deleted_at_ms) AS (
    SELECT id, parent_id, deleted_at_ms FROM files WHERE id = $1
    UNION ALL
    SELECT f.id, f.parent_id, f.deleted_at_ms FROM above JOIN files AS f ON f.id = above.parent_id
)
SELECT id AS value FROM above WHERE parent_id IS NULL AND deleted_at_ms IS NULL";

/// Whether an entry is in the tree of the root folder. Other entries wait to be swept.
pub(super) fn is_in_tree(c: &mut SqlConnection, id: i64) -> Result<bool, SqlError> {
    let root: Option<Found> = statement(IS_IN_TREE).bind::<BigInt, _>(id).get_result(c).optional()?;
    Ok(root.is_some())
}

const IS_AT_OR_BELOW: &str = "
WITH RECURSIVE above (id, parent_id) AS (
    SELECT id, parent_id FROM files WHERE id = $1
    UNION ALL
    SELECT f.id, f.parent_id FROM above JOIN files AS f ON f.id = above.parent_id
)
SELECT id AS value FROM above WHERE id = $2";

/// Whether the entry `id` is `folder` or below it.
pub(super) fn is_at_or_below(c: &mut SqlConnection, id: i64, folder: i64) -> Result<bool, SqlError> {
    let found: Option<Found> =
        statement(IS_AT_OR_BELOW).bind::<BigInt, _>(id).bind::<BigInt, _>(folder).get_result(c).optional()?;
    Ok(found.is_some())
}

// Walks folders only, because a folder may have very many files.
const HEIGHT: &str = "
WITH RECURSIVE folders (id, depth) AS (
    SELECT CAST($1 AS BIGINT), CAST(0 AS BIGINT)
    UNION ALL
    SELECT f.id, folders.depth + 1 FROM folders JOIN files AS f ON f.parent_id = folders.id
    WHERE f.kind = 'folder'
)
SELECT coalesce(max(
    depth + CASE WHEN EXISTS (SELECT 1 FROM files AS f WHERE f.parent_id = folders.id) THEN 1 ELSE 0 END
), 0) AS value
FROM folders";

/// The number of levels below a folder.
pub(super) fn height(c: &mut SqlConnection, folder: i64) -> Result<usize, SqlError> {
    let found: Found = statement(HEIGHT).bind::<BigInt, _>(folder).get_result(c)?;
    Ok(usize::try_from(found.value).unwrap_or(usize::MAX))
}

#[derive(QueryableByName)]
struct NameRow {
    #[diesel(sql_type = Text)]
    name: String,
}

const NAMES: &str = "
WITH RECURSIVE above (parent_id, name, distance) AS (
    SELECT parent_id, name, 0 FROM files WHERE id = $1
    UNION ALL
    SELECT f.parent_id, f.name, distance + 1 FROM above JOIN files AS f ON f.id = above.parent_id
)
SELECT name FROM above WHERE parent_id IS NOT NULL ORDER BY distance DESC";

/// The path of an entry in the tree.
pub(super) fn path_of(c: &mut SqlConnection, id: i64) -> Result<FilePath, SqlError> {
    let rows: Vec<NameRow> = statement(NAMES).bind::<BigInt, _>(id).load(c)?;
    let names = rows.iter().map(|row| FileName::parse(&row.name)).collect::<Result<_, _>>();
    let path = names.and_then(FilePath::new).ok();
    RowReader::new("files", &id).required("name", path)
}
