use std::net::IpAddr;

use http::{StatusCode, request::Parts};
use oauth_core::{RevokeRequest, Revoked};
use web_auth::{RateLimits, security_log};

use super::{
    endpoint::Endpoint,
    oauth_error::{rejection, unavailable},
};
use crate::Api;
use http_server::{
    body::{BodyKind, RequestBody},
    reply::{Reply, json},
};

const ENDPOINT: Endpoint = Endpoint {
    name: "revocation",
    malformed: "invalid_request",
    accepts_forms: true,
    limit: RateLimits::check_token_request,
};

/// `POST /api/oauth/revoke` (RFC 7009): anyone who has a token can revoke its grant.
pub(super) async fn handle(api: &Api, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let body = match ENDPOINT.read(api, parts, body, address).await {
        Ok(body) => body,
        Err(reply) => return reply,
    };
    let read = match body.kind {
        BodyKind::Form => RevokeRequest::from_form(&body.bytes),
        BodyKind::Json => RevokeRequest::from_json(&body.bytes),
    };
    let request = match read {
        Ok(request) => request,
        Err(error) => return rejection(StatusCode::BAD_REQUEST, &error.body()),
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
