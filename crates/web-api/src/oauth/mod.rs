//! The HTTP side of the OAuth 2.1 authorization server: discovery, registration, tokens, revocation.
//!
//! `oauth-core` decides about clients, codes and tokens. It also reads requests and writes responses in the form that the
//! RFCs define. This module applies rate limits and logs. The pages that ask for sign-in and consent are in `web-pages`.

mod discovery;
mod endpoint;
mod register;
mod reply;
mod revoke;
mod token;

use std::net::IpAddr;

use http::request::Parts;
use http_server::{
    body::RequestBody,
    reply::{Reply, not_found},
};

use crate::Api;

pub(crate) use reply::reply;

/// Handles the endpoints under `/api/oauth/`.
pub(crate) async fn handle(api: &Api, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    match parts.uri.path() {
        "/api/oauth/jwks" => discovery::keys(api, parts).await,
        "/api/oauth/register" => register::handle(api, parts, body, address).await,
        "/api/oauth/token" => token::handle(api, parts, body, address).await,
        "/api/oauth/revoke" => revoke::handle(api, parts, body, address).await,
        _ => not_found(),
    }
}

/// Whether a path may name a discovery document.
pub(crate) fn is_discovery(path: &str) -> bool {
    path.starts_with("/.well-known/") || path.starts_with("/api/.well-known/")
}
