use diesel::{OptionalExtension, dsl::exists, prelude::*};
use domain::{Account, AccountId, Email, Plan, Timestamp};
use oauth_core::UnixMillis;
use storage::NewAccount;

use super::setup;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        account_rows::AccountRow,
        files::create_root_folder,
        oauth::revoke_all_grants,
        schema::{accounts, api_keys, images, index_jobs},
        sign_in::{delete_security_events, end_all_sessions},
    },
};

/// Creates an account; `None` when its address is taken.
pub(super) fn create(c: &mut SqlConnection, account: &NewAccount) -> Result<Option<Account>, SqlError> {
    let inserted = diesel::insert_into(accounts::table)
        .values((
            accounts::email.eq(account.email.as_str()),
            accounts::password_hash.eq(&account.password_hash),
            accounts::plan.eq(account.plan.as_str()),
            accounts::sync_handle.eq(account.sync_handle.as_str()),
            accounts::created_at_ms.eq(account.created_at.millis()),
        ))
        .on_conflict(accounts::email)
        .do_nothing()
        .returning(AccountRow::as_returning())
        .get_result(c)
        .optional()?;
    let Some(row) = inserted else { return Ok(None) };
    setup::delete_links(c)?;
    create_root_folder(c, row.id, account.created_at)?;
    Account::try_from(row).map(Some)
}

pub(super) fn all(c: &mut SqlConnection) -> Result<Vec<Account>, SqlError> {
    accounts::table
        .filter(accounts::deleted_at_ms.is_null())
        .order(accounts::email)
        .select(AccountRow::as_select())
        .load(c)?
        .into_iter()
        .map(Account::try_from)
        .collect()
}

pub(super) fn by_email(c: &mut SqlConnection, email: &Email) -> Result<Option<Account>, SqlError> {
    accounts::table
        .filter(accounts::email.eq(email.as_str()))
        .select(AccountRow::as_select())
        .get_result(c)
        .optional()?
        .map(Account::try_from)
        .transpose()
}

pub(super) fn by_id(c: &mut SqlConnection, account: AccountId) -> Result<Option<Account>, SqlError> {
    accounts::table
        .find(account.0)
        .filter(accounts::deleted_at_ms.is_null())
        .select(AccountRow::as_select())
        .get_result(c)
        .optional()?
        .map(Account::try_from)
        .transpose()
}

pub(super) fn password_hash(
    c: &mut SqlConnection,
    email: &Email,
) -> Result<Option<(Account, String)>, SqlError> {
    let found = accounts::table
        .filter(accounts::email.eq(email.as_str()))
        .select((AccountRow::as_select(), accounts::password_hash))
        .get_result::<(AccountRow, String)>(c)
        .optional()?;
    let Some((account, hash)) = found else { return Ok(None) };
    Ok(Some((Account::try_from(account)?, hash)))
}

pub(super) fn set_plan(c: &mut SqlConnection, account: AccountId, plan: Plan) -> Result<bool, SqlError> {
    let changed = diesel::update(accounts::table.find(account.0))
        .filter(accounts::deleted_at_ms.is_null())
        .set(accounts::plan.eq(plan.as_str()))
        .execute(c)?;
    Ok(changed > 0)
}

pub(super) fn set_password_hash(
    c: &mut SqlConnection,
    account: AccountId,
    password_hash: &str,
    expected: Option<&str>,
) -> Result<bool, SqlError> {
    let known = accounts::table
        .find(account.0)
        .filter(accounts::deleted_at_ms.is_null())
        .select(accounts::password_hash)
        .get_result::<String>(c)
        .optional()?;
    if known.is_none_or(|known| expected.is_some_and(|expected| expected != known)) {
        return Ok(false);
    }
    diesel::update(accounts::table.find(account.0))
        .set(accounts::password_hash.eq(password_hash))
        .execute(c)?;
    end_all_sessions(c, account, None)?;
    Ok(true)
}

pub(super) fn mark_synced(c: &mut SqlConnection, account: AccountId, at: Timestamp) -> Result<(), SqlError> {
    diesel::update(accounts::table.find(account.0))
        .filter(accounts::synced_at_ms.is_null())
        .set(accounts::synced_at_ms.eq(at.millis()))
        .execute(c)?;
    Ok(())
}

/// Makes the account inaccessible at once. Its images and albums are removed in batches later.
pub(super) fn delete(c: &mut SqlConnection, account: AccountId, at: Timestamp) -> Result<bool, SqlError> {
    let ended = diesel::update(accounts::table.find(account.0))
        .filter(accounts::deleted_at_ms.is_null())
        .set((
            accounts::email.eq(None::<String>),
            accounts::sync_handle.eq(None::<String>),
            accounts::password_hash.eq(""),
            accounts::deleted_at_ms.eq(at.millis()),
        ))
        .execute(c)?;
    if ended == 0 {
        return Ok(false);
    }
    diesel::delete(api_keys::table.filter(api_keys::account_id.eq(account.0))).execute(c)?;
    end_all_sessions(c, account, None)?;
    delete_security_events(c, account)?;
    revoke_all_grants(c, account, UnixMillis(at.millis()))?;
    // This scans the queue, which is usually short, rather than the account's images.
    let own =
        images::table.filter(images::seq.eq(index_jobs::image_seq)).filter(images::account_id.eq(account.0));
    diesel::delete(index_jobs::table.filter(exists(own))).execute(c)?;
    Ok(true)
}
