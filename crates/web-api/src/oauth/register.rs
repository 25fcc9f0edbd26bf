use std::net::IpAddr;

use http::{StatusCode, request::Parts};
use oauth_core::RegisterError;

use super::{
    endpoint::Endpoint,
    oauth_error::{refusal, unavailable},
    rate_limits::RateLimits,
};
use crate::{Api, security_log};
use http_server::{
    body::RequestBody,
    reply::{Reply, json},
};

const ENDPOINT: Endpoint = Endpoint {
    name: "registration",
    malformed: "invalid_client_metadata",
    takes_forms: false,
    limit: RateLimits::check_registration,
};

/// `POST /api/oauth/register`: dynamic client registration (RFC 7591), open to everyone.
pub(super) async fn handle(api: &Api, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let posted = match ENDPOINT.read(api, parts, body, address).await {
        Ok(posted) => posted,
        Err(reply) => return reply,
    };
    match api.authorization.server.register(&posted.bytes).await {
        Ok(client) => {
            security_log::client_registered(address, &client.client_id);
            json(StatusCode::CREATED, &client)
        }
        Err(RegisterError::Unavailable(error)) => unavailable(&error),
        Err(refused) => {
            security_log::registration_refused(address, refused.code());
            refusal(StatusCode::BAD_REQUEST, &refused.body())
        }
    }
}
