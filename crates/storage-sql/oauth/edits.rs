//! Which apps may edit the details of photos.

use diesel::{OptionalExtension, prelude::*};
use domain::AccountId;
use storage::GrantEdits;

use super::clients::metadata;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{grant_edits, oauth_clients, oauth_grants},
        value::RowReader,
    },
};

pub(super) fn of(c: &mut SqlConnection, id: &str) -> Result<Option<GrantEdits>, SqlError> {
    let found: Option<(Option<String>, Option<String>)> = oauth_grants::table
        .left_join(grant_edits::table.on(grant_edits::grant_id.eq(oauth_grants::id)))
        .left_join(oauth_clients::table.on(oauth_clients::id.eq(oauth_grants::client_id)))
        .filter(oauth_grants::id.eq(id))
        .select((grant_edits::grant_id.nullable(), oauth_clients::metadata.nullable()))
        .get_result(c)
        .optional()?;
    let Some((allowed, client)) = found else { return Ok(None) };
    let client = client.map(|json| metadata(RowReader::new("oauth_clients", &id), &json)).transpose()?;
    Ok(Some(GrantEdits {
        is_allowed: allowed.is_some(),
        client_name: client.map(|client| client.client_name),
    }))
}

pub(super) fn set(
    c: &mut SqlConnection,
    account: AccountId,
    id: &str,
    allowed: bool,
) -> Result<bool, SqlError> {
    let grant: Option<String> = oauth_grants::table
        .filter(oauth_grants::id.eq(id))
        .filter(oauth_grants::account_id.eq(account.0))
        .select(oauth_grants::id)
        .get_result(c)
        .optional()?;
    if grant.is_none() {
        return Ok(false);
    }
    if allowed {
        diesel::insert_into(grant_edits::table)
            .values(grant_edits::grant_id.eq(id))
            .on_conflict_do_nothing()
            .execute(c)?;
    } else {
        diesel::delete(grant_edits::table.find(id)).execute(c)?;
    }
    Ok(true)
}

pub(super) fn of_account(c: &mut SqlConnection, account: AccountId) -> Result<Vec<String>, SqlError> {
    Ok(oauth_grants::table
        .inner_join(grant_edits::table.on(grant_edits::grant_id.eq(oauth_grants::id)))
        .filter(oauth_grants::account_id.eq(account.0))
        .filter(oauth_grants::revoked_at_ms.is_null())
        .select(oauth_grants::id)
        .load(c)?)
}
