//! Serves an MCP server without authentication.

use std::error::Error;

use bytes::Bytes;
use http::Request;
use http_body::Body;
use hyper::body::Incoming;
use mcp_wire::{Server, http::respond_without_message};

use http_server::{
    BaseUrl, HttpLimits,
    body::RequestBody,
    local_access::{self, AllowedOrigins},
    response_body::full,
};

use crate::images_api::json_bytes;

/// Handles one HTTP request to an MCP server without authentication, at any path. Only the check of `Host` and `Origin`
/// protects it, so it is for servers that only their own machine can reach.
///
/// Rejects a foreign `Host` or `Origin` at a loopback base URL (403), methods other than POST and OPTIONS (405), a body that
/// is too large (413) or not plain JSON (415), and messages that [`Server::handle`] rejects.
pub async fn serve_mcp<C: Send + 'static>(
    server: &Server<C>,
    context: C,
    base_url: &BaseUrl,
    limits: &HttpLimits,
    request: Request<Incoming>,
) -> http::Response<impl Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + use<C>> {
    let (parts, incoming) = request.into_parts();
    if !local_access::is_allowed(base_url, &parts.uri, &parts.headers, AllowedOrigins::Loopback) {
        return local_access::forbidden(base_url);
    }
    if let Some(response) = respond_without_message(&parts.method) {
        return response.map(full);
    }
    let body = RequestBody::new(&parts, incoming, limits);
    match json_bytes(&parts, body).await {
        Ok(body) => server.respond(context, &parts.headers, &body).await.map(full),
        Err(error) => error.into_reply(),
    }
}
