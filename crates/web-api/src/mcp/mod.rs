//! The Model Context Protocol at `/api/mcp/v1`, `/api/mcp/v2` and `/api/mcp/legacy`: one JSON-RPC message in each
//! POST, one JSON answer, no session and no event stream.
//!
//! What is checked first: the path (404), the method (405; OPTIONS is 204), the token (401, 403, 503), the body's length
//! (413), type (415) and form (400, −32700 and −32600), the protocol revision (400), and then what the method itself says.

mod app;
mod authentication;
mod document;
mod resource;
mod servers;
mod tools;
mod transport;

use std::{net::IpAddr, sync::Arc};

use http::{Method, StatusCode, header, request::Parts};

pub use document::mcp_tools_document;
pub use transport::serve_mcp;

pub(crate) use resource::Resource as McpResource;
pub(crate) use servers::Servers;

use self::{
    authentication::{Refused, authenticate},
    resource::Resource,
    tools::Calls,
};
use http_server::{body::RequestBody, reply::{Reply, WithHeader as _, error}};
use crate::{Api, images_api::json_bytes};

pub(crate) const PREFIX: &str = "/api/mcp/";

pub(crate) async fn handle(
    api: &Arc<Api>,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
) -> Reply {
    let base_url = &api.base_url;
    let Some(resource) = Resource::at(parts.uri.path()) else {
        return error(StatusCode::NOT_FOUND, "there is nothing at this path");
    };
    if parts.method == Method::OPTIONS {
        return transport::options();
    }
    if parts.method != Method::POST {
        return method_refused(api, resource, parts).await;
    }
    let caller = match authenticate(api, resource, parts).await {
        Ok(caller) => caller,
        Err(refused) => return refused.into_reply(base_url, resource, address),
    };
    let body = match json_bytes(parts, body).await {
        Ok(body) => body,
        Err(error) => return error.into_reply(),
    };
    let calls = Calls { service: api.clone(), caller, is_structured: resource.is_structured() };
    let headers = transport::message_headers(&parts.headers);
    transport::reply(api.mcp.of(resource).handle(calls, &headers, &body).await)
}

/// Some clients look by GET for how to sign in, so the refusal of a method says that too.
async fn method_refused(api: &Api, resource: Resource, parts: &Parts) -> Reply {
    let reply = transport::method_not_allowed();
    match authenticate(api, resource, parts).await {
        Err(Refused::NoValidToken) => reply
            .with(header::WWW_AUTHENTICATE, authentication::challenge(&api.base_url, resource)),
        Ok(_) | Err(Refused::InsufficientScope { .. } | Refused::Unavailable) => reply,
    }
}
