//! The HTTP side of the OAuth 2.1 authorization server: discovery, registration, tokens, revocation.
//!
//! `oauth-core` decides about clients, codes and tokens. This module reads requests, applies rate limits and writes replies
//! in the form that the RFCs define. The pages that ask for sign-in and consent are in `web-pages`.

mod app_name;
mod configuration;
mod discovery;
mod endpoint;
mod oauth_error;
mod ports;
mod rate_limits;
mod register;
mod revoke;
mod token;
mod verified_tokens;

use std::{net::IpAddr, sync::Arc};

use client_documents::HttpClientDocuments;
use http::request::Parts;
use keys::Secret;
use library::{Library, SigningKeys};
use oauth_core::{AuthorizationServer, ClientDocuments as _, ClientUrl};

pub use app_name::{app_name, display_name};
use rate_limits::RateLimits;
pub use rate_limits::{OAuthLimits, RateLimit};
use verified_tokens::VerifiedTokens;

use http_server::{
    BaseUrl,
    body::RequestBody,
    reply::{Reply, not_found},
};

use crate::{Api, ApiOptions, BuildError};

/// The path prefix of the endpoints.
pub(crate) const PREFIX: &str = "/api/oauth/";

/// The page that asks for sign-in and consent.
pub(crate) const AUTHORIZE_PATH: &str = "/api/oauth/authorize";

/// Sent when client ID metadata documents are fetched.
const USER_AGENT: &str = concat!("photo-library/", env!("CARGO_PKG_VERSION"));

/// The authorization server with its caches and rate limits.
pub struct Authorization {
    /// The authorization server.
    pub server: AuthorizationServer,
    pub(crate) verified: VerifiedTokens,
    documents: discovery::Documents,
    client_documents: Option<Arc<HttpClientDocuments>>,
    keys: SigningKeys,
    limits: RateLimits,
}

impl Authorization {
    pub(crate) fn new(library: &Library, secret: &Secret, options: &ApiOptions) -> Result<Self, BuildError> {
        let failed = |error: &dyn std::fmt::Display| BuildError(format!("the authorization server: {error}"));
        let set_up = configuration::configuration(&options.base_url).map_err(|error| failed(&error))?;
        let keys = library.signing_keys(secret.clone());
        let tokens = Arc::new(ports::Tokens(keys.clone()));
        let clock = Arc::new(ports::Clock(library.clone()));
        let fetching = options.client_documents.clone();
        let monotonic = library.clone();
        let client_documents = fetching.map(|options| {
            HttpClientDocuments::new(options, Arc::new(move || monotonic.clock().monotonic()), USER_AGENT)
        });
        let client_documents = client_documents.transpose().map_err(|error| failed(&error))?.map(Arc::new);
        let mut server = AuthorizationServer::new(
            set_up,
            library.grants(),
            tokens,
            clock,
            Arc::new(ports::Random(library.clone())),
            &secret.derive("authorization server"),
        );
        if let Some(documents) = &client_documents {
            server = server.with_client_documents(documents.clone());
        }
        let documents = discovery::Documents::new(&server).map_err(|error| failed(&error))?;
        Ok(Self {
            documents,
            client_documents,
            verified: VerifiedTokens::new(keys.clone()),
            keys,
            server,
            limits: RateLimits::new(library, &options.oauth_limits),
        })
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

/// Handles the endpoints under `/api/oauth/`.
pub(crate) async fn handle(api: &Api, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    match parts.uri.path() {
        "/api/oauth/jwks" => discovery::keys(api, parts).await,
        "/api/oauth/register" => register::handle(api, parts, body, address).await,
        "/api/oauth/token" => token::handle(api, parts, body, address).await,
        "/api/oauth/revoke" => revoke::handle(api, parts, body, address).await,
        _ => not_found(),
    }
}

/// Serves the discovery documents.
pub(crate) fn discover(api: &Api, parts: &Parts) -> Reply {
    api.authorization.documents.answer(parts)
}

/// Whether a path may name a discovery document.
pub(crate) fn is_discovery(path: &str) -> bool {
    path.starts_with("/.well-known/") || path.starts_with("/api/.well-known/")
}

/// The URL of an endpoint.
fn endpoint(base_url: &BaseUrl, name: &str) -> String {
    format!("{}{PREFIX}{name}", base_url.as_str())
}
