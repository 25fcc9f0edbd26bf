use std::net::IpAddr;

use http::request::Parts;
use oauth_core::{AssertionError, RevokeRequest, Revoked};
use web_auth::{RateLimits, security_log};

use super::{
    endpoint::Endpoint,
    reply::{reply, unavailable},
};
use crate::Api;
use http_server::{body::RequestBody, reply::Reply};

const ENDPOINT: Endpoint = Endpoint {
    name: "revocation",
    endpoint: oauth_core::Endpoint::Revocation,
    limit: RateLimits::check_token_request,
};

/// `POST /api/oauth/revoke` (RFC 7009): anyone who has a token can revoke its grant. An assertion that a client sends must be
/// valid.
pub(super) async fn handle(api: &Api, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let body = match ENDPOINT.read(api, parts, body, address).await {
        Ok(body) => body,
        Err(reply) => return reply,
    };
    let request = match RevokeRequest::from_http(parts, &body) {
        Ok(request) => request,
        Err(error) => return reply(error.response()),
    };
    match api.authorization.server.revoke(&request).await {
        Ok(revoked) => {
            if let Revoked::Grant(grant) = &revoked {
                security_log::grant_revoked(address, grant);
            }
            reply(revoked.response())
        }
        Err(AssertionError::Unavailable(error)) => unavailable(&error),
        Err(AssertionError::Refused(refused)) => {
            security_log::client_assertion_refused(address, None, &refused);
            reply(AssertionError::Refused(refused).response())
        }
    }
}
