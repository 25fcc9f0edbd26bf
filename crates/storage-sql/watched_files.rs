use diesel::{prelude::*, sql_types::BigInt};
use domain::{AccountId, Timestamp};
use storage::{FileVersion, WatchedFile, WatchedFileStore};

use crate::{
    Lock, SqlConnection,
    error::SqlError,
    sql::{
        schema::watched_files,
        statement,
        value::{Hex, RowReader},
    },
};

operations! {
    impl WatchedFileStore {
        query watched_files(account: AccountId, versions: &[FileVersion]) -> Vec<WatchedFile> = known;
        write(Lock::Nothing) remember_watched_files(
            account: AccountId, versions: &[FileVersion], at: Timestamp
        ) -> () { |c| versions.iter().try_for_each(|version| remember(c, account, *version, at)) }
        write(Lock::Nothing) sweep_watched_files(before: Timestamp, max: u32) -> u32 = sweep;
    }
}

fn known(
    c: &mut SqlConnection,
    account: AccountId,
    versions: &[FileVersion],
) -> Result<Vec<WatchedFile>, SqlError> {
    let rows: Vec<(Vec<u8>, i64)> = watched_files::table
        .filter(watched_files::account_id.eq(account.0))
        .filter(watched_files::version.eq_any(versions.iter().map(|version| version.0.as_slice())))
        .select((watched_files::version, watched_files::seen_at_ms))
        .load(c)?;
    rows.into_iter()
        .map(|(version, seen_at)| {
            let key = Hex(&version);
            let reader = RowReader::new("watched_files", &key);
            let seen_at = reader.timestamp("seen_at_ms", seen_at)?;
            let version = reader.required("version", version.as_slice().try_into().ok())?;
            Ok(WatchedFile { version: FileVersion(version), seen_at })
        })
        .collect()
}

fn remember(
    c: &mut SqlConnection,
    account: AccountId,
    version: FileVersion,
    at: Timestamp,
) -> Result<(), SqlError> {
    diesel::insert_into(watched_files::table)
        .values((
            watched_files::account_id.eq(account.0),
            watched_files::version.eq(version.0.as_slice()),
            watched_files::seen_at_ms.eq(at.millis()),
        ))
        .on_conflict((watched_files::account_id, watched_files::version))
        .do_update()
        .set(watched_files::seen_at_ms.eq(at.millis()))
        .execute(c)?;
    Ok(())
}

const SWEEP_OLD: &str = "
DELETE FROM watched_files WHERE (account_id, version) IN (
    SELECT account_id, version FROM watched_files WHERE seen_at_ms < $1 LIMIT $2
)";

const SWEEP_DELETED_ACCOUNTS: &str = "
DELETE FROM watched_files WHERE (account_id, version) IN (
    SELECT w.account_id, w.version FROM accounts AS d JOIN watched_files AS w ON w.account_id = d.id
    WHERE d.deleted_at_ms IS NOT NULL LIMIT $1
)";

fn sweep(c: &mut SqlConnection, before: Timestamp, max: u32) -> Result<u32, SqlError> {
    let old = statement(SWEEP_OLD)
        .bind::<BigInt, _>(before.millis())
        .bind::<BigInt, _>(i64::from(max))
        .execute(c)?;
    let left = i64::from(max).saturating_sub(i64::try_from(old).unwrap_or(i64::MAX)).max(0);
    let of_deleted = statement(SWEEP_DELETED_ACCOUNTS).bind::<BigInt, _>(left).execute(c)?;
    Ok(u32::try_from(old + of_deleted).unwrap_or(u32::MAX))
}
