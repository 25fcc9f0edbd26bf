use diesel::prelude::*;
use domain::AccountId;
use oauth_core::{Grant, UnixMillis};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::oauth_grants,
        value::{RowReader, row_count},
    },
};

/// The columns that every query of a grant reads.
#[derive(Queryable, Selectable)]
#[diesel(table_name = oauth_grants, check_for_backend(crate::Backend))]
pub(super) struct GrantRow {
    pub(super) id: String,
    client_id: String,
    account_id: i64,
    resource: String,
    scopes: String,
    created_at_ms: i64,
    revoked_at_ms: Option<i64>,
}

impl TryFrom<GrantRow> for Grant {
    type Error = SqlError;

    fn try_from(row: GrantRow) -> Result<Self, SqlError> {
        let scopes = serde_json::from_str(&row.scopes).ok();
        Ok(Self {
            scopes: RowReader::new("oauth_grants", &row.id).required("scopes", scopes)?,
            id: row.id,
            client_id: row.client_id,
            subject: row.account_id.to_string(),
            resource: row.resource,
            created_at: UnixMillis(row.created_at_ms),
            revoked_at: row.revoked_at_ms.map(UnixMillis),
        })
    }
}

/// The account of a subject, which is the account id in canonical decimal form.
pub(super) fn account_of(subject: &str) -> Option<AccountId> {
    let number: i64 = subject.parse().ok()?;
    (number.to_string() == subject).then_some(AccountId(number))
}

pub(super) fn scopes_json(scopes: &[String]) -> Result<String, SqlError> {
    serde_json::to_string(scopes).map_err(|error| SqlError::Refused(error.to_string()))
}

pub(super) fn revoke(c: &mut SqlConnection, id: &str, at: UnixMillis) -> Result<u64, SqlError> {
    let alive =
        oauth_grants::table.filter(oauth_grants::id.eq(id)).filter(oauth_grants::revoked_at_ms.is_null());
    Ok(row_count(diesel::update(alive).set(oauth_grants::revoked_at_ms.eq(at.0)).execute(c)?))
}

/// Revokes all grants of an account, including those whose code is not redeemed yet.
pub(crate) fn revoke_all_of(
    c: &mut SqlConnection,
    account: AccountId,
    at: UnixMillis,
) -> Result<u64, SqlError> {
    let alive = oauth_grants::table
        .filter(oauth_grants::account_id.eq(account.0))
        .filter(oauth_grants::revoked_at_ms.is_null());
    Ok(row_count(diesel::update(alive).set(oauth_grants::revoked_at_ms.eq(at.0)).execute(c)?))
}

/// Records a use. Concurrent requests may do so out of order: the latest time stays.
pub(super) fn record_use(c: &mut SqlConnection, id: &str, at: UnixMillis) -> Result<(), SqlError> {
    let older = oauth_grants::last_used_at_ms.is_null().or(oauth_grants::last_used_at_ms.lt(at.0));
    diesel::update(oauth_grants::table.filter(oauth_grants::id.eq(id)).filter(older))
        .set(oauth_grants::last_used_at_ms.eq(at.0))
        .execute(c)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_a_canonical_decimal_number() {
        let check = |subject: &str, expected: Option<i64>| {
            assert_eq!(account_of(subject), expected.map(AccountId), "{subject:?}");
        };
        check("1", Some(1));
        check("16777215", Some(16_777_215));
        for subject in ["", "01", "+1", " 1", "1 ", "1.0", "one", "9223372036854775808", "١"] {
            check(subject, None);
        }
    }
}
