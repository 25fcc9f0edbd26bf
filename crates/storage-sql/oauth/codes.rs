use diesel::{OptionalExtension, prelude::*};
use domain::AccountId;
use oauth_core::{CodeStatus, Grant, IssuedCode, NewCode, Redemption, SecretHash, UnixMillis};

use super::{
    clients,
    refresh::rotations_json,
    row::{GrantRow, scopes_json},
};
use crate::{
    Lock, SqlConnection,
    error::SqlError,
    lock,
    sql::{accounts::is_active, schema::oauth_grants},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = oauth_grants, check_for_backend(crate::Backend))]
struct CodeRow {
    #[diesel(embed)]
    grant: GrantRow,
    redirect_uri: String,
    challenge: String,
    code_expires_at_ms: i64,
    redeemed_at_ms: Option<i64>,
}

impl TryFrom<CodeRow> for IssuedCode {
    type Error = SqlError;

    fn try_from(row: CodeRow) -> Result<Self, SqlError> {
        Ok(Self {
            grant: Grant::try_from(row.grant)?,
            redirect_uri: row.redirect_uri,
            challenge: row.challenge,
            expires_at: UnixMillis(row.code_expires_at_ms),
            redeemed_at: row.redeemed_at_ms.map(UnixMillis),
        })
    }
}

pub(super) fn by_hash(c: &mut SqlConnection, hash: &SecretHash) -> Result<Option<IssuedCode>, SqlError> {
    oauth_grants::table
        .filter(oauth_grants::code_hash.eq(hash.0.as_slice()))
        .select(CodeRow::as_select())
        .get_result(c)
        .optional()?
        .map(IssuedCode::try_from)
        .transpose()
}

/// Stores a code, unless its account does not exist.
pub(super) fn issue(
    c: &mut SqlConnection,
    account: AccountId,
    new: &NewCode,
) -> Result<CodeStatus, SqlError> {
    let (code, grant) = (&new.code, &new.code.grant);
    // So that no registration of others evicts the client meanwhile.
    lock::take(c, Lock::Clients)?;
    if !is_active(c, account.0)? {
        return Ok(CodeStatus::Spent);
    }
    if let Some(known) = by_hash(c, &new.hash)? {
        return Ok(if is_pending_for_same_request(&known, code) {
            CodeStatus::Pending
        } else {
            CodeStatus::Spent
        });
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

/// Whether a stored code is pending and of the same request as a new one: a form that is sent twice creates two grant
/// ids.
fn is_pending_for_same_request(known: &IssuedCode, new: &IssuedCode) -> bool {
    let bound = |code: &IssuedCode| {
        let grant = &code.grant;
        (
            grant.client_id.clone(),
            grant.subject.clone(),
            grant.resource.clone(),
            grant.scopes.clone(),
            code.redirect_uri.clone(),
            code.challenge.clone(),
        )
    };
    known.redeemed_at.is_none() && known.grant.revoked_at.is_none() && bound(known) == bound(new)
}

/// Redeems a code. A single statement, so that of two concurrent redemptions the second changes no row.
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
