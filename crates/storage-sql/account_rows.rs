//! Rows of accounts, and the counts in them.

use diesel::{OptionalExtension, prelude::*};
use domain::{Account, AccountId, Email, SyncHandle};
use storage::exceeds_quota;

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{schema::accounts, value::RowReader},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = accounts, check_for_backend(crate::Backend))]
pub(crate) struct AccountRow {
    pub(crate) id: i64,
    email: Option<String>,
    plan: String,
    sync_handle: Option<String>,
    synced_at_ms: Option<i64>,
    created_at_ms: i64,
}

impl TryFrom<AccountRow> for Account {
    type Error = SqlError;

    fn try_from(row: AccountRow) -> Result<Self, SqlError> {
        let reader = RowReader::new("accounts", &row.id);
        let email = row.email.as_deref().and_then(|email| Email::parse(email).ok());
        Ok(Self {
            id: AccountId(row.id),
            email: reader.required("email", email)?,
            plan: row.plan.parse().map_err(|_| reader.unreadable("plan"))?,
            sync_handle: reader
                .required("sync_handle", row.sync_handle.as_deref().and_then(SyncHandle::parse))?,
            synced_at: reader.optional_timestamp("synced_at_ms", row.synced_at_ms)?,
            created_at: reader.timestamp("created_at_ms", row.created_at_ms)?,
        })
    }
}

/// Whether the account exists and is not deleted.
pub(crate) fn is_active(c: &mut SqlConnection, account: i64) -> Result<bool, SqlError> {
    let found = accounts::table
        .find(account)
        .filter(accounts::deleted_at_ms.is_null())
        .select(accounts::id)
        .get_result::<i64>(c)
        .optional()?;
    Ok(found.is_some())
}

/// Adds to the count of live images.
pub(crate) fn adjust_live_images(
    c: &mut SqlConnection,
    account: i64,
    difference: i64,
) -> Result<(), SqlError> {
    diesel::update(accounts::table.find(account))
        .set(accounts::live_images.eq(accounts::live_images + difference))
        .execute(c)?;
    Ok(())
}

/// Adds to the number of bytes that the account stores.
pub(crate) fn adjust_stored_bytes(
    c: &mut SqlConnection,
    account: i64,
    difference: i64,
) -> Result<(), SqlError> {
    diesel::update(accounts::table.find(account))
        .set(accounts::stored_bytes.eq(accounts::stored_bytes + difference))
        .execute(c)?;
    Ok(())
}

/// Adds to the number of bytes that an account stores. `false` if the account would exceed its quota; then nothing changes.
pub(crate) fn store_bytes(
    c: &mut SqlConnection,
    account: i64,
    difference: i64,
    quota_bytes: Option<u64>,
) -> Result<bool, SqlError> {
    if let Ok(added @ 1..) = u64::try_from(difference) {
        let stored = accounts::table.find(account).select(accounts::stored_bytes).get_result(c)?;
        let stored = RowReader::new("accounts", &account).unsigned("stored_bytes", stored)?;
        if exceeds_quota(stored, added, quota_bytes) {
            return Ok(false);
        }
    }
    adjust_stored_bytes(c, account, difference)?;
    Ok(true)
}
