use diesel::prelude::*;
use domain::{AccountId, FilePath, Timestamp};
use storage::{
    FileChange, FileCondition, FileLock, FileRefusal, FileTimes, FileWritten, MAX_FILE_LOCKS, NewFile,
    NewFileContent,
};

use super::{
    error::FileError,
    folders::find_place,
    locks::{LockRow, position, unexpired},
    put::put,
    rows,
    trail::Trail,
    tree::path_of,
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{account_rows::is_active, schema::file_locks, value::RowReader},
};

/// Locks the entry at a path, or a new placeholder if there is none.
pub(super) fn lock(
    c: &mut SqlConnection,
    change: &FileChange,
    lock: &FileLock,
) -> Result<FileWritten, FileError> {
    let trail = find_place(c, change, &lock.root, false)?;
    if overlaps(c, change, &trail, lock.is_deep)? {
        return Err(FileRefusal::Locked.into());
    }
    let locked = match trail.entry() {
        Some(node) => FileWritten { entry: rows::entry(c, node.id)?, is_new: false },
        None => put(c, change, &placeholder(&lock.root))?,
    };
    make_room(c, change)?;
    diesel::insert_into(file_locks::table)
        .values((
            file_locks::token.eq(&lock.token),
            file_locks::account_id.eq(change.account.0),
            file_locks::file_id.eq(locked.entry.id.0),
            file_locks::is_deep.eq(lock.is_deep),
            file_locks::owner.eq(lock.owner.as_deref()),
            file_locks::expires_at_ms.eq(lock.expires_at.millis()),
        ))
        .execute(c)?;
    Ok(locked)
}

fn placeholder(path: &FilePath) -> NewFile {
    NewFile {
        path: path.clone(),
        content: NewFileContent::Placeholder,
        bytes: 0,
        times: FileTimes::default(),
        sha1: None,
        create_folders: false,
        condition: FileCondition::Absent,
    }
}

/// Whether a new lock would cover something that is locked already. The tokens that the client sent do not matter,
/// because locks are exclusive.
fn overlaps(
    c: &mut SqlConnection,
    change: &FileChange,
    trail: &Trail,
    is_deep: bool,
) -> Result<bool, SqlError> {
    for other in unexpired(c, change.account, change.at)? {
        let position = position(c, trail, other.file_id)?;
        if position.is_some_and(|position| position.overlaps(other.is_deep, is_deep)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Deletes expired locks, and refuses another lock when there are too many.
fn make_room(c: &mut SqlConnection, change: &FileChange) -> Result<(), FileError> {
    let of_account = || file_locks::table.filter(file_locks::account_id.eq(change.account.0));
    diesel::delete(of_account().filter(file_locks::expires_at_ms.le(change.at.millis()))).execute(c)?;
    let count: i64 = of_account().count().get_result(c)?;
    if count >= i64::from(MAX_FILE_LOCKS) {
        return Err(FileRefusal::TooMany.into());
    }
    Ok(())
}

/// The unexpired locks of an account, with the paths of what they lock.
pub(super) fn all(
    c: &mut SqlConnection,
    account: AccountId,
    at: Timestamp,
) -> Result<Vec<FileLock>, SqlError> {
    if !is_active(c, account.0)? {
        return Ok(Vec::new());
    }
    let locks = unexpired(c, account, at)?;
    locks.into_iter().map(|lock| with_path(c, lock)).collect()
}

fn with_path(c: &mut SqlConnection, lock: LockRow) -> Result<FileLock, SqlError> {
    let root = path_of(c, lock.file_id)?;
    let expires_at =
        RowReader::new("file_locks", &lock.token).timestamp("expires_at_ms", lock.expires_at_ms)?;
    Ok(FileLock { token: lock.token, root, is_deep: lock.is_deep, owner: lock.owner, expires_at })
}

/// The unexpired locks that apply to a path.
pub(super) fn applying(
    c: &mut SqlConnection,
    account: AccountId,
    path: &FilePath,
    at: Timestamp,
) -> Result<Vec<FileLock>, SqlError> {
    let mut locks = all(c, account, at)?;
    locks.retain(|lock| lock.applies_to(path));
    Ok(locks)
}

fn find(
    c: &mut SqlConnection,
    change: &FileChange,
    path: &FilePath,
    token: &str,
) -> Result<Option<FileLock>, SqlError> {
    let locks = applying(c, change.account, path, change.at)?;
    Ok(locks.into_iter().find(|lock| lock.token == token))
}

pub(super) fn refresh(
    c: &mut SqlConnection,
    change: &FileChange,
    path: &FilePath,
    token: &str,
    expires_at: Timestamp,
) -> Result<Option<FileLock>, SqlError> {
    let Some(lock) = find(c, change, path, token)? else { return Ok(None) };
    diesel::update(file_locks::table.find(token))
        .set(file_locks::expires_at_ms.eq(expires_at.millis()))
        .execute(c)?;
    Ok(Some(FileLock { expires_at, ..lock }))
}

pub(super) fn unlock(
    c: &mut SqlConnection,
    change: &FileChange,
    path: &FilePath,
    token: &str,
) -> Result<bool, SqlError> {
    let lock = find(c, change, path, token)?;
    if lock.is_some() {
        diesel::delete(file_locks::table.find(token)).execute(c)?;
    }
    Ok(lock.is_some())
}
