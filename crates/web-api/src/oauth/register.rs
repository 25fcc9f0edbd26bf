use std::net::IpAddr;

use http::request::Parts;
use oauth_core::RegisterError;
use web_auth::{RateLimits, security_log};

use super::{
    endpoint::Endpoint,
    reply::{reply, unavailable},
};
use crate::Api;
use http_server::{body::RequestBody, reply::Reply};

const ENDPOINT: Endpoint = Endpoint {
    name: "registration",
    endpoint: oauth_core::Endpoint::Registration,
    limit: RateLimits::check_registration,
};

/// `POST /api/oauth/register`: dynamic client registration (RFC 7591), open to anyone.
pub(super) async fn handle(api: &Api, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let body = match ENDPOINT.read(api, parts, body, address).await {
        Ok(body) => body,
        Err(reply) => return reply,
    };
    match api.authorization.server.register(&body).await {
        Ok(client) => {
            security_log::client_registered(address, &client.client_id);
            reply(client.response())
        }
        Err(RegisterError::Unavailable(error)) => unavailable(&error),
        Err(error) => {
            security_log::registration_refused(address, error.code());
            reply(error.response())
        }
    }
}
