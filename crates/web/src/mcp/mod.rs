//! The Model Context Protocol at `/api/mcp/v1`, `/api/mcp/v2` and `/api/mcp/legacy`: one JSON-RPC message in each
//! POST, one JSON answer, no session and no event stream.
//!
//! What is checked first: the host and origin when only this machine can reach the service (403), the path (404),
//! the method (405), the token (401, 403, 503), the body's length (413), type (415) and form (400, −32700 and −32600),
//! the protocol revision (400), and then what the method itself says.

mod authentication;
mod document;
mod lifecycle;
mod local_access;
mod messages;
mod resource;
mod revision;
mod tools;

use std::net::IpAddr;

use http::{HeaderValue, Method, StatusCode, header, request::Parts};
use mcp_protocol::{
    ListToolsResult, ToolRegistry,
    jsonrpc::{ErrorObject, Response, SERVER_ERROR},
};

pub use document::mcp_tools_document;

pub(crate) use resource::Resource as McpResource;

use self::{
    authentication::{Refused, authenticate},
    resource::Resource,
    tools::Operation,
};
use crate::{
    app::{BuildError, Service},
    body::RequestBody,
    images_api::json_bytes,
    reply::{Reply, WithHeader as _, error, json},
};

pub(crate) const PREFIX: &str = "/api/mcp/";

/// The MCP servers, one for each resource.
pub(crate) struct Servers {
    v1: Server,
    v2: Server,
    legacy: Server,
}

/// What one resource serves.
struct Server {
    resource: Resource,
    registry: ToolRegistry<Operation>,
    /// The same tools as `tools/list` shows them.
    list: ListToolsResult,
}

impl Servers {
    pub(crate) fn new() -> Result<Self, BuildError> {
        Ok(Self {
            v1: Server::new(Resource::V1)?,
            v2: Server::new(Resource::V2)?,
            legacy: Server::new(Resource::Legacy)?,
        })
    }

    fn of(&self, resource: Resource) -> &Server {
        match resource {
            Resource::V1 => &self.v1,
            Resource::V2 => &self.v2,
            Resource::Legacy => &self.legacy,
        }
    }
}

impl Server {
    fn new(resource: Resource) -> Result<Self, BuildError> {
        let registry = tools::registry(resource)
            .map_err(|error| BuildError(format!("the tools of {}: {error}", resource.path())))?;
        Ok(Self { resource, list: registry.list(), registry })
    }
}

pub(crate) async fn handle(service: &Service, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let base_url = &service.config.base_url;
    if !local_access::is_allowed(base_url, parts) {
        return error(
            StatusCode::FORBIDDEN,
            "this service serves only its own machine: Host, and Origin when sent, must be loopback names",
        );
    }
    let Some(resource) = Resource::at(parts.uri.path()) else {
        return error(StatusCode::NOT_FOUND, "there is nothing at this path");
    };
    if parts.method != Method::POST {
        return method_refused(service, resource, parts).await;
    }
    let caller = match authenticate(service, resource, parts).await {
        Ok(caller) => caller,
        Err(refused) => return refused.into_reply(base_url, resource, address),
    };
    match json_bytes(parts, body).await {
        Ok(bytes) => messages::answer(service, resource, &caller, &parts.headers, &bytes).await,
        Err(error) => error.into_reply(),
    }
}

/// Some clients look by GET for how to sign in, so the refusal of a method says that too.
async fn method_refused(service: &Service, resource: Resource, parts: &Parts) -> Reply {
    let refusal = ErrorObject::new(SERVER_ERROR, "method not allowed: send each message by POST");
    let reply = json(StatusCode::METHOD_NOT_ALLOWED, &Response::failure(None, refusal))
        .with(header::ALLOW, HeaderValue::from_static("POST, OPTIONS"));
    match authenticate(service, resource, parts).await {
        Err(Refused::NoValidToken) => reply
            .with(header::WWW_AUTHENTICATE, authentication::challenge(&service.config.base_url, resource)),
        Ok(_) | Err(Refused::InsufficientScope { .. } | Refused::Unavailable) => reply,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_can_be_built() {
        let servers = Servers::new().unwrap();
        for resource in Resource::ALL {
            let server = servers.of(resource);
            assert_eq!(server.resource, resource);
            assert_eq!(server.list.tools, server.registry.tools());
        }
    }
}
