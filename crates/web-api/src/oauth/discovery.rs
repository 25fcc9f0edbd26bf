use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header, request::Parts};
use keys::PublicJwk;
use oauth_core::AuthorizationServer;
use serde::Serialize;

use http_server::{
    body::full,
    reply::{JSON, Reply, WithHeader as _, error, json, method_not_allowed, with_body},
};

use crate::{Api, mcp::McpResource};

/// How long discovery documents may be kept.
const ONE_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");
/// How long the set of keys may be kept: shorter, since a new key signs at once.
const FIVE_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// The documents that tell a client where everything is (RFC 8414, RFC 9728), written once.
pub(super) struct Documents {
    server: Bytes,
    v1: Bytes,
    v2: Bytes,
    legacy: Bytes,
}

impl Documents {
    pub(super) fn new(server: &AuthorizationServer) -> Result<Self, serde_json::Error> {
        let of = |resource: McpResource| {
            let metadata =
                server.config().resources().iter().find(|known| known.url.ends_with(resource.path()));
            written(&metadata.and_then(|known| server.resource_metadata(&known.url)))
        };
        Ok(Self {
            server: written(&server.server_metadata())?,
            v1: of(McpResource::V1)?,
            v2: of(McpResource::V2)?,
            legacy: of(McpResource::Legacy)?,
        })
    }

    /// The document at a path. Clients look for it with the path of issuer or resource inserted, and without; and some
    /// append the well-known part to the issuer.
    fn at(&self, path: &str) -> Option<&Bytes> {
        Some(match path {
            "/.well-known/oauth-authorization-server"
            | "/.well-known/oauth-authorization-server/api"
            | "/api/.well-known/oauth-authorization-server" => &self.server,
            "/.well-known/oauth-protected-resource" | "/.well-known/oauth-protected-resource/api/mcp/v1" => {
                &self.v1
            }
            "/.well-known/oauth-protected-resource/api/mcp/v2" => &self.v2,
            "/.well-known/oauth-protected-resource/api/mcp/legacy" => &self.legacy,
            _ => return None,
        })
    }

    pub(super) fn answer(&self, parts: &Parts) -> Reply {
        let Some(document) = self.at(parts.uri.path()) else {
            return error(StatusCode::NOT_FOUND, "there is nothing at this path");
        };
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            return method_not_allowed("GET, HEAD");
        }
        with_body(StatusCode::OK, full(document.clone()))
            .with(header::CONTENT_TYPE, JSON)
            .with(header::CACHE_CONTROL, ONE_HOUR)
    }
}

fn written(document: &impl Serialize) -> Result<Bytes, serde_json::Error> {
    serde_json::to_vec(document).map(Bytes::from)
}

/// The public keys of access tokens as a JWK set (RFC 7517).
pub(super) async fn keys(api: &Api, parts: &Parts) -> Reply {
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return method_not_allowed("GET, HEAD");
    }
    #[derive(Serialize)]
    struct JwkSet {
        keys: Vec<PublicJwk>,
    }
    match api.authorization.keys.jwks().await {
        Ok(keys) => json(StatusCode::OK, &JwkSet { keys }).with(header::CACHE_CONTROL, FIVE_MINUTES),
        Err(error) => super::oauth_error::unavailable(&error),
    }
}
