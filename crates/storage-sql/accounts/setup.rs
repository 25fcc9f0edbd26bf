use diesel::{
    dsl::{exists, select},
    prelude::*,
};
use domain::{Account, Timestamp};
use storage::{MAX_SETUP_LINKS, NewAccount, SetupHash};

use super::rows;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::schema::{accounts, setup_links, setup_links::created_at_ms, setup_links::hash},
};

pub(super) fn has_account(c: &mut SqlConnection) -> Result<bool, SqlError> {
    let account = accounts::table.filter(accounts::deleted_at_ms.is_null());
    Ok(select(exists(account)).get_result::<bool>(c)?)
}

pub(super) fn create_link(c: &mut SqlConnection, link: &SetupHash, at: Timestamp) -> Result<bool, SqlError> {
    if has_account(c)? {
        return Ok(false);
    }
    diesel::insert_into(setup_links::table)
        .values((hash.eq(link.as_slice()), created_at_ms.eq(at.millis())))
        .on_conflict_do_nothing()
        .execute(c)?;
    let oldest = setup_links::table
        .order((created_at_ms.desc(), hash))
        .offset(i64::from(MAX_SETUP_LINKS))
        .select(hash)
        .load::<Vec<u8>>(c)?;
    diesel::delete(setup_links::table.filter(hash.eq_any(oldest))).execute(c)?;
    Ok(true)
}

pub(super) fn is_valid(c: &mut SqlConnection, link: &SetupHash) -> Result<bool, SqlError> {
    let known = setup_links::table.filter(hash.eq(link.as_slice()));
    Ok(select(exists(known)).get_result::<bool>(c)? && !has_account(c)?)
}

pub(super) fn create_first_account(
    c: &mut SqlConnection,
    link: &SetupHash,
    account: &NewAccount,
) -> Result<Option<Account>, SqlError> {
    if is_valid(c, link)? { rows::create(c, account) } else { Ok(None) }
}

/// Makes all links invalid, once an account exists.
pub(super) fn delete_links(c: &mut SqlConnection) -> Result<(), SqlError> {
    diesel::delete(setup_links::table).execute(c)?;
    Ok(())
}
