//! The Model Context Protocol at `/api/mcp/v1`, `/api/mcp/v2` and `/api/mcp/legacy`.

use http::{StatusCode, request::Parts};
use hyper::body::Incoming;

use crate::{
    app::{BuildError, Service},
    reply::{Reply, error},
};

pub(crate) const PREFIX: &str = "/api/mcp/";

/// The MCP servers, one for each resource.
pub(crate) struct Servers;

impl Servers {
    pub(crate) fn new() -> Result<Self, BuildError> {
        Ok(Self)
    }
}

pub(crate) async fn handle(_service: &Service, _parts: &Parts, _body: Incoming) -> Reply {
    error(StatusCode::NOT_FOUND, "there is nothing at this path")
}
