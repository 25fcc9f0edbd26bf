use std::{net::IpAddr, sync::Arc};

use client_documents::HttpClientDocuments;
use http_server::BaseUrl;
use keys::Secret;
use library::Library;
use oauth_core::{AuthorizationServer, ClientDocuments as _, ClientUrl, ProtectedResource, ServiceLinks};

use crate::{
    configuration::configuration,
    mcp_resource::McpResource,
    ports,
    rate_limits::{OAuthLimits, RateLimits},
    verified_tokens::VerifiedTokens,
};

/// Sent when client ID metadata documents are fetched.
const USER_AGENT: &str = concat!("photo-library/", env!("CARGO_PKG_VERSION"));

/// Configuration of the authorization server.
#[derive(Debug, Clone)]
pub struct AuthorizationOptions {
    /// The public URL of the service.
    pub base_url: BaseUrl,
    pub limits: OAuthLimits,
    /// How client ID metadata documents are fetched; `None` rejects such clients.
    pub client_documents: Option<client_documents::Options>,
    /// Pages about the service, shown on the consent form.
    pub links: ServiceLinks,
}

/// The service cannot be built: its routes, tools or the configuration of its authorization server are inconsistent.
#[derive(Debug, thiserror::Error)]
#[error("the service cannot be built: {0}")]
pub struct BuildError(pub String);

/// The authorization server with its caches and rate limits.
pub struct Authorization {
    pub server: AuthorizationServer,
    pub limits: RateLimits,
    client_documents: Option<Arc<HttpClientDocuments>>,
    v1: ProtectedResource,
    v2: ProtectedResource,
    legacy: ProtectedResource,
}

impl Authorization {
    /// The authorization server of a library. Tokens are signed with keys derived from `secret`.
    pub fn new(
        library: &Library,
        secret: &Secret,
        options: &AuthorizationOptions,
    ) -> Result<Self, BuildError> {
        let failed = |error: &dyn std::fmt::Display| BuildError(format!("the authorization server: {error}"));
        let config =
            configuration(&options.base_url, options.links.clone()).map_err(|error| failed(&error))?;
        let keys = library.accounts.signing_keys(secret.clone());
        let monotonic = library.clone();
        let client_documents = options.client_documents.clone().map(|options| {
            HttpClientDocuments::new(options, Arc::new(move || monotonic.clock().monotonic()), USER_AGENT)
        });
        let client_documents = client_documents.transpose().map_err(|error| failed(&error))?.map(Arc::new);
        let key = secret.derive("authorization server");
        let mut server = AuthorizationServer::builder(config, library.accounts.grants(), &key)
            .access_tokens(Arc::new(VerifiedTokens::new(keys)))
            .clock(Arc::new(ports::Clock(library.clone())))
            .random(Arc::new(ports::Random(library.clone())));
        if let Some(documents) = &client_documents {
            server = server.client_documents(documents.clone());
        }
        let server = server.build();
        let protect = |resource: McpResource| {
            let protected = server.protect(&resource.url(&options.base_url));
            protected.ok_or_else(|| failed(&format_args!("{} is no resource", resource.path())))
        };
        Ok(Self {
            v1: protect(McpResource::V1)?,
            v2: protect(McpResource::V2)?,
            legacy: protect(McpResource::Legacy)?,
            server,
            limits: RateLimits::new(library, &options.limits),
            client_documents,
        })
    }

    /// The MCP server as a resource, to check requests to it.
    pub fn protected(&self, resource: McpResource) -> &ProtectedResource {
        match resource {
            McpResource::V1 => &self.v1,
            McpResource::V2 => &self.v2,
            McpResource::Legacy => &self.legacy,
        }
    }

    /// Applies the rate limit on fetching client ID metadata documents. A cached document is free.
    ///
    /// # Errors
    /// The address has reached its limit: the seconds to wait.
    pub fn check_client_document(&self, url: &ClientUrl, address: IpAddr) -> Result<(), u64> {
        if self.client_documents.as_ref().is_none_or(|documents| documents.is_cached(url)) {
            return Ok(());
        }
        self.limits.check_client_document(address)
    }
}
