use diesel::prelude::*;
use domain::AccountId;
use oauth_core::{CodeStatus, NewCode, Redemption};

use super::{clients, refresh::rotations_json, row::scopes_json, stored};
use crate::{
    Lock, SqlConnection,
    error::SqlError,
    lock,
    sql::{account_rows::is_active, schema::oauth_grants},
};

/// Stores a code, unless its account does not exist.
pub(super) fn issue(
    c: &mut SqlConnection,
    account: AccountId,
    new: &NewCode,
) -> Result<CodeStatus, SqlError> {
    let NewCode { code, grant, .. } = new;
    // With this lock, no registration of another client evicts this client meanwhile.
    lock::take(c, Lock::Clients)?;
    if !is_active(c, account.0)? {
        return Ok(CodeStatus::Spent);
    }
    if let Some(known) = stored::by_code(c, &new.hash)? {
        return Ok(known.status_for(new));
    }
    diesel::insert_into(oauth_grants::table)
        .values((
            oauth_grants::id.eq(&grant.id),
            oauth_grants::client_id.eq(&grant.client_id),
            oauth_grants::account_id.eq(account.0),
            oauth_grants::resource.eq(&grant.resource),
            oauth_grants::scopes.eq(scopes_json(&grant.scopes)?),
            oauth_grants::created_at_ms.eq(grant.created_at.0),
            oauth_grants::code_hash.eq(new.hash.0.as_slice()),
            oauth_grants::redirect_uri.eq(&code.redirect_uri),
            oauth_grants::challenge.eq(&code.challenge),
            oauth_grants::code_expires_at_ms.eq(code.expires_at.0),
        ))
        .execute(c)?;
    if let Some(client) = &new.client {
        clients::upsert(c, client)?;
    }
    clients::record_first_grant(c, &grant.client_id, grant.created_at)?;
    Ok(CodeStatus::Pending)
}

/// Redeems a code. This is a single statement, so the second of two concurrent redemptions changes no row.
pub(super) fn redeem(c: &mut SqlConnection, redemption: &Redemption) -> Result<bool, SqlError> {
    let pending = oauth_grants::table
        .filter(oauth_grants::code_hash.eq(redemption.code.0.as_slice()))
        .filter(oauth_grants::redeemed_at_ms.is_null())
        .filter(oauth_grants::revoked_at_ms.is_null())
        .filter(oauth_grants::code_expires_at_ms.gt(redemption.at.0));
    let refresh = redemption.refresh.as_ref();
    let token = refresh.map(|refresh| &refresh.token);
    let rotations = token.map(|token| rotations_json(&token.recent_rotations)).transpose()?;
    let redeemed = diesel::update(pending)
        .set((
            oauth_grants::redeemed_at_ms.eq(redemption.at.0),
            oauth_grants::access_expires_at_ms.eq(redemption.access_expires_at.0),
            oauth_grants::refresh_handle.eq(refresh.map(|refresh| refresh.handle.0.as_slice())),
            oauth_grants::refresh_hash.eq(token.map(|token| token.hash.0.as_slice())),
            oauth_grants::refresh_generation.eq(token.map(|token| i64::from(token.generation))),
            oauth_grants::refresh_expires_at_ms.eq(token.map(|token| token.expires_at.0)),
            oauth_grants::recent_rotations.eq(rotations),
        ))
        .execute(c)?;
    Ok(redeemed == 1)
}

/// Deletes the codes of an account that no app has redeemed.
pub(crate) fn delete_unredeemed(c: &mut SqlConnection, account: AccountId) -> Result<(), SqlError> {
    let unredeemed = oauth_grants::table
        .filter(oauth_grants::account_id.eq(account.0))
        .filter(oauth_grants::redeemed_at_ms.is_null());
    diesel::delete(unredeemed).execute(c)?;
    Ok(())
}
