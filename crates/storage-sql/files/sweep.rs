use diesel::{OptionalExtension, dsl::sql, prelude::*, sql_types::Bool};
use domain::{AccountId, Timestamp};

use super::removal::remove_row;
use crate::{Lock, SqlConnection, error::SqlError, lock, sql::schema::files};

/// Deletes up to `max` entries that are no longer in the tree; returns their number.
pub(super) fn sweep(
    c: &mut SqlConnection,
    account: Option<AccountId>,
    at: Timestamp,
    max: u32,
) -> Result<u32, SqlError> {
    let mut left = max;
    while left > 0 {
        let Some((_, owner)) = next_deleted(c, account)? else { break };
        lock::take(c, Lock::Account(owner))?;
        // Another sweep may have removed it.
        let Some((top, _)) = next_deleted(c, Some(AccountId(owner)))? else { continue };
        left = left.saturating_sub(remove_tree(c, top, at, left)?);
    }
    Ok(max.saturating_sub(left))
}

/// The id and the account of an entry that was removed from the tree. Other entries may still be below it.
fn next_deleted(c: &mut SqlConnection, account: Option<AccountId>) -> Result<Option<(i64, i64)>, SqlError> {
    // A literal, because SQLite does not match a partial index with a parameter.
    let deleted =
        files::table.filter(sql::<Bool>("deleted_at_ms IS NOT NULL")).select((files::id, files::account_id));
    Ok(match account {
        Some(account) => deleted.filter(files::account_id.eq(account.0)).first(c).optional()?,
        None => deleted.first(c).optional()?,
    })
}

/// Removes up to `max` files and folders of a deleted account, whose images are gone already; returns their number.
pub(crate) fn remove_all_files(c: &mut SqlConnection, account: i64, max: u32) -> Result<u32, SqlError> {
    let mut left = max.saturating_sub(sweep(c, Some(AccountId(account)), Timestamp::MIN, max)?);
    let root = files::table
        .filter(files::account_id.eq(account))
        .filter(files::parent_id.is_null())
        .filter(files::deleted_at_ms.is_null())
        .select(files::id)
        .get_result::<i64>(c)
        .optional()?;
    if let Some(root) = root {
        left = left.saturating_sub(remove_tree(c, root, Timestamp::MIN, left)?);
    }
    Ok(max.saturating_sub(left))
}

/// Removes up to `max` entries of a tree, members before their folder; returns their number. It keeps no list of the
/// tree: it descends into the first folder that it finds, so a batch costs no more than its entries and one descent.
fn remove_tree(c: &mut SqlConnection, top: i64, at: Timestamp, max: u32) -> Result<u32, SqlError> {
    let mut removed = 0;
    let mut way = vec![top];
    while let Some(&folder) = way.last() {
        if removed >= max {
            break;
        }
        if let Some(inner) = first_folder(c, folder)? {
            way.push(inner);
            continue;
        }
        for file in members(c, folder, max - removed)? {
            remove_row(c, file, at)?;
            removed += 1;
        }
        if removed < max {
            remove_row(c, folder, at)?;
            removed += 1;
            way.pop();
        }
    }
    Ok(removed)
}

fn first_folder(c: &mut SqlConnection, folder: i64) -> Result<Option<i64>, SqlError> {
    // A literal, because SQLite does not match a partial index with a parameter.
    Ok(files::table
        .filter(files::parent_id.eq(folder))
        .filter(sql::<Bool>("kind = 'folder'"))
        .select(files::id)
        .first(c)
        .optional()?)
}

fn members(c: &mut SqlConnection, folder: i64, max: u32) -> Result<Vec<i64>, SqlError> {
    Ok(files::table.filter(files::parent_id.eq(folder)).limit(i64::from(max)).select(files::id).load(c)?)
}
