//! The surfaces for programs: the image API, the protocol side of OAuth, MCP, signed image URLs and health checks.
//!
//! One module per surface. Each turns a request into values of `domain`, calls the [`Library`], and turns the result into
//! a reply. Rules that another surface would need too belong in the library.
//!
//! This crate knows no SQL, no files, no image formats and no HTML, except for the photo app that MCP serves.
//!
//! The commonest change is a new endpoint of the image API: a row in `images_api::ROUTES`, a handler that returns
//! `Result<Reply, ApiError>`, and its description in `images_api::openapi`. For a new MCP tool see `mcp::tools`.
#![deny(missing_docs)]

mod health;
mod images_api;
mod links;
mod mcp;
mod oauth;
pub mod security_log;
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

use links::Links;

pub use images_api::openapi_document;
pub use mcp::{McpResource, mcp_tools_document, mcp_url, serve_mcp};
pub use oauth::{Authorization, OAuthLimits, RateLimit, app_name, display_name};

/// How the surfaces for programs are configured.
#[derive(Debug, Clone)]
pub struct ApiOptions {
    /// The public URL of the service.
    pub base_url: BaseUrl,
    /// Rate limits of the authorization server.
    pub oauth_limits: OAuthLimits,
    /// How client ID metadata documents are fetched; `None` rejects such clients.
    pub client_documents: Option<client_documents::Options>,
}

/// The routes of the image API or the tools of MCP contradict each other, or the authorization server cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("the service cannot be built: {0}")]
pub struct BuildError(String);

/// The surfaces for programs.
pub struct Api {
    library: Library,
    base_url: BaseUrl,
    signer: UrlSigner,
    images_api: images_api::Router,
    mcp: mcp::Servers,
    authorization: Arc<Authorization>,
}

impl Api {
    /// The surfaces of a library. URLs and tokens are signed with keys derived from `secret`.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn new(library: Library, secret: &Secret, options: ApiOptions) -> Result<Self, BuildError> {
        Ok(Self {
            authorization: Arc::new(Authorization::new(&library, secret, &options)?),
            library,
            signer: UrlSigner::new(secret),
            images_api: images_api::Router::new()?,
            mcp: mcp::Servers::new(&options.base_url)?,
            base_url: options.base_url,
        })
    }

    /// The authorization server, for the pages that ask for consent.
    pub fn authorization(&self) -> &Arc<Authorization> {
        &self.authorization
    }

    /// A writer of signed URLs that expire at the same time.
    fn links(&self) -> Links<'_> {
        Links::new(&self.base_url, &self.signer, self.library.clock().now())
    }
}

/// Whether programs call this path, in browsers of any origin. None of these paths reads a cookie.
pub fn is_api_path(path: &str) -> bool {
    let is_page = path == oauth::AUTHORIZE_PATH;
    (path.starts_with("/api/") && !is_page) || is_signed_image(path) || oauth::is_discovery(path)
}

/// Whether a signature in the URL protects this path.
pub fn is_signed_image(path: &str) -> bool {
    path.starts_with(signed_images::PREFIX)
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
        path if path.starts_with(oauth::PREFIX) => oauth::handle(api, parts, body, address).await,
        path if oauth::is_discovery(path) => oauth::discover(api, parts),
        path if is_health_check(path) => match parts.method {
            Method::GET | Method::HEAD => health::handle(&api.library, path).await,
            _ => method_not_allowed("GET, HEAD"),
        },
        _ => not_found(),
    }
}
