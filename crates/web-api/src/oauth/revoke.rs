use std::net::IpAddr;

use http::{StatusCode, request::Parts};
use oauth_core::{RevokeRequest, Revoked};

use super::{
    endpoint::Endpoint,
    oauth_error::{refusal, unavailable},
    rate_limits::RateLimits,
};
use crate::{Api, security_log};
use http_server::{
    body::{BodyKind, RequestBody},
    reply::{Reply, json},
};

const ENDPOINT: Endpoint = Endpoint {
    name: "revocation",
    malformed: "invalid_request",
    takes_forms: true,
    limit: RateLimits::check_token_request,
};

/// `POST /api/oauth/revoke` (RFC 7009): whoever has a token may end its grant.
pub(super) async fn handle(api: &Api, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let posted = match ENDPOINT.read(api, parts, body, address).await {
        Ok(posted) => posted,
        Err(reply) => return reply,
    };
    let read = match posted.kind {
        BodyKind::Form => RevokeRequest::from_form(&posted.bytes),
        BodyKind::Json => RevokeRequest::from_json(&posted.bytes),
    };
    let request = match read {
        Ok(request) => request,
        Err(refused) => return refusal(StatusCode::BAD_REQUEST, &refused.body()),
    };
    match api.authorization.server.revoke(request.token()).await {
        Ok(revoked) => {
            if let Revoked::Grant(grant) = revoked {
                security_log::grant_revoked(address, &grant);
            }
            json(StatusCode::OK, &serde_json::Map::new())
        }
        Err(error) => unavailable(&error),
    }
}
