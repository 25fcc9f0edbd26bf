//! An OAuth 2.1 authorization server to embed in any HTTP service: dynamic registration, authorization codes with PKCE,
//! rotating refresh tokens, revocation, metadata.
//!
//! The crate decides about requests. It has no connection, no SQL and no users. [`policies`] lists what each RFC asks and
//! what the crate does. Services to copy:
//! [axum](https://docs.rs/crate/oauth-core/latest/source/examples/axum_service.rs), with sign-in and consent, and
//! [hyper](https://docs.rs/crate/oauth-core/latest/source/examples/hyper_service.rs).
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! use std::sync::Arc;
//!
//! use oauth_core::{AuthorizationServer, Config, Endpoints, Lifetimes, MemoryStore, Resource};
//!
//! let resource = Resource::new("https://photos.example/mcp", "Photos", &["photos"]);
//! let endpoints = Endpoints::under("https://photos.example/oauth");
//! let config = Config::new("https://photos.example", endpoints, vec![resource], Lifetimes::default())?;
//! let secret_key = [7; 32]; // Use a secret random key in production.
//! let server = AuthorizationServer::builder(config, Arc::new(MemoryStore::new()), &secret_key).build();
//!
//! let body = br#"{"client_name": "An app", "redirect_uris": ["http://127.0.0.1:33418/"]}"#;
//! let client = server.register(body).await?;
//! assert_eq!(client.scope, ["photos"]);
//! assert_eq!(server.register(body).await?.client_id, client.client_id);
//!
//! let query = format!("response_type=code&client_id={}&redirect_uri=https://evil.example/", client.client_id);
//! let refused = server.authorize(&query).await.unwrap_err();
//! assert_eq!(refused.status(), 400);
//! assert!(refused.to_string().contains("did not register"));
//!
//! let photos = server.protect("https://photos.example/mcp").unwrap();
//! let refused = photos.grant(None).await.unwrap_err();
//! assert_eq!(refused.status(), 401);
//! assert!(refused.www_authenticate().unwrap().starts_with("Bearer scope=\"photos\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What your service does
//!
//! 1. **HTTP.** With the feature `axum`, `HttpEndpoints::router` has all endpoints that programs call, and [`Grant`] and
//!    [`AuthorizationRequest`] are extractors. With the feature `http`, `HttpEndpoints::respond` makes complete responses.
//!    Without them, the service passes in bodies and headers and writes responses: errors have `status()`, `body()` and
//!    `www_authenticate()`.
//! 2. **The authorization endpoint** is a page of your service. Sign the user in before you show the consent form.
//!    [`consent_form`](AuthorizationServer::consent_form) is a plain one. In your own, show
//!    [`redirect_host`](AuthorizationRequest::redirect_host) prominently, below it the client's name through
//!    [`visible_name`], marked as not verified because anyone can register any name, and what the scopes allow. Warn if
//!    [`redirect_stays_on_device`](AuthorizationRequest::redirect_stays_on_device) or
//!    [`redirects_to_other_host`](AuthorizationRequest::redirects_to_other_host). Escape all of these: the client chooses
//!    them. Send the page with [`content_security_policy`](AuthorizationRequest::content_security_policy), which forbids
//!    framing and lets the form redirect to the client.
//!    [`consent_token`](AuthorizationServer::consent_token) and
//!    [`check_consent_token`](AuthorizationServer::check_consent_token) protect the form against cross-site request forgery
//!    and make a double click one grant. Answer with [`allow`](AuthorizationServer::allow) or
//!    [`deny`](AuthorizationServer::deny).
//! 3. **Limits.** The router limits the length of bodies; other services do it themselves. Limit the rate of registrations
//!    and revocations by address, and that of token requests also by [`claimed_client_id`](TokenRequest::claimed_client_id)
//!    and [`token_hash`](TokenRequest::token_hash): with `HttpEndpoints::with_limit`, or before the call.
//! 4. **Storage.** [`MemoryStore`] is lost with its process, so use [a store of your own](crate#a-store-of-your-own). Call
//!    [`sweep`](AuthorizationServer::sweep) regularly until it returns 0.
//! 5. **Connections and logs.** Show users [`GrantStore::connections`], and disconnect with [`GrantStore::revoke`]. Write
//!    [`InvalidGrantReason::TokenReplayed`] and [`InvalidGrantReason::CodeReplayed`] to your security log, and the cause of
//!    each [`Unavailable`] to your log. Responses of the features `http` and `axum` have these errors in their extensions;
//!    `HttpEndpoints` shows a layer that logs them.
//! 6. **Tokens.** [`OpaqueTokens`], the default, are encrypted: they suit a server that is also the resource. If other
//!    services verify tokens, use the feature `jwt`: its module `jwt` has JWTs (RFC 9068), public keys and their rotation.
//!    For another format, implement [`AccessTokens`].
//! 7. **Client ID metadata documents**, if you accept clients whose `client_id` is an https URL: implement
//!    [`ClientDocuments`], which fetches documents and keys and must refuse requests into your own network, and limit how
//!    often one address causes a fetch ([`client_url`](AuthorizationServer::client_url), [`ClientDocuments::is_cached`]).
//!    Such clients may authenticate by signed assertions (RFC 7523).
//!
//! # A store of your own
//!
//! A [`Store`] is a [`ClientStore`] and a [`GrantStore`]: eleven methods over three tables. Copy the adapter that is closest to
//! your database, each one file with its schema:
//! [Postgres](https://docs.rs/crate/oauth-core/latest/source/examples/stores/postgres.rs) (sqlx) or
//! [SQLite](https://docs.rs/crate/oauth-core/latest/source/examples/stores/sqlite.rs) (diesel). Above each implementation
//! stands the macro [`async_trait`](macro@async_trait). Then let the module [`conformance`] test yours; it races many tasks
//! on one code, token or grant.
//!
//! | guarantee | what it prevents |
//! |---|---|
//! | a method changes everything or nothing, and is durable when it returns | tokens that a client received and that a crash makes unknown; access after a revocation that the user saw succeed |
//! | one redemption of a code succeeds | an app that stole a code and gets tokens as well as the app that the user allowed |
//! | one rotation of a refresh token succeeds | two valid refresh tokens of one grant, so that a stolen one is never noticed |
//! | a revoked grant is neither redeemed nor rotated | a request in flight that brings a disconnected app back |
//! | spent codes, expired tokens and revoked grants are found until they are swept | a replay that looks like an unknown token, and so does not end its grant |
//! | one client per digest, one grant per code | a row for each repeated registration or double click |
//! | a client that had a grant is not evicted | strangers who register many clients and so disconnect apps in use |
//! | one use of an assertion is recorded | a captured assertion that authenticates a thief |
//! | the last use never moves back | a connection that looks unused |
//!
//! # A server of the Model Context Protocol
//!
//! With the crate `mcp-wire`, [`Grant`] is the context of the tools: its endpoint uses it as the extractor that checks the
//! With the crate `mcp-wire`, [`Grant`] is the context of the tools: the endpoint of that crate uses it as the
//! extractor that checks the token. The README of `mcp-wire` has an example.
//! # Errors
//!
//! | error | status | answered with |
//! |---|---|---|
//! | [`RegisterError`] | 400 | JSON (RFC 7591) |
//! | [`TokenError`] | 400, or 401 with a challenge | JSON (RFC 6749) |
//! | [`MalformedRevocation`] | 400 | JSON |
//! | [`AssertionError`], at revocation | 401 with a challenge | JSON |
//! | [`AccessError`] | 401 or 403, with a challenge | `WWW-Authenticate` (RFC 6750) |
//! | [`AuthorizeError`] | 303, or 400 | a redirect to the client, or a page for the user |
//! | [`AllowError`] | 409 | a page for the user |
//!
//! If the store, the signing keys or the source of randomness fails, the error is [`Unavailable`] or a variant of that
//! name. The status is 503, and the response has the header `Retry-After`. Log the cause. Never respond with
//! `invalid_grant` in this case, because clients discard their tokens on that error.
//!
//! # Changing the crate
//!
//! The most common change is a new request parameter: add its name to the list `KNOWN` of its module (`authorize`,
//! `token::request`, `revocation`; `registration::metadata_from_members` for clients), check it there, and add a row to
//! the tables of the module's tests. The order of the checks is the order of the errors. A value that is stored also
//! needs a field in [`model`](ClientMetadata), all stores, and a case in the `conformance` suite. Each operation
//! checks everything first and then changes the store once, by one method that decides races.
#![deny(missing_docs)]

mod access;
mod access_tokens;
mod attempt;
mod authorize;
#[cfg(feature = "axum")]
mod axum_service;
mod builder;
mod claims;
mod client_assertion;
mod client_document;
mod client_documents;
mod client_url;
mod clock;
mod config;
#[cfg(feature = "conformance")]
pub mod conformance;
mod consent;
mod document_members;
mod errors;
#[cfg(feature = "http")]
mod http_endpoints;
#[cfg(feature = "http")]
mod http_responses;
mod json;
mod jws;
#[cfg(feature = "jwt")]
pub mod jwt;
#[cfg(feature = "memory")]
mod memory;
mod metadata;
mod model;
mod opaque_tokens;
mod parameters;
#[doc = include_str!("../docs/policies.md")]
pub mod policies {}
#[cfg(test)]
mod policy_tests;
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

pub use access::{AccessError, AccessRefused, ProtectedResource};
pub use access_tokens::{AccessTokens, Jwk, JwkSet, PublicKeys, TokensUnavailable};
/// The macro of the crate `async-trait`, which implementations of the traits of this crate need.
pub use async_trait::async_trait;
pub use attempt::Attempt;
pub use authorize::{AuthorizationRequest, AuthorizeError, PageError, Redirect};
pub use builder::AuthorizationServerBuilder;
pub use claims::AccessTokenClaims;
pub use client_assertion::{AssertionError, AssertionRefused};
pub use client_documents::{ClientDocuments, DocumentError};
pub use client_url::{ClientUrl, RefusedClientUrl};
pub use clock::{Clock, SystemClock};
pub use config::{Config, ConfigError, Endpoints, Lifetimes, Policies, Resource, ServiceLinks};
pub use consent::{AllowError, CodeRedirect};
pub use errors::{ErrorBody, Unavailable};
#[cfg(feature = "http")]
pub use http_endpoints::{Endpoint, HttpEndpoints, MAX_BODY_BYTES, MetadataDocuments, UnreadableBody};
#[cfg(feature = "memory")]
pub use memory::MemoryStore;
pub use metadata::{ResourceMetadata, ServerMetadata};
pub use model::{
    AuthMethod, Client, ClientMetadata, Connection, CurrentRefreshToken, Grant, GrantType, IssuedCode,
    MAX_RECENT_ROTATIONS, SecretHash, StoredGrant, UnixMillis,
};
pub use opaque_tokens::OpaqueTokens;
pub use random::{Random, RandomError, SystemRandom, new_id, new_key};
pub use redirect_uri::{MAX_REDIRECT_URI_CHARS, RefusedRedirectUri, check_redirect_uri};
pub use registration::{MAX_REDIRECT_URIS, RegisterError, Registration};
pub use revocation::{MalformedRevocation, RevokeRequest, Revoked};
pub use secret::SecretString;
pub use server::AuthorizationServer;
pub use store::{
    ClientStore, CodeStatus, Eviction, GrantKey, GrantStore, Grants, NewClient, NewCode, NewRefreshToken,
    REREGISTRATION_INTERVAL_MS, Redemption, Rotation, Store, StoreError, Sweep, UsedAssertion,
};
pub use token::{InvalidGrantReason, TokenError, TokenRequest, TokenResponse};
pub use visible_name::{escape_html, visible_name};
