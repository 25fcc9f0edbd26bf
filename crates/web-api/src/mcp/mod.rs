//! The Model Context Protocol at `/api/mcp/v1`, `/api/mcp/v2` and `/api/mcp/legacy`: one JSON-RPC message per POST, one
//! JSON reply, no session and no event stream.
//!
//! Order of checks: path (404), method (405; OPTIONS is 204), token (401, 403, 503), length (413), type (415) and form
//! (400, −32700 and −32600) of the body, protocol revision (400), then the checks of the JSON-RPC method.

mod app;
mod authentication;
mod document;
mod prompts;
mod servers;
mod tools;
mod transport;

use std::{net::IpAddr, sync::Arc};

use http::{Method, header, request::Parts};
use mcp_wire::http::respond_without_message;
use web_auth::McpResource;

pub use document::mcp_tools_document;
pub use transport::serve_mcp;

pub(crate) use servers::Servers;

use self::{
    authentication::{AuthenticationError, authenticate},
    tools::ToolContext,
};
use crate::{Api, images_api::json_bytes};
use http_server::{
    body::RequestBody,
    reply::{Reply, WithHeader as _, not_found},
    response_body::full,
};

pub(crate) const PREFIX: &str = "/api/mcp/";

pub(crate) async fn handle(api: &Arc<Api>, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let base_url = &api.base_url;
    let Some(resource) = McpResource::at(parts.uri.path()) else {
        return not_found();
    };
    if let Some(response) = respond_without_message(&parts.method) {
        return match parts.method {
            Method::OPTIONS => response.map(full),
            _ => with_challenge(response.map(full), api, resource, parts).await,
        };
    }
    let caller = match authenticate(api, resource, parts).await {
        Ok(caller) => caller,
        Err(error) => return error.into_reply(base_url, resource, address),
    };
    let body = match json_bytes(parts, body).await {
        Ok(body) => body,
        Err(error) => return error.into_reply(),
    };
    let context = ToolContext { api: api.clone(), caller, resource };
    api.mcp.of(resource).respond(context, &parts.headers, &body).await.map(full)
}

/// Some clients send a GET to discover authentication, so a 405 response has the challenge too.
async fn with_challenge(reply: Reply, api: &Api, resource: McpResource, parts: &Parts) -> Reply {
    match authenticate(api, resource, parts).await {
        Err(AuthenticationError::NoValidToken) => {
            reply.with(header::WWW_AUTHENTICATE, authentication::challenge(&api.base_url, resource))
        }
        Ok(_) | Err(AuthenticationError::InsufficientScope { .. } | AuthenticationError::Unavailable) => {
            reply
        }
    }
}
