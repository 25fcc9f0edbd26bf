use diesel::prelude::*;
use domain::{FileName, FilePath, Timestamp};
use storage::{FileChange, FileEntry, FileRefusal, LockedAction};

use super::{error::FileError, free_entries, locks, rows, trail::Trail, tree::change_folders};
use crate::{SqlConnection, error::SqlError, sql::schema::files};

pub(crate) fn create_root_folder(c: &mut SqlConnection, account: i64, at: Timestamp) -> Result<(), SqlError> {
    insert(c, account, None, "", at)?;
    Ok(())
}

fn insert(
    c: &mut SqlConnection,
    account: i64,
    parent: Option<i64>,
    name: &str,
    at: Timestamp,
) -> Result<i64, SqlError> {
    Ok(diesel::insert_into(files::table)
        .values((
            files::account_id.eq(account),
            files::parent_id.eq(parent),
            files::name.eq(name),
            files::kind.eq("folder"),
            files::bytes.eq(0),
            files::version.eq(1),
            files::received_at_ms.eq(at.millis()),
        ))
        .returning(files::id)
        .get_result(c)?)
}

pub(super) fn create(
    c: &mut SqlConnection,
    change: &FileChange,
    path: &FilePath,
    create_folders: bool,
) -> Result<FileEntry, FileError> {
    let trail = find_place(c, change, path, create_folders)?;
    let (Some(name), None) = (path.name(), trail.entry()) else { return Err(FileRefusal::Exists.into()) };
    locks::check(c, change, &trail, LockedAction::Add)?;
    let parent = make_parent(c, change, path, &trail)?;
    let id = insert(c, change.account.0, Some(parent), name.as_str(), change.at)?;
    change_folders(c, parent, 0)?;
    free_entries::check_empty(c, change.account)?;
    Ok(rows::entry(c, id)?)
}

/// Follows the path of an entry to write. The folders above it must exist, or `create_folders` must be set.
pub(super) fn find_place(
    c: &mut SqlConnection,
    change: &FileChange,
    path: &FilePath,
    create_folders: bool,
) -> Result<Trail, FileError> {
    let trail = Trail::find_for_change(c, change.account, path)?;
    let missing = path.names().len().saturating_sub(trail.below.len());
    let is_below_a_file = missing > 0 && !trail.deepest().is_folder();
    if is_below_a_file || (missing > 1 && !create_folders) {
        return Err(FileRefusal::NoParent.into());
    }
    Ok(trail)
}

/// The folder of a path, created with those above it if it is missing.
pub(super) fn make_parent(
    c: &mut SqlConnection,
    change: &FileChange,
    path: &FilePath,
    trail: &Trail,
) -> Result<i64, FileError> {
    let existing = trail.above().count().saturating_sub(1);
    let mut parent = trail.above().last().unwrap_or(&trail.root).id;
    let missing = missing_folders(path, existing);
    for name in missing {
        parent = insert(c, change.account.0, Some(parent), name.as_str(), change.at)?;
    }
    if !missing.is_empty() {
        free_entries::check_empty(c, change.account)?;
    }
    Ok(parent)
}

/// The names of a path after the existing ones, without the last.
fn missing_folders(path: &FilePath, existing: usize) -> &[FileName] {
    let above = path.names().split_last().map_or(&[][..], |(_, above)| above);
    above.get(existing..).unwrap_or_default()
}
