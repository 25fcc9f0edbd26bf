use diesel::prelude::*;
use domain::{FilePath, Timestamp};
use storage::{FileChange, FileEntry, FileRefusal, FileTimes, LockedAction};

use super::{error::FileError, locks, rows, trail::Trail, tree::change_folders};
use crate::{SqlConnection, sql::schema::files};

pub(super) fn set(
    c: &mut SqlConnection,
    change: &FileChange,
    path: &FilePath,
    times: FileTimes,
) -> Result<FileEntry, FileError> {
    let trail = Trail::find_for_change(c, change.account, path)?;
    let node = trail.entry().ok_or(FileRefusal::NotFound)?;
    locks::check(c, change, &trail, LockedAction::Modify)?;
    let entry = rows::entry(c, node.id)?;
    let times = FileTimes {
        modified_at: times.modified_at.or(entry.times.modified_at),
        created_at: times.created_at.or(entry.times.created_at),
    };
    if times == entry.times {
        return Ok(entry);
    }
    diesel::update(files::table.find(node.id))
        .set((
            files::version.eq(files::version + 1),
            files::modified_at_ms.eq(times.modified_at.map(Timestamp::millis)),
            files::created_at_ms.eq(times.created_at.map(Timestamp::millis)),
        ))
        .execute(c)?;
    if let Some(parent) = node.parent_id {
        change_folders(c, parent, 0)?;
    }
    Ok(rows::entry(c, node.id)?)
}
