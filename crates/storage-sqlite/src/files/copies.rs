use diesel::{
    QueryableByName, SqliteConnection,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use domain::{FilePath, Timestamp};
use storage::{FileChange, FileRefusal, MAX_COPIED_FILES};

use super::{error::FileError, trail::Node, transfer::check_depth};
use crate::{error::SqliteError, value::row_count};

const COPY_ENTRY: &str = "
INSERT INTO files (
    account_id, parent_id, name, kind, bytes, version, modified_at_ms, created_at_ms, received_at_ms, sha1, original,
    media_type, image_seq, sidecar_kind, sidecar
)
SELECT account_id, ?2, ?3, kind, bytes, 1, modified_at_ms, created_at_ms, ?4, sha1, original,
    media_type, image_seq, sidecar_kind, sidecar
FROM files WHERE id = ?1
RETURNING id";

const COPY_FILES: &str = "
INSERT INTO files (
    account_id, parent_id, name, kind, bytes, version, modified_at_ms, created_at_ms, received_at_ms, sha1, original,
    media_type, image_seq, sidecar_kind, sidecar
)
SELECT account_id, ?2, name, kind, bytes, 1, modified_at_ms, created_at_ms, ?3, sha1, original,
    media_type, image_seq, sidecar_kind, sidecar
FROM files WHERE parent_id = ?1 AND kind <> 'folder'
LIMIT ?4";

#[derive(QueryableByName)]
struct NewId {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

#[derive(QueryableByName)]
struct Folder {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    name: String,
}

/// A folder whose members are to be copied.
struct Copied {
    from: i64,
    to: i64,
    depth: usize,
}

/// Copies an entry with everything below it to a path whose folder is `parent`; returns its new id. An original needs no
/// other hold, because the copied file has one.
pub(super) fn copy_tree(
    c: &mut SqliteConnection,
    change: &FileChange,
    node: &Node,
    parent: i64,
    path: &FilePath,
) -> Result<i64, FileError> {
    let name = path.name().ok_or(FileRefusal::IntoItself)?.as_str();
    let top = copy_entry(c, node.id, parent, name, change.at)?;
    let mut left = u64::from(MAX_COPIED_FILES - 1);
    let mut folders = vec![Copied { from: node.id, to: top, depth: path.names().len() }];
    while let Some(folder) = folders.pop() {
        left = copy_files(c, &folder, change.at, left)?;
        for inner in inner_folders(c, folder.from)? {
            check_depth(folder.depth, 1)?;
            left = left.checked_sub(1).ok_or(FileRefusal::TooMany)?;
            let to = copy_entry(c, inner.id, folder.to, &inner.name, change.at)?;
            folders.push(Copied { from: inner.id, to, depth: folder.depth + 1 });
        }
    }
    Ok(top)
}

fn copy_entry(
    c: &mut SqliteConnection,
    id: i64,
    parent: i64,
    name: &str,
    at: Timestamp,
) -> Result<i64, SqliteError> {
    let new: NewId = sql_query(COPY_ENTRY)
        .bind::<BigInt, _>(id)
        .bind::<BigInt, _>(parent)
        .bind::<Text, _>(name)
        .bind::<BigInt, _>(at.millis())
        .get_result(c)?;
    Ok(new.id)
}

/// Copies the files of a folder; returns how many more entries may be copied.
fn copy_files(c: &mut SqliteConnection, folder: &Copied, at: Timestamp, left: u64) -> Result<u64, FileError> {
    let one_too_many = i64::try_from(left).unwrap_or(i64::MAX).saturating_add(1);
    let copied = sql_query(COPY_FILES)
        .bind::<BigInt, _>(folder.from)
        .bind::<BigInt, _>(folder.to)
        .bind::<BigInt, _>(at.millis())
        .bind::<BigInt, _>(one_too_many)
        .execute(c)?;
    if copied > 0 {
        check_depth(folder.depth, 1)?;
    }
    Ok(left.checked_sub(row_count(copied)).ok_or(FileRefusal::TooMany)?)
}

fn inner_folders(c: &mut SqliteConnection, folder: i64) -> Result<Vec<Folder>, SqliteError> {
    Ok(sql_query("SELECT id, name FROM files WHERE parent_id = ? AND kind = 'folder'")
        .bind::<BigInt, _>(folder)
        .load(c)?)
}
