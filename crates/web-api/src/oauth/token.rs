use std::net::IpAddr;

use domain::{AccountId, SecurityEventKind};
use http::request::Parts;
use oauth_core::{GrantKey, InvalidGrantReason, StoreError, TokenError, TokenRequest};
use web_auth::{RateLimits, app_name, security_log};

use super::{
    endpoint::Endpoint,
    reply::{reply, too_many, unavailable},
};
use crate::Api;
use http_server::{body::RequestBody, reply::Reply};

const ENDPOINT: Endpoint =
    Endpoint { name: "token", endpoint: oauth_core::Endpoint::Token, limit: RateLimits::check_token_request };

/// `POST /api/oauth/token` (RFC 6749, section 3.2): exchanges a code or a refresh token for an access token.
pub(super) async fn handle(api: &Api, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let body = match ENDPOINT.read(api, parts, body, address).await {
        Ok(body) => body,
        Err(reply) => return reply,
    };
    let request = match TokenRequest::from_http(parts, &body) {
        Ok(request) => request,
        Err(error) => return error_reply(&error, None, address),
    };
    if let Err(retry_after_s) = api.authorization.limits.check_same_token(request.token_hash()) {
        security_log::rate_limited(address, "the same token");
        return too_many(retry_after_s);
    }
    let client_id = request.claimed_client_id().to_owned();
    let is_refresh = request.is_refresh();
    match api.authorization.server.token(request).await {
        Ok(tokens) => {
            security_log::tokens_issued(address, &client_id, is_refresh);
            reply(tokens.response())
        }
        Err(error) => {
            if let TokenError::InvalidGrant(InvalidGrantReason::TokenReplayed { grant_id, ended: true }) =
                &error
            {
                notify_owner(api, grant_id, address).await;
            }
            error_reply(&error, Some(&client_id), address)
        }
    }
}

/// Shows the owner of a grant on their account page that it was revoked for safety.
async fn notify_owner(api: &Api, grant_id: &str, address: IpAddr) {
    let grants = api.library.accounts.grants();
    let recorded = async {
        let Some(found) = grants.grant(GrantKey::Id(grant_id)).await? else { return Ok(()) };
        let grant = found.grant;
        let client = grants.client(&grant.client_id).await?;
        let name = client.map(|client| app_name(&client.id, &client.metadata.client_name));
        if let Ok(account) = grant.subject.parse().map(AccountId) {
            let kind = SecurityEventKind::AppTokenReplayed;
            api.library.accounts.record_security_event(account, kind, Some(address), name.as_deref()).await;
        }
        Ok::<_, StoreError>(())
    };
    if let Err(error) = recorded.await {
        tracing::warn!(%error, grant_id, "the revocation of a grant could not be recorded for its owner");
    }
}

fn error_reply(error: &TokenError, client_id: Option<&str>, address: IpAddr) -> Reply {
    match error {
        TokenError::Unavailable(cause) => return unavailable(cause),
        TokenError::InvalidGrant(InvalidGrantReason::TokenReplayed { grant_id, ended }) => {
            security_log::refresh_token_replayed(address, client_id, grant_id, *ended);
        }
        TokenError::InvalidGrant(InvalidGrantReason::CodeReplayed { grant_id }) => {
            security_log::code_replayed(address, client_id, grant_id);
        }
        TokenError::RefusedAssertion(refused) => {
            security_log::client_assertion_refused(address, client_id, refused);
        }
        _ => security_log::token_refused(address, client_id, error.code()),
    }
    reply(error.response())
}
