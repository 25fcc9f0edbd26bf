use std::net::IpAddr;

use domain::{AccountId, SecurityEventKind};
use http::{HeaderValue, StatusCode, header, request::Parts};
use oauth_core::{InvalidGrantReason, StoreError, TokenError, TokenRequest};

use super::{
    app_name,
    endpoint::Endpoint,
    oauth_error::{refusal, too_many, unavailable},
    rate_limits::RateLimits,
};
use crate::{Api, security_log};
use http_server::{
    authorization_header,
    body::{BodyKind, RequestBody},
    reply::{Reply, WithHeader as _, json},
};

const ENDPOINT: Endpoint = Endpoint {
    name: "token",
    malformed: "invalid_request",
    takes_forms: true,
    limit: RateLimits::check_token_request,
};

/// `POST /api/oauth/token` (RFC 6749, section 3.2): a code or a refresh token in, an access token out.
pub(super) async fn handle(api: &Api, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let posted = match ENDPOINT.read(api, parts, body, address).await {
        Ok(posted) => posted,
        Err(reply) => return reply,
    };
    let Ok(authorization) = authorization_header::authorization(&parts.headers) else {
        return ENDPOINT.refusal("there is more than one Authorization header");
    };
    let read = match posted.kind {
        BodyKind::Form => TokenRequest::from_form(&posted.bytes, authorization),
        BodyKind::Json => TokenRequest::from_json(&posted.bytes, authorization),
    };
    let request = match read {
        Ok(request) => request,
        Err(refused) => return refused_reply(&refused, None, address),
    };
    if let Err(retry_after_s) = api.authorization.limits.check_same_token(request.token_hash()) {
        security_log::rate_limited(address, "the same token");
        return too_many(retry_after_s);
    }
    let client_id = request.claimed_client_id().to_owned();
    let refreshed = request.is_refresh();
    match api.authorization.server.token(request).await {
        Ok(tokens) => {
            security_log::tokens_issued(address, &client_id, refreshed);
            json(StatusCode::OK, &tokens).with(header::PRAGMA, HeaderValue::from_static("no-cache"))
        }
        Err(refused) => {
            if let TokenError::InvalidGrant(InvalidGrantReason::TokenReplayed { grant_id, ended: true }) =
                &refused
            {
                tell_owner(api, grant_id, address).await;
            }
            refused_reply(&refused, Some(&client_id), address)
        }
    }
}

/// Has the owner of a grant see on their account page that it was ended for safety's sake.
async fn tell_owner(api: &Api, grant_id: &str, address: IpAddr) {
    let grants = api.library.grants();
    let told = async {
        let Some(grant) = grants.grant(grant_id).await? else { return Ok(()) };
        let client = grants.client(&grant.client_id).await?;
        let name = client.map(|client| app_name(&client.id, &client.metadata.client_name));
        if let Ok(account) = grant.subject.parse().map(AccountId) {
            let kind = SecurityEventKind::AppTokenReplayed;
            api.library.record_security_event(account, kind, Some(address), name.as_deref()).await;
        }
        Ok::<_, StoreError>(())
    };
    if let Err(error) = told.await {
        tracing::warn!(%error, grant_id, "the owner is not told that a grant was ended");
    }
}

fn refused_reply(refused: &TokenError, client_id: Option<&str>, address: IpAddr) -> Reply {
    let status = match refused {
        TokenError::Unavailable(error) => return unavailable(error),
        TokenError::InvalidClient => StatusCode::UNAUTHORIZED,
        _ => StatusCode::BAD_REQUEST,
    };
    match refused {
        TokenError::InvalidGrant(InvalidGrantReason::TokenReplayed { grant_id, ended }) => {
            security_log::refresh_token_replayed(address, client_id, grant_id, *ended);
        }
        TokenError::InvalidGrant(InvalidGrantReason::CodeReplayed { grant_id }) => {
            security_log::code_replayed(address, client_id, grant_id);
        }
        _ => security_log::token_refused(address, client_id, refused.code()),
    }
    let reply = refusal(status, &refused.body());
    match refused {
        TokenError::InvalidClient => {
            let challenge = HeaderValue::from_static("Basic realm=\"token endpoint\", charset=\"UTF-8\"");
            reply.with(header::WWW_AUTHENTICATE, challenge)
        }
        _ => reply,
    }
}
