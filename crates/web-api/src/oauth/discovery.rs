use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header, request::Parts};
use keys::PublicJwk;
use oauth_core::AuthorizationServer;
use serde::Serialize;
use web_auth::McpResource;

use http_server::{
    body::full,
    reply::{JSON, Reply, WithHeader as _, json, method_not_allowed, not_found, with_body},
};

use crate::{Api, BuildError};

/// `Cache-Control` of discovery documents.
const ONE_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");
/// `Cache-Control` of the key set: shorter, because a new key is used at once.
const FIVE_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// The discovery documents (RFC 8414, RFC 9728), serialized once.
pub(crate) struct Documents {
    server: Bytes,
    v1: Bytes,
    v2: Bytes,
    legacy: Bytes,
}

impl Documents {
    pub(crate) fn new(server: &AuthorizationServer) -> Result<Self, BuildError> {
        let of = |resource: McpResource| {
            let metadata =
                server.config().resources().iter().find(|known| known.url.ends_with(resource.path()));
            serialized(&metadata.and_then(|known| server.resource_metadata(&known.url)))
        };
        Ok(Self {
            server: serialized(&server.server_metadata())?,
            v1: of(McpResource::V1)?,
            v2: of(McpResource::V2)?,
            legacy: of(McpResource::Legacy)?,
        })
    }

    /// The document at a path. Clients look for it with and without the path of the issuer or resource. Some append the
    /// well-known part to the issuer.
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

    /// Serves the document at the path of a request.
    pub(crate) fn serve(&self, parts: &Parts) -> Reply {
        let Some(document) = self.at(parts.uri.path()) else {
            return not_found();
        };
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            return method_not_allowed("GET, HEAD");
        }
        with_body(StatusCode::OK, full(document.clone()))
            .with(header::CONTENT_TYPE, JSON)
            .with(header::CACHE_CONTROL, ONE_HOUR)
    }
}

fn serialized(document: &impl Serialize) -> Result<Bytes, BuildError> {
    let bytes = serde_json::to_vec(document).map_err(|error| BuildError(format!("discovery: {error}")))?;
    Ok(bytes.into())
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
