use diesel::prelude::*;
use domain::{AccountId, Timestamp};
use storage::{FileChange, FileRefusal, LockPosition, LockedAction};

use super::{error::FileError, trail::Trail, tree::is_at_or_below};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::schema::{file_locks, files},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = file_locks, check_for_backend(crate::Backend))]
pub(super) struct LockRow {
    pub(super) token: String,
    pub(super) file_id: i64,
    pub(super) is_deep: bool,
    pub(super) owner: Option<String>,
    pub(super) expires_at_ms: i64,
}

/// The unexpired locks of an account; usually none.
pub(super) fn unexpired(
    c: &mut SqlConnection,
    account: AccountId,
    at: Timestamp,
) -> Result<Vec<LockRow>, SqlError> {
    Ok(file_locks::table
        .filter(file_locks::account_id.eq(account.0))
        .filter(file_locks::expires_at_ms.gt(at.millis()))
        .select(LockRow::as_select())
        .load(c)?)
}

/// Refuses a change if a lock protects against it and the client did not send the token of that lock.
pub(super) fn check(
    c: &mut SqlConnection,
    change: &FileChange,
    trail: &Trail,
    action: LockedAction,
) -> Result<(), FileError> {
    for lock in unexpired(c, change.account, change.at)? {
        if change.has_token(&lock.token) {
            continue;
        }
        let position = position(c, trail, lock.file_id)?;
        if position.is_some_and(|position| action.needs_token_of(position, lock.is_deep)) {
            return Err(FileRefusal::Locked.into());
        }
    }
    Ok(())
}

/// Where a locked entry is, relative to a path; `None` if it is elsewhere.
pub(super) fn position(
    c: &mut SqlConnection,
    trail: &Trail,
    locked: i64,
) -> Result<Option<LockPosition>, SqlError> {
    if trail.above().next_back().is_some_and(|parent| parent.id == locked) {
        return Ok(Some(LockPosition::Parent));
    }
    if trail.above().any(|folder| folder.id == locked) {
        return Ok(Some(LockPosition::Above));
    }
    let Some(entry) = trail.entry() else { return Ok(None) };
    if entry.id == locked {
        return Ok(Some(LockPosition::Entry));
    }
    Ok(is_at_or_below(c, locked, entry.id)?.then_some(LockPosition::Below))
}

/// Ends the locks of an entry and of everything below it.
pub(super) fn end_below(c: &mut SqlConnection, entry: i64) -> Result<(), SqlError> {
    let account = files::table.find(entry).select(files::account_id).get_result(c)?;
    for lock in unexpired(c, AccountId(account), Timestamp::MIN)? {
        if is_at_or_below(c, lock.file_id, entry)? {
            diesel::delete(file_locks::table.find(&lock.token)).execute(c)?;
        }
    }
    Ok(())
}
