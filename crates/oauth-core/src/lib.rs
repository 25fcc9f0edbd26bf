//! An OAuth 2.1 authorization server as decisions over one [`Store`], to be embedded in any HTTP service.
#![deny(missing_docs)]

mod access;
mod authorize;
mod claims;
mod config;
#[cfg(feature = "conformance")]
pub mod conformance;
mod consent;
mod errors;
#[cfg(test)]
mod hostile;
mod json;
#[cfg(feature = "memory")]
mod memory;
mod metadata;
mod model;
mod parameters;
mod ports;
mod redirect_uri;
mod registration;
mod revocation;
mod secret;
mod server;
mod store;
#[cfg(test)]
mod testing;
mod token;

pub use access::AccessRefused;
pub use authorize::{AuthorizationRequest, AuthorizeError, PageError, Redirect};
pub use claims::AccessTokenClaims;
pub use config::{Config, ConfigError, Endpoints, Lifetimes, Resource};
pub use consent::{AllowError, Allowed};
pub use errors::ErrorBody;
#[cfg(feature = "memory")]
pub use memory::MemoryStore;
pub use metadata::{ResourceMetadata, ServerMetadata};
pub use model::{
    AuthMethod, Client, ClientMetadata, Connection, CurrentRefreshToken, Grant, GrantType, IssuedCode,
    MAX_RECENT_ROTATIONS, RefreshableGrant, SecretHash, UnixMillis,
};
pub use ports::{AccessTokens, Clock, Random, RandomFailed, TokensUnavailable, Unavailable};
pub use redirect_uri::{MAX_REDIRECT_URI_CHARS, RefusedRedirectUri, check_redirect_uri};
pub use registration::{MAX_REDIRECT_URIS, RegisterError, Registration};
pub use revocation::{MalformedRevocation, RevokeRequest, Revoked};
pub use secret::Secret;
pub use server::AuthorizationServer;
pub use store::{
    Issued, NewClient, NewCode, NewRefreshToken, Redemption, Rotation, Store, StoreError, Sweep,
};
pub use token::{Reason, TokenError, TokenRequest, TokenResponse};
