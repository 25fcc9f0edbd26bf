use diesel::prelude::*;
use domain::{FilePath, Timestamp};
use storage::{FileChange, FileCondition, FileRefusal, LockedAction};

use super::{
    content::References,
    error::FileError,
    locks,
    trail::{Node, Trail},
    tree::change_folders,
};
use crate::{SqlConnection, error::SqlError, sql::schema::files};

pub(super) fn delete(
    c: &mut SqlConnection,
    change: &FileChange,
    path: &FilePath,
    condition: &FileCondition,
) -> Result<(), FileError> {
    let trail = Trail::find_for_change(c, change.account, path)?;
    let node = trail.entry().ok_or(FileRefusal::NotFound)?;
    if node.parent_id.is_none() {
        return Err(FileRefusal::IsFolder.into());
    }
    if !condition.is_met(Some(node.state()?)) {
        return Err(FileRefusal::Condition.into());
    }
    locks::check(c, change, &trail, LockedAction::Remove)?;
    Ok(remove(c, node, change.at)?)
}

/// Removes an entry from the tree. The members of a folder are left to the sweep.
pub(super) fn remove(c: &mut SqlConnection, node: &Node, at: Timestamp) -> Result<(), SqlError> {
    if let Some(parent) = node.parent_id {
        change_folders(c, parent, -node.bytes)?;
    }
    if !node.is_folder() {
        return remove_row(c, node.id, at);
    }
    locks::end_below(c, node.id)?;
    diesel::update(files::table.find(node.id))
        .set((files::parent_id.eq(None::<i64>), files::deleted_at_ms.eq(at.millis())))
        .execute(c)?;
    Ok(())
}

/// Deletes a file or an empty folder, and the image whose last file it was.
pub(super) fn remove_row(c: &mut SqlConnection, id: i64, at: Timestamp) -> Result<(), SqlError> {
    let references = References::of(c, id)?;
    diesel::delete(files::table.find(id)).execute(c)?;
    references.free_sidecar(c)?;
    references.end(c, at)
}
