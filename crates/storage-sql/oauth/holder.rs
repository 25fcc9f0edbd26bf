use diesel::{OptionalExtension, prelude::*};
use domain::{Account, AccountId};
use oauth_core::{Connection, Grant, UnixMillis};
use storage::GrantHolder;

use super::{clients::metadata, row::GrantRow};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        account_rows::AccountRow,
        schema::{accounts, oauth_clients, oauth_grants},
        value::RowReader,
    },
};

/// The holder of a grant. Every request of a client runs this, so it is a single prepared statement.
pub(super) fn of(c: &mut SqlConnection, id: &str) -> Result<Option<GrantHolder>, SqlError> {
    let found = oauth_grants::table
        .inner_join(accounts::table)
        .filter(oauth_grants::id.eq(id))
        .filter(accounts::deleted_at_ms.is_null())
        .select((GrantRow::as_select(), oauth_grants::last_used_at_ms, AccountRow::as_select()))
        .get_result::<(GrantRow, Option<i64>, AccountRow)>(c)
        .optional()?;
    let Some((grant, last_used_at_ms, account)) = found else { return Ok(None) };
    Ok(Some(GrantHolder {
        account: Account::try_from(account)?,
        grant: Grant::try_from(grant)?,
        last_used_at: RowReader::new("oauth_grants", &id)
            .optional_timestamp("last_used_at_ms", last_used_at_ms)?,
    }))
}

/// The grants of an account as listed for its owner, newest first.
pub(super) fn connections(c: &mut SqlConnection, account: AccountId) -> Result<Vec<Connection>, SqlError> {
    let rows: Vec<(GrantRow, String, Option<i64>, Option<String>)> = oauth_grants::table
        .left_join(oauth_clients::table.on(oauth_clients::id.eq(oauth_grants::client_id)))
        .filter(oauth_grants::account_id.eq(account.0))
        .filter(oauth_grants::redeemed_at_ms.is_not_null())
        .filter(oauth_grants::revoked_at_ms.is_null())
        .order((oauth_grants::created_at_ms.desc(), oauth_grants::seq.desc()))
        .select((
            GrantRow::as_select(),
            oauth_grants::redirect_uri,
            oauth_grants::last_used_at_ms,
            oauth_clients::metadata.nullable(),
        ))
        .load(c)?;
    rows.into_iter()
        .map(|(grant, redirect_uri, last_used_at_ms, client)| {
            let grant = Grant::try_from(grant)?;
            let reader = RowReader::new("oauth_clients", &grant.client_id);
            let client = client.map(|json| metadata(reader, &json)).transpose()?;
            Ok(Connection {
                client_name: client.map(|client| client.client_name),
                redirect_uri,
                last_used_at: last_used_at_ms.map(UnixMillis),
                grant,
            })
        })
        .collect()
}
