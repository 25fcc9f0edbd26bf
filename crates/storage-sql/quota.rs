//! The bytes that accounts store.

use diesel::prelude::*;
use storage::exceeds_quota;

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{accounts::adjust_stored_bytes, schema::accounts, value::RowReader},
};

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
