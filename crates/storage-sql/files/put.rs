use diesel::prelude::*;
use storage::{FileChange, FileRefusal, FileWritten, LockedAction, NewFile};

use super::{
    content::{self, References},
    error::FileError,
    folders::{find_place, make_parent},
    locks, rows,
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
    Ok(FileWritten { entry: rows::entry(c, id)?, is_new: present.is_none() })
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
