//! Bounds on entries that take no room in the quota.

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Binary},
};
use domain::AccountId;
use storage::{FileRefusal, MAX_EMPTY_FILES, MAX_FILES_PER_PHOTO};

use super::error::FileError;
use crate::{
    SqlConnection,
    sql::{schema::accounts, statement},
};

// Literals, because SQLite does not match a partial index with parameters.
const COUNT_EMPTY: &str = "
SELECT count(*) AS entries FROM (
    SELECT 1 AS entry FROM files WHERE account_id = $1 AND kind IN ('folder', 'junk', 'placeholder') LIMIT $2
) AS counted";

const COUNT_OF_PHOTO: &str = "
SELECT count(*) AS entries FROM (
    SELECT 1 AS entry FROM files WHERE original = $1 AND account_id = $2 LIMIT $3
) AS counted";

const MOST_OF_A_PHOTO: &str = "
SELECT count(*) AS entries FROM files
WHERE account_id = $1 AND original IN (SELECT original FROM files WHERE parent_id = $2 AND original IS NOT NULL)
GROUP BY original ORDER BY entries DESC LIMIT 1";

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    entries: i64,
}

/// Whether an entry of this kind stores nothing.
pub(super) fn is_empty(kind: &str) -> bool {
    matches!(kind, "folder" | "junk" | "placeholder")
}

/// Refuses a change that added entries which store nothing, if the account now has too many of them.
pub(super) fn check_empty(c: &mut SqlConnection, account: AccountId) -> Result<(), FileError> {
    let images: i64 = accounts::table.find(account.0).select(accounts::live_images).get_result(c)?;
    let max = images.saturating_add(MAX_EMPTY_FILES.into());
    let count: Count = statement(COUNT_EMPTY)
        .bind::<BigInt, _>(account.0)
        .bind::<BigInt, _>(max.saturating_add(1))
        .get_result(c)?;
    refuse_above(max, count.entries)
}

/// Refuses a change that added a file with an original, if the account now has too many files with it.
pub(super) fn check_photo(
    c: &mut SqlConnection,
    account: AccountId,
    original: &[u8],
) -> Result<(), FileError> {
    let max = i64::from(MAX_FILES_PER_PHOTO);
    let count: Count = statement(COUNT_OF_PHOTO)
        .bind::<Binary, _>(original)
        .bind::<BigInt, _>(account.0)
        .bind::<BigInt, _>(max.saturating_add(1))
        .get_result(c)?;
    refuse_above(max, count.entries)
}

/// Refuses a change that added files to a folder, if the account now has too many files with the photo of one of them.
pub(super) fn check_photos_in(
    c: &mut SqlConnection,
    account: AccountId,
    folder: i64,
) -> Result<(), FileError> {
    let most: Option<Count> = statement(MOST_OF_A_PHOTO)
        .bind::<BigInt, _>(account.0)
        .bind::<BigInt, _>(folder)
        .get_result(c)
        .optional()?;
    refuse_above(MAX_FILES_PER_PHOTO.into(), most.map_or(0, |most| most.entries))
}

fn refuse_above(max: i64, count: i64) -> Result<(), FileError> {
    if count > max { Err(FileRefusal::TooManyEntries.into()) } else { Ok(()) }
}
