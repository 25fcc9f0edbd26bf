//! What happened that matters to the safety of accounts: sign-ins, clients, grants, refusals, replays.
//!
//! Every event goes to the log under the target `security` with fields that can be searched: `event`, the client's
//! `address`, and where known `account`, `client_id` and `grant_id`. None of them opens anything; what does (passwords,
//! codes, tokens, keys, cookies) is never passed to these functions.

use std::net::IpAddr;

use domain::AccountId;

/// The target that a filter such as `RUST_LOG=security=info` names.
pub(crate) const TARGET: &str = "security";

/// Somebody signed in.
pub(crate) fn signed_in(address: IpAddr, account: AccountId) {
    tracing::info!(target: TARGET, event = "signed_in", %address, account = account.0, "signed in");
}

/// A sign-in failed. The email is not logged: people type passwords into that field.
pub(crate) fn sign_in_failed(address: IpAddr, reason: &'static str) {
    tracing::warn!(target: TARGET, event = "sign_in_failed", %address, reason, "a sign-in failed");
}

/// A session ended.
pub(crate) fn signed_out(address: IpAddr) {
    tracing::info!(target: TARGET, event = "signed_out", %address, "signed out");
}

/// An API key was made or revoked; `event` says which.
pub(crate) fn key_changed(address: IpAddr, account: AccountId, event: &'static str) {
    tracing::info!(target: TARGET, event, %address, account = account.0, "an API key was changed");
}

/// Somebody changed their password.
pub(crate) fn password_changed(address: IpAddr, account: AccountId) {
    let account = account.0;
    tracing::info!(target: TARGET, event = "password_changed", %address, account, "a password was changed");
}

/// Somebody deleted their account.
pub(crate) fn account_deleted(address: IpAddr, account: AccountId) {
    let account = account.0;
    tracing::warn!(target: TARGET, event = "account_deleted", %address, account, "an account was deleted");
}

/// The first account was made by a set-up link.
pub(crate) fn set_up(address: IpAddr) {
    tracing::info!(target: TARGET, event = "set_up", %address, "the first account was made");
}

/// A form came without its token, or from another site.
pub(crate) fn form_refused(address: IpAddr, reason: &'static str) {
    tracing::warn!(target: TARGET, event = "form_refused", %address, reason, "a form was refused");
}

/// A client was registered, or registered again.
pub(crate) fn client_registered(address: IpAddr, client_id: &str) {
    tracing::info!(target: TARGET, event = "client_registered", %address, client_id, "a client was registered");
}

/// A registration was refused.
pub(crate) fn registration_refused(address: IpAddr, code: &'static str) {
    tracing::info!(target: TARGET, event = "registration_refused", %address, code, "a registration was refused");
}

/// An authorization request was refused.
pub(crate) fn authorization_refused(address: IpAddr, code: &'static str) {
    tracing::info!(
        target: TARGET,
        event = "authorization_refused",
        %address,
        code,
        "an authorization request was refused"
    );
}

/// The document in which an app describes itself could not be fetched, or not be used; `reason` is for operators alone.
pub(crate) fn client_document_refused(address: IpAddr, client_id: &str, reason: &str) {
    let (client_id, reason) = (beginning(client_id), beginning(reason));
    tracing::info!(
        target: TARGET,
        event = "client_document_refused",
        %address,
        client_id,
        reason,
        "the document of an app was refused"
    );
}

/// A user answered a consent form.
pub(crate) fn consent_answered(address: IpAddr, account: AccountId, client_id: &str, allowed: bool) {
    tracing::info!(
        target: TARGET,
        event = if allowed { "consent_given" } else { "consent_denied" },
        %address,
        account = account.0,
        client_id,
        "a consent form was answered"
    );
}

/// The most bytes that are logged of what somebody sent, such as a client id: ours have 26.
const MAX_FOREIGN_BYTES: usize = 256;

/// As much of a foreign text as is logged.
fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_FOREIGN_BYTES)).unwrap_or_default()
}

/// What somebody sent as a client id, who proved nothing yet: as much of it as an id may have.
fn claimed(client_id: Option<&str>) -> Option<&str> {
    client_id.map(beginning)
}

/// Tokens were issued.
pub(crate) fn tokens_issued(address: IpAddr, client_id: &str, refreshed: bool) {
    let event = if refreshed { "tokens_refreshed" } else { "code_redeemed" };
    tracing::info!(target: TARGET, event, %address, client_id, "tokens were issued");
}

/// A token request was refused.
pub(crate) fn token_refused(address: IpAddr, client_id: Option<&str>, code: &'static str) {
    let client_id = claimed(client_id);
    tracing::info!(target: TARGET, event = "token_refused", %address, client_id, code, "a token request was refused");
}

/// A refresh token was used that had been replaced: by a client that runs twice, or by a thief.
pub(crate) fn refresh_token_replayed(
    address: IpAddr,
    client_id: Option<&str>,
    grant_id: &str,
    grant_ended: bool,
) {
    tracing::warn!(
        target: TARGET,
        event = "refresh_token_replayed",
        %address,
        client_id,
        grant_id,
        grant_ended,
        "a refresh token that had been replaced was used"
    );
}

/// A code was used again.
pub(crate) fn code_replayed(address: IpAddr, client_id: Option<&str>, grant_id: &str) {
    tracing::warn!(
        target: TARGET,
        event = "code_replayed",
        %address,
        client_id,
        grant_id,
        "an authorization code was used again"
    );
}

/// A grant was revoked by one of its tokens.
pub(crate) fn grant_revoked(address: IpAddr, grant_id: &str) {
    tracing::info!(target: TARGET, event = "grant_revoked", %address, grant_id, "a grant was revoked");
}

/// A token was good but does not allow what was asked.
pub(crate) fn scope_refused(address: IpAddr, client_id: &str, grant_id: &str) {
    tracing::warn!(
        target: TARGET,
        event = "insufficient_scope",
        %address,
        client_id,
        grant_id,
        "a token lacks the scope of the resource"
    );
}

/// Too much came from one address or with one token.
pub(crate) fn rate_limited(address: IpAddr, what: &'static str) {
    tracing::warn!(target: TARGET, event = "rate_limited", %address, what, "too many requests");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_fills_the_log_with_a_client_id() {
        assert_eq!(claimed(None), None);
        assert_eq!(claimed(Some("2whoyehpazsbp223hy5pdmi3am")), Some("2whoyehpazsbp223hy5pdmi3am"));
        assert_eq!(claimed(Some(&"ä".repeat(100_000))), Some("ä".repeat(128).as_str()));
        assert_eq!(claimed(Some(&format!("x{}", "ä".repeat(200)))).map(str::len), Some(255));
    }
}
