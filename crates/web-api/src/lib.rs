//! The interfaces for programs: the image API, the OAuth endpoints, MCP, signed image URLs and health checks.
//!
//! One module per interface. Each turns a request into values of `domain`, calls the [`Library`], and turns the result into
//! a reply. Rules that another interface would need too belong in the library.
//!
//! This crate knows no SQL, no files, no image formats and no HTML, except for the photo app that MCP serves.
//!
//! The most common change is a new endpoint of the image API: a row in `images_api::ROUTES`, a handler that returns
//! `Result<Reply, ApiError>`, and its description in `images_api::openapi`. For a new MCP tool see `mcp::tools`.

mod domain_proof;
mod health;
mod images_api;
mod links;
mod mcp;
mod oauth;
mod photo_change;
mod signed_images;

use std::{net::IpAddr, sync::Arc};

use http::{Method, request::Parts};
use http_server::{
    BaseUrl,
    body::RequestBody,
    reply::{Reply, method_not_allowed, not_found},
};
use keys::{Secret, UrlSigner};
use library::Library;
use oauth_core::MetadataDocuments;
use web_auth::{AUTHORIZE_PATH, Authorization, BuildError, OAUTH_PREFIX};

use links::Links;

pub use images_api::openapi_document;
pub use mcp::{mcp_tools_document, serve_mcp};

/// The interfaces for programs.
pub struct Api {
    library: Library,
    base_url: BaseUrl,
    signer: UrlSigner,
    images_api: images_api::Router,
    mcp: mcp::Servers,
    authorization: Arc<Authorization>,
    metadata: MetadataDocuments,
    openai_challenge: Option<String>,
}

impl Api {
    /// The interfaces of a library. Image URLs are signed with a key derived from `secret`. OpenAI's directory of apps
    /// verifies the domain by `openai_challenge`.
    ///
    /// # Errors
    /// [`BuildError`]: the routes of the image API or the tools of MCP contradict each other.
    pub fn new(
        library: Library,
        secret: &Secret,
        base_url: BaseUrl,
        authorization: Arc<Authorization>,
        openai_challenge: Option<String>,
    ) -> Result<Self, BuildError> {
        Ok(Self {
            library,
            signer: UrlSigner::new(secret),
            images_api: images_api::Router::new()?,
            mcp: mcp::Servers::new(&base_url)?,
            metadata: MetadataDocuments::new(&authorization.server),
            base_url,
            authorization,
            openai_challenge,
        })
    }

    /// Signs URLs that all expire 15 minutes from now.
    fn links(&self) -> Links<'_> {
        Links::new(&self.base_url, &self.signer, self.library.clock().now())
    }
}

/// Whether programs call this path, in browsers of any origin. None of these paths reads a cookie.
pub fn is_api_path(path: &str) -> bool {
    (path.starts_with("/api/") && path != AUTHORIZE_PATH) || is_signed_image(path) || is_discovery(path)
}

/// Whether a signature in the URL protects this path.
pub fn is_signed_image(path: &str) -> bool {
    path.starts_with(signed_images::PREFIX)
}

/// Whether this path may name a discovery document, which holds no data.
pub fn is_discovery(path: &str) -> bool {
    oauth::is_discovery(path)
}

/// Whether this path is a health check.
pub fn is_health_check(path: &str) -> bool {
    matches!(path, health::ALIVE_PATH | health::READY_PATH)
}

/// Handles a request to a path of the API or of a health check. `address` is the address of the client.
pub async fn handle(api: &Arc<Api>, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    match parts.uri.path() {
        path if is_signed_image(path) => signed_images::handle(api, parts).await,
        path if images_api::is_path(path) => images_api::handle(api, parts, body).await,
        path if path.starts_with(mcp::PREFIX) => mcp::handle(api, parts, body, address).await,
        path if path.starts_with(OAUTH_PREFIX) => oauth::handle(api, parts, body, address).await,
        path if domain_proof::is_path(path) => domain_proof::handle(api.openai_challenge.as_deref(), parts),
        path if is_discovery(path) => api.metadata.respond(parts).map_or_else(not_found, oauth::reply),
        path if is_health_check(path) => match parts.method {
            Method::GET | Method::HEAD => health::handle(&api.library, path).await,
            _ => method_not_allowed("GET, HEAD"),
        },
        _ => not_found(),
    }
}
