use diesel::prelude::*;
use storage::{FileChange, FileRefusal, FileWritten, LockedAction, NewFile, NewFileContent, NewImage};

use super::{
    content::{self, References},
    error::FileError,
    folders::{find_place, make_parent},
    free_entries, locks, rows,
    trail::{Node, Trail},
    tree::change_folders,
};
use crate::{SqlConnection, sql::schema::files};

pub(super) fn put(
    c: &mut SqlConnection,
    change: &FileChange,
    file: &NewFile,
) -> Result<FileWritten, FileError> {
    let trail = find_place(c, change, &file.path, file.create_folders)?;
    let present = trail.entry();
    if present.is_some_and(Node::is_folder) {
        return Err(FileRefusal::IsFolder.into());
    }
    if !file.condition.is_met(present.map(Node::state).transpose()?) {
        return Err(FileRefusal::Condition.into());
    }
    let action = if present.is_some() { LockedAction::Modify } else { LockedAction::Add };
    locks::check(c, change, &trail, action)?;
    let id = match present {
        Some(node) => replace(c, change, node, file)?,
        None => insert(c, change, &trail, file)?,
    };
    check_entries(c, change, present, file)?;
    Ok(FileWritten { entry: rows::entry(c, id)?, is_new: present.is_none() })
}

/// Refuses a change that makes too many entries that take no room in the quota.
fn check_entries(
    c: &mut SqlConnection,
    change: &FileChange,
    replaced: Option<&Node>,
    file: &NewFile,
) -> Result<(), FileError> {
    match &file.content {
        NewFileContent::Photo(NewImage { original, .. }) | NewFileContent::Partial { original, .. } => {
            free_entries::check_photo(c, change.account, original.as_bytes())
        }
        NewFileContent::Junk | NewFileContent::Placeholder
            if !replaced.is_some_and(|node| free_entries::is_empty(&node.kind)) =>
        {
            free_entries::check_empty(c, change.account)
        }
        NewFileContent::Junk | NewFileContent::Placeholder | NewFileContent::Sidecar(..) => Ok(()),
    }
}

fn insert(
    c: &mut SqlConnection,
    change: &FileChange,
    trail: &Trail,
    file: &NewFile,
) -> Result<i64, FileError> {
    let name = file.path.name().ok_or(FileRefusal::IsFolder)?;
    let columns = &content::store(c, change, file)?;
    let parent = make_parent(c, change, &file.path, trail)?;
    let id = diesel::insert_into(files::table)
        .values((
            files::account_id.eq(change.account.0),
            files::parent_id.eq(parent),
            files::name.eq(name.as_str()),
            files::version.eq(1),
            columns,
        ))
        .returning(files::id)
        .get_result(c)?;
    change_folders(c, parent, columns.bytes)?;
    Ok(id)
}

fn replace(
    c: &mut SqlConnection,
    change: &FileChange,
    node: &Node,
    file: &NewFile,
) -> Result<i64, FileError> {
    let before = References::of(c, node.id)?;
    before.free_sidecar(c)?;
    let columns = &content::store(c, change, file)?;
    diesel::update(files::table.find(node.id))
        .set((files::version.eq(files::version + 1), columns))
        .execute(c)?;
    if let Some(parent) = node.parent_id {
        change_folders(c, parent, columns.bytes - node.bytes)?;
    }
    before.end(c, change.at)?;
    Ok(node.id)
}
