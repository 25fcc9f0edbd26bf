use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};
use domain::{FilePath, Timestamp};
use storage::{FileChange, FileRefusal, MAX_COPIED_FILES, MAX_COPIED_SIDECAR_BYTES};

use super::{content::References, error::FileError, free_entries, trail::Node, transfer::check_depth};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        account_rows::store_bytes,
        statement,
        value::{RowReader, row_count},
    },
};

const COPY_ENTRY: &str = "
INSERT INTO files (
    account_id, parent_id, name, kind, bytes, version, modified_at_ms, created_at_ms, received_at_ms, sha1, original,
    media_type, image_seq, sidecar_kind, sidecar
)
SELECT account_id, $1, $2, kind, bytes, 1, modified_at_ms, created_at_ms, $3, sha1, original,
    media_type, image_seq, sidecar_kind, sidecar
FROM files WHERE id = $4
RETURNING id";

const COPY_FILES: &str = "
INSERT INTO files (
    account_id, parent_id, name, kind, bytes, version, modified_at_ms, created_at_ms, received_at_ms, sha1, original,
    media_type, image_seq, sidecar_kind, sidecar
)
SELECT account_id, $1, name, kind, bytes, 1, modified_at_ms, created_at_ms, $2, sha1, original,
    media_type, image_seq, sidecar_kind, sidecar
FROM files WHERE parent_id = $3 AND kind <> 'folder'
LIMIT $4";

const SIDECAR_BYTES: &str = "
SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes FROM files
WHERE account_id = $1 AND parent_id = $2 AND kind = 'sidecar'";

#[derive(QueryableByName)]
struct Sum {
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

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

/// How much one copy may still create.
struct Room {
    entries: u64,
    sidecar_bytes: u64,
}

impl Room {
    fn take_entries(&mut self, entries: u64) -> Result<(), FileError> {
        self.entries = self.entries.checked_sub(entries).ok_or(FileRefusal::TooMany)?;
        Ok(())
    }

    /// Counts the bytes of sidecars before they are copied.
    fn take_sidecars(
        &mut self,
        c: &mut SqlConnection,
        change: &FileChange,
        bytes: i64,
    ) -> Result<(), FileError> {
        let length = RowReader::new("files", &change.account.0).unsigned("bytes", bytes)?;
        self.sidecar_bytes = self.sidecar_bytes.checked_sub(length).ok_or(FileRefusal::TooMany)?;
        match store_bytes(c, change.account.0, bytes, change.quota_bytes)? {
            true => Ok(()),
            false => Err(FileRefusal::QuotaExceeded.into()),
        }
    }
}

/// A folder whose members are to be copied.
struct Copied {
    from: i64,
    to: i64,
    depth: usize,
}

/// Copies an entry with everything below it to a path whose folder is `parent`; returns its new id. Originals need no
/// second hold, because the copied files hold them already.
pub(super) fn copy_tree(
    c: &mut SqlConnection,
    change: &FileChange,
    node: &Node,
    parent: i64,
    path: &FilePath,
) -> Result<i64, FileError> {
    let name = path.name().ok_or(FileRefusal::IntoItself)?.as_str();
    let mut room = Room { entries: MAX_COPIED_FILES.into(), sidecar_bytes: MAX_COPIED_SIDECAR_BYTES };
    room.take_entries(1)?;
    if node.kind == "sidecar" {
        room.take_sidecars(c, change, node.bytes)?;
    }
    let top = copy_entry(c, node.id, parent, name, change.at)?;
    let mut folders = vec![Copied { from: node.id, to: top, depth: path.names().len() }];
    while let Some(folder) = folders.pop() {
        copy_files(c, change, &folder, &mut room)?;
        for inner in inner_folders(c, folder.from)? {
            check_depth(folder.depth, 1)?;
            room.take_entries(1)?;
            let to = copy_entry(c, inner.id, folder.to, &inner.name, change.at)?;
            folders.push(Copied { from: inner.id, to, depth: folder.depth + 1 });
        }
    }
    if free_entries::is_empty(&node.kind) {
        free_entries::check_empty(c, change.account)?;
    } else if let Some(original) = References::of(c, top)?.original {
        free_entries::check_photo(c, change.account, &original)?;
    }
    Ok(top)
}

fn copy_entry(
    c: &mut SqlConnection,
    id: i64,
    parent: i64,
    name: &str,
    at: Timestamp,
) -> Result<i64, SqlError> {
    let new: NewId = statement(COPY_ENTRY)
        .bind::<BigInt, _>(parent)
        .bind::<Text, _>(name)
        .bind::<BigInt, _>(at.millis())
        .bind::<BigInt, _>(id)
        .get_result(c)?;
    Ok(new.id)
}

fn copy_files(
    c: &mut SqlConnection,
    change: &FileChange,
    folder: &Copied,
    room: &mut Room,
) -> Result<(), FileError> {
    let sidecars = sidecar_bytes(c, change, folder.from)?;
    room.take_sidecars(c, change, sidecars)?;
    let one_too_many = i64::try_from(room.entries).unwrap_or(i64::MAX).saturating_add(1);
    let copied = statement(COPY_FILES)
        .bind::<BigInt, _>(folder.to)
        .bind::<BigInt, _>(change.at.millis())
        .bind::<BigInt, _>(folder.from)
        .bind::<BigInt, _>(one_too_many)
        .execute(c)?;
    if copied > 0 {
        check_depth(folder.depth, 1)?;
    }
    room.take_entries(row_count(copied))?;
    free_entries::check_photos_in(c, change.account, folder.to)
}

/// The sum of the lengths of the sidecars in a folder.
fn sidecar_bytes(c: &mut SqlConnection, change: &FileChange, folder: i64) -> Result<i64, SqlError> {
    let sum: Sum = statement(SIDECAR_BYTES)
        .bind::<BigInt, _>(change.account.0)
        .bind::<BigInt, _>(folder)
        .get_result(c)?;
    Ok(sum.bytes)
}

fn inner_folders(c: &mut SqlConnection, folder: i64) -> Result<Vec<Folder>, SqlError> {
    Ok(statement("SELECT id, name FROM files WHERE parent_id = $1 AND kind = 'folder'")
        .bind::<BigInt, _>(folder)
        .load(c)?)
}
