//! The OAuth 2.1 authorization server's HTTP surface: discovery documents, registration, sign-in and consent, tokens,
//! revocation.
//!
//! What is true of a client, a code or a token is decided by `oauth-core`; here a request is read, held against rate
//! limits, and answered in the form that the RFCs give.

mod authorize;
mod configuration;
mod consent;
mod discovery;
mod oauth_error;
mod ports;
mod posted;
mod rate_limits;
mod register;
mod revoke;
mod token;
mod verified_tokens;

use std::{net::IpAddr, sync::Arc};

use client_documents::HttpClientDocuments;
use http::{StatusCode, request::Parts};
use keys::{FormSigner, Secret};
use library::{Library, SigningKeys};
use oauth_core::AuthorizationServer;

pub(crate) use consent::{app_name, scope_in_words, shown_name};
pub use rate_limits::RateLimit;
use rate_limits::RateLimits;
use verified_tokens::VerifiedTokens;

use http_server::{BaseUrl, body::RequestBody, reply::{Reply, error}};

use crate::{Api, BuildError, WebConfig};

/// Where the endpoints begin.
pub(crate) const PREFIX: &str = "/api/oauth/";

/// What the hosts of apps' documents are told of who asks.
const USER_AGENT: &str = concat!("photo-library/", env!("CARGO_PKG_VERSION"));

/// The authorization server with what its HTTP surface needs.
pub(crate) struct Authorization {
    pub(crate) server: AuthorizationServer,
    pub(crate) verified: VerifiedTokens,
    pub(crate) forms: FormSigner,
    documents: discovery::Documents,
    client_documents: Option<Arc<HttpClientDocuments>>,
    keys: SigningKeys,
    limits: RateLimits,
}

impl Authorization {
    pub(crate) fn new(library: &Library, secret: &Secret, config: &WebConfig) -> Result<Self, BuildError> {
        let failed = |error: &dyn std::fmt::Display| BuildError(format!("the authorization server: {error}"));
        let set_up = configuration::configuration(&config.base_url).map_err(|error| failed(&error))?;
        let keys = library.signing_keys(secret.clone());
        let tokens = Arc::new(ports::Tokens(keys.clone()));
        let clock = Arc::new(ports::Clock(library.clone()));
        let fetching = config.client_documents.clone();
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
            forms: FormSigner::new(secret),
            limits: RateLimits::new(library, &config.limits),
        })
    }
}

/// Answers what stands under `/api/oauth/`.
pub(crate) async fn handle(api: &Api, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    match parts.uri.path() {
        "/api/oauth/jwks" => discovery::keys(api, parts).await,
        "/api/oauth/register" => register::handle(api, parts, body, address).await,
        "/api/oauth/authorize" => authorize::handle(api, parts, body, address).await,
        "/api/oauth/token" => token::handle(api, parts, body, address).await,
        "/api/oauth/revoke" => revoke::handle(api, parts, body, address).await,
        _ => error(StatusCode::NOT_FOUND, "there is nothing at this path"),
    }
}

/// Answers a path with `/.well-known/` in it.
pub(crate) fn discover(api: &Api, parts: &Parts) -> Reply {
    api.authorization.documents.answer(parts)
}

/// Whether a path asks for a discovery document.
pub(crate) fn is_discovery(path: &str) -> bool {
    path.starts_with("/.well-known/") || path.starts_with("/api/.well-known/")
}

/// The one URL of an endpoint.
fn endpoint(base_url: &BaseUrl, name: &str) -> String {
    format!("{}{PREFIX}{name}", base_url.as_str())
}
