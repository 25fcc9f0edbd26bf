use diesel::prelude::*;
use domain::{FileName, FilePath};
use storage::{FileChange, FileMove, FileRefusal, FileWritten, LockedAction, NewImage};

use super::{
    content::{References, add_image},
    copies,
    error::FileError,
    folders::{find_place, make_parent},
    locks, removal, rows,
    trail::{Node, Trail},
    tree::{change_folders, height},
};
use crate::{SqlConnection, sql::schema::files};

/// Moves an entry: only its own row changes, whatever is below it.
pub(super) fn rename(
    c: &mut SqlConnection,
    change: &FileChange,
    to: &FileMove,
) -> Result<FileWritten, FileError> {
    let plan = Transfer::plan(c, change, to)?;
    if plan.node.is_folder() && to.to.names().len() > to.from.names().len() {
        check_depth(to.to.names().len(), height(c, plan.node.id)?)?;
    }
    locks::check(c, change, &plan.from, LockedAction::Remove)?;
    plan.check_target_locks(c, change)?;
    locks::end_below(c, plan.node.id)?;
    let parent = plan.clear_target(c, change, to)?;
    if let Some(old_parent) = plan.node.parent_id {
        change_folders(c, old_parent, -plan.node.bytes)?;
    }
    diesel::update(files::table.find(plan.node.id))
        .set((files::parent_id.eq(parent), files::name.eq(plan.name.as_str())))
        .execute(c)?;
    change_folders(c, parent, plan.node.bytes)?;
    plan.finish(c, change, plan.node.id, to)
}

/// Copies an entry with everything below it.
pub(super) fn copy(
    c: &mut SqlConnection,
    change: &FileChange,
    to: &FileMove,
) -> Result<FileWritten, FileError> {
    let plan = Transfer::plan(c, change, to)?;
    plan.check_target_locks(c, change)?;
    let parent = plan.clear_target(c, change, to)?;
    let id = copies::copy_tree(c, change, &plan.node, parent, &to.to)?;
    change_folders(c, parent, plan.node.bytes)?;
    plan.finish(c, change, id, to)
}

/// Refuses an entry whose lowest member would have too many folders above it.
pub(super) fn check_depth(depth: usize, height: usize) -> Result<(), FileError> {
    if depth.saturating_add(height) > FilePath::MAX_DEPTH {
        return Err(FileRefusal::TooMany.into());
    }
    Ok(())
}

/// A move or copy that passed all checks except those of locks and depth.
struct Transfer {
    from: Trail,
    node: Node,
    target: Trail,
    name: FileName,
}

impl Transfer {
    fn plan(c: &mut SqlConnection, change: &FileChange, to: &FileMove) -> Result<Self, FileError> {
        let from = Trail::find_for_change(c, change.account, &to.from)?;
        let node = from.entry().ok_or(FileRefusal::NotFound)?.clone();
        let name = to.to.name().ok_or(FileRefusal::IntoItself)?.clone();
        if to.is_into_itself() {
            return Err(FileRefusal::IntoItself.into());
        }
        let target = find_place(c, change, &to.to, to.create_folders)?;
        if target.entry().is_some() && !to.overwrite {
            return Err(FileRefusal::Exists.into());
        }
        if !to.condition.is_met(target.entry().map(Node::state).transpose()?) {
            return Err(FileRefusal::Condition.into());
        }
        Ok(Self { from, node, target, name })
    }

    fn check_target_locks(&self, c: &mut SqlConnection, change: &FileChange) -> Result<(), FileError> {
        let replaces = self.target.entry().is_some();
        let action = if replaces { LockedAction::Remove } else { LockedAction::Add };
        locks::check(c, change, &self.target, action)
    }

    /// Removes the entry at the destination, if there is one; returns the folder of the destination.
    fn clear_target(
        &self,
        c: &mut SqlConnection,
        change: &FileChange,
        to: &FileMove,
    ) -> Result<i64, FileError> {
        if let Some(replaced) = self.target.entry() {
            removal::remove(c, replaced, change.at)?;
        }
        make_parent(c, change, &to.to, &self.target)
    }

    /// Turns a partial file into a photo, if the move gives an image for it.
    fn finish(
        &self,
        c: &mut SqlConnection,
        change: &FileChange,
        id: i64,
        to: &FileMove,
    ) -> Result<FileWritten, FileError> {
        if let ("partial", Some(image)) = (self.node.kind.as_str(), &to.image) {
            make_photo(c, change, id, image)?;
        }
        Ok(FileWritten { entry: rows::entry(c, id)?, is_new: self.target.entry().is_none() })
    }
}

/// Turns a partial file into a photo.
fn make_photo(
    c: &mut SqlConnection,
    change: &FileChange,
    id: i64,
    image: &NewImage,
) -> Result<(), FileError> {
    let partial = References::of(c, id)?;
    if partial.original.as_deref() != Some(image.original.as_bytes().as_slice()) {
        return Err(FileRefusal::OriginalGone.into());
    }
    let seq = add_image(c, change.account, image)?;
    diesel::update(files::table.find(id))
        .set((
            files::version.eq(files::version + 1),
            files::kind.eq("photo"),
            files::media_type.eq(None::<String>),
            files::image_seq.eq(seq),
        ))
        .execute(c)?;
    partial.end(c, change.at)?;
    Ok(())
}
