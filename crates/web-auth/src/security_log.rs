//! The security log: sign-ins, clients, grants, rejections and replays.
//!
//! Every event is logged under the target `security` with searchable fields: `event`, the client's `address`, and where
//! known `account`, `client_id` and `grant_id`. None of them is a secret. Passwords, codes, tokens, keys and cookies are
//! never passed to these functions.

use std::net::IpAddr;

use domain::AccountId;
use oauth_core::AssertionRefused;

/// The log target, for filters such as `RUST_LOG=security=info`.
const TARGET: &str = "security";

/// A person signed in.
pub fn signed_in(address: IpAddr, account: AccountId) {
    tracing::info!(target: TARGET, event = "signed_in", %address, account = account.0, "signed in");
}

/// A sign-in failed. The email is not logged: people type passwords into that field.
pub fn sign_in_failed(address: IpAddr, reason: &'static str) {
    tracing::warn!(target: TARGET, event = "sign_in_failed", %address, reason, "sign-in failed");
}

/// A session ended.
pub fn signed_out(address: IpAddr) {
    tracing::info!(target: TARGET, event = "signed_out", %address, "signed out");
}

/// A sync password was created or revoked, by hand or by the sign-in of a device; `event` says which.
pub fn sync_password_changed(address: IpAddr, account: AccountId, event: &'static str) {
    let account = account.0;
    tracing::info!(target: TARGET, event, %address, account, "a sync password was changed");
}

/// An API key was created or revoked; `event` says which.
pub fn key_changed(address: IpAddr, account: AccountId, event: &'static str) {
    tracing::info!(target: TARGET, event, %address, account = account.0, "an API key was changed");
}

/// A person changed their password.
pub fn password_changed(address: IpAddr, account: AccountId) {
    let account = account.0;
    tracing::info!(target: TARGET, event = "password_changed", %address, account, "a password was changed");
}

/// A person deleted their account.
pub fn account_deleted(address: IpAddr, account: AccountId) {
    let account = account.0;
    tracing::warn!(target: TARGET, event = "account_deleted", %address, account, "an account was deleted");
}

/// The first account was created with a set-up link.
pub fn set_up(address: IpAddr) {
    tracing::info!(target: TARGET, event = "set_up", %address, "the first account was created");
}

/// A form was rejected: it had no valid token, or came from another site.
pub fn form_refused(address: IpAddr, reason: &'static str) {
    tracing::warn!(target: TARGET, event = "form_refused", %address, reason, "form rejected");
}

/// A client was registered, possibly again.
pub fn client_registered(address: IpAddr, client_id: &str) {
    tracing::info!(target: TARGET, event = "client_registered", %address, client_id, "client registered");
}

/// A registration was rejected.
pub fn registration_refused(address: IpAddr, code: &'static str) {
    tracing::info!(target: TARGET, event = "registration_refused", %address, code, "registration rejected");
}

/// An authorization request was rejected.
pub fn authorization_refused(address: IpAddr, code: &'static str) {
    tracing::info!(
        target: TARGET,
        event = "authorization_refused",
        %address,
        code,
        "authorization request rejected"
    );
}

/// A client ID metadata document could not be fetched or is invalid; `reason` is for operators only.
pub fn client_document_refused(address: IpAddr, client_id: &str, reason: &str) {
    let (client_id, reason) = (truncate(client_id), truncate(reason));
    tracing::info!(
        target: TARGET,
        event = "client_document_refused",
        %address,
        client_id,
        reason,
        "client ID metadata document rejected"
    );
}

/// A client's assertion at the token or revocation endpoint was rejected.
pub fn client_assertion_refused(address: IpAddr, client_id: Option<&str>, refused: &AssertionRefused) {
    let client_id = client_id.map(truncate);
    tracing::info!(
        target: TARGET,
        event = "client_assertion_refused",
        %address,
        client_id,
        reason = %refused,
        "client assertion rejected"
    );
}

/// A user answered a consent form.
pub fn consent_answered(address: IpAddr, account: AccountId, client_id: &str, allowed: bool) {
    tracing::info!(
        target: TARGET,
        event = if allowed { "consent_given" } else { "consent_denied" },
        %address,
        account = account.0,
        client_id,
        "consent form answered"
    );
}

/// Upper bound on a logged text from outside, such as a client id. Ids of this service have 26 bytes.
const MAX_LOGGED_BYTES: usize = 256;

/// Truncates a text from outside for the log.
fn truncate(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_LOGGED_BYTES)).unwrap_or_default()
}

/// Tokens were issued.
pub fn tokens_issued(address: IpAddr, client_id: &str, refreshed: bool) {
    let event = if refreshed { "tokens_refreshed" } else { "code_redeemed" };
    tracing::info!(target: TARGET, event, %address, client_id, "tokens issued");
}

/// A token request was rejected.
pub fn token_refused(address: IpAddr, client_id: Option<&str>, code: &'static str) {
    let client_id = client_id.map(truncate);
    tracing::info!(target: TARGET, event = "token_refused", %address, client_id, code, "token request rejected");
}

/// A replaced refresh token was used, by a client that runs twice or by a thief.
pub fn refresh_token_replayed(address: IpAddr, client_id: Option<&str>, grant_id: &str, grant_ended: bool) {
    tracing::warn!(
        target: TARGET,
        event = "refresh_token_replayed",
        %address,
        client_id,
        grant_id,
        grant_ended,
        "a replaced refresh token was used"
    );
}

/// An authorization code was used again.
pub fn code_replayed(address: IpAddr, client_id: Option<&str>, grant_id: &str) {
    tracing::warn!(
        target: TARGET,
        event = "code_replayed",
        %address,
        client_id,
        grant_id,
        "an authorization code was used again"
    );
}

/// A grant was revoked.
pub fn grant_revoked(address: IpAddr, grant_id: &str) {
    tracing::info!(target: TARGET, event = "grant_revoked", %address, grant_id, "grant revoked");
}

/// A valid token lacks the required scope.
pub fn scope_refused(address: IpAddr, client_id: &str, grant_id: &str) {
    tracing::warn!(
        target: TARGET,
        event = "insufficient_scope",
        %address,
        client_id,
        grant_id,
        "a token lacks the scope of the resource"
    );
}

/// An address or a token reached a rate limit; `what` names the limit.
pub fn rate_limited(address: IpAddr, what: &'static str) {
    tracing::warn!(target: TARGET, event = "rate_limited", %address, what, "rate limit reached");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_client_ids_are_truncated() {
        assert_eq!(truncate("2whoyehpazsbp223hy5pdmi3am"), "2whoyehpazsbp223hy5pdmi3am");
        assert_eq!(truncate(&"ä".repeat(100_000)), "ä".repeat(128));
        assert_eq!(truncate(&format!("x{}", "ä".repeat(200))).len(), 255);
    }
}
