//! An OAuth 2.1 authorization server to embed in any HTTP service: dynamic registration, authorization codes with PKCE,
//! rotating refresh tokens, revocation, metadata.
//!
//! It contains no HTTP, no SQL and no token format. The embedding service passes in a query, a body or a header, gets a
//! decision, and writes the response. `docs/embedding-oauth-core.md` is the guide, and `examples/hyper_service.rs` a
//! complete service.
//!
//! The most common change is a new request parameter: add its name to the list `KNOWN` of its module (`authorize`,
//! `token::request`, `revocation`; `registration::metadata_from_members` for clients), check it there, and add a row to
//! the tables of the module's tests. The order of the checks is the order of the errors. A value that is stored also
//! needs a field in [`model`](ClientMetadata), both stores, and a case in the `conformance` suite. Each operation
//! checks everything first and then changes the store once, by one method that decides races.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! use std::sync::Arc;
//!
//! use oauth_core::{
//!     AuthorizationServer, Config, Endpoints, Lifetimes, MemoryStore, OpaqueTokens, Resource, SystemClock,
//!     SystemRandom,
//! };
//!
//! let resource = Resource::new("https://photos.example/mcp", "Photos", &["photos"]);
//! let endpoints = Endpoints::under("https://photos.example/oauth");
//! let config = Config::new("https://photos.example", endpoints, vec![resource], Lifetimes::default())?;
//! let server = AuthorizationServer::new(
//!     config,
//!     Arc::new(MemoryStore::new()),
//!     Arc::new(OpaqueTokens::new(&[7; 32])), // Use secret random keys in production.
//!     Arc::new(SystemClock),
//!     Arc::new(SystemRandom::default()),
//!     &[8; 32],
//! );
//!
//! let body = br#"{"client_name": "An app", "redirect_uris": ["http://127.0.0.1:33418/"]}"#;
//! let client = server.register(body).await?;
//! assert_eq!(client.scope, ["photos"]);
//! assert_eq!(server.register(body).await?.client_id, client.client_id);
//!
//! let query = format!("response_type=code&client_id={}&redirect_uri=https://evil.example/", client.client_id);
//! let refused = server.authorize(&query).await.unwrap_err();
//! assert!(refused.to_string().contains("did not register"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod access;
mod authorize;
mod claims;
mod client_document;
mod client_url;
mod clock;
mod config;
#[cfg(feature = "conformance")]
pub mod conformance;
mod consent;
mod errors;
mod json;
#[cfg(feature = "memory")]
mod memory;
mod metadata;
mod model;
mod opaque_tokens;
mod parameters;
mod ports;
#[cfg(test)]
mod property_tests;
mod random;
mod redirect_uri;
mod registration;
mod revocation;
mod secret;
mod server;
mod store;
#[cfg(test)]
mod testing;
mod token;
mod visible_name;

pub use access::{AccessError, AccessRefused};
pub use authorize::{AuthorizationRequest, AuthorizeError, PageError, Redirect};
pub use claims::AccessTokenClaims;
pub use client_document::{ClientDocuments, DocumentError};
pub use client_url::{ClientUrl, RefusedClientUrl};
pub use clock::{Clock, SystemClock};
pub use config::{Config, ConfigError, Endpoints, Lifetimes, Resource};
pub use consent::{AllowError, CodeRedirect};
pub use errors::ErrorBody;
#[cfg(feature = "memory")]
pub use memory::MemoryStore;
pub use metadata::{ResourceMetadata, ServerMetadata};
pub use model::{
    AuthMethod, Client, ClientMetadata, Connection, CurrentRefreshToken, Grant, GrantType, IssuedCode,
    MAX_RECENT_ROTATIONS, RefreshableGrant, SecretHash, UnixMillis,
};
pub use opaque_tokens::OpaqueTokens;
pub use ports::{AccessTokens, TokensUnavailable, Unavailable};
pub use random::{Random, RandomError, SystemRandom, new_id};
pub use redirect_uri::{MAX_REDIRECT_URI_CHARS, RefusedRedirectUri, check_redirect_uri};
pub use registration::{MAX_REDIRECT_URIS, RegisterError, Registration};
pub use revocation::{MalformedRevocation, RevokeRequest, Revoked};
pub use secret::SecretString;
pub use server::AuthorizationServer;
pub use store::{
    CodeStatus, Eviction, NewClient, NewCode, NewRefreshToken, REREGISTRATION_INTERVAL_MS, Redemption,
    Rotation, Store, StoreError, Sweep,
};
pub use token::{InvalidGrantReason, TokenError, TokenRequest, TokenResponse};
pub use visible_name::visible_name;
