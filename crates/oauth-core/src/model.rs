//! The stored data: clients, grants, and hashes of codes, tokens and client secrets.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::redirect_uri::{redirect_host, stays_on_device};

/// A time in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// The time `millis` later, saturating; earlier when negative.
    #[must_use]
    pub fn plus_ms(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// The time in whole seconds, rounded down, as in JWTs and registration responses.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }
}

/// The SHA-256 of an authorization code, a refresh token or a client secret. The values have enough random bits that a
/// fast hash is safe; they are never stored themselves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretHash(pub [u8; 32]);

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(…)")
    }
}

/// How a client authenticates at the token endpoint (RFC 7591, section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthMethod {
    /// Not with a secret: a public client, or one with a metadata document.
    None,
    /// With its secret in the `Authorization` header.
    ClientSecretBasic,
    /// With its secret in the body.
    ClientSecretPost,
}

/// A grant type of the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantType {
    /// An authorization code.
    AuthorizationCode,
    /// A refresh token.
    RefreshToken,
}

/// A client's metadata, checked and normalised. Stores keep its JSON, so its meaning must not change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientMetadata {
    /// Its name, 1 to 200 characters. Not verified: anyone can register any name.
    pub client_name: String,
    /// Its redirect URIs, as sent; compared byte by byte.
    pub redirect_uris: Vec<String>,
    /// The grant types that it may use; always includes `authorization_code`.
    pub grant_types: Vec<GrantType>,
    /// The scopes that it may request, at least one.
    pub scopes: Vec<String>,
    /// How it authenticates with its secret, or that it has none.
    pub token_endpoint_auth_method: AuthMethod,
    /// Whether it must authenticate with an assertion (`private_key_jwt`, RFC 7523); only for a client with a metadata
    /// document. To earlier versions on the same store, which do not know assertions, it is a public client.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_assertion: bool,
    /// The id of its software, up to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software_id: Option<String>,
    /// The version of that software, up to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software_version: Option<String>,
}

impl ClientMetadata {
    /// Whether it may refresh its tokens.
    pub fn may_refresh(&self) -> bool {
        self.grant_types.contains(&GrantType::RefreshToken)
    }
}

/// A registered client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its `client_id`.
    pub id: String,
    /// Its metadata.
    pub metadata: ClientMetadata,
    /// The hash of its secret; only for a confidential client.
    pub secret: Option<SecretHash>,
    /// When it was first registered.
    pub issued_at: UnixMillis,
}

/// A user's consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its id in the store and in access tokens; not a secret.
    pub id: String,
    /// The client.
    pub client_id: String,
    /// The user, by the embedding service's id.
    pub subject: String,
    /// The one resource that it gives access to.
    pub resource: String,
    /// The granted scopes, at least one.
    pub scopes: Vec<String>,
    /// When consent was given.
    pub created_at: UnixMillis,
    /// When it was revoked.
    pub revoked_at: Option<UnixMillis>,
}

/// A stored authorization code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedCode {
    /// The redirect URI to which the code was sent.
    pub redirect_uri: String,
    /// The PKCE challenge, with method S256.
    pub challenge: String,
    /// When it expires: at this time it no longer works.
    pub expires_at: UnixMillis,
    /// When it was redeemed.
    pub redeemed_at: Option<UnixMillis>,
}

/// The current refresh token of a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentRefreshToken {
    /// Its hash.
    pub hash: SecretHash,
    /// How many refresh tokens the grant had before it.
    pub generation: u32,
    /// When it expires: at this time it no longer works.
    pub expires_at: UnixMillis,
    /// The times of the grant's rotations in the grace period of replays, newest first, at most [`MAX_RECENT_ROTATIONS`].
    pub recent_rotations: Vec<UnixMillis>,
}

/// The most rotation times that are stored per grant.
pub const MAX_RECENT_ROTATIONS: usize = 32;

/// A grant with its code and its refresh token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrant {
    /// The grant.
    pub grant: Grant,
    /// Its code.
    pub code: IssuedCode,
    /// Its current refresh token; `None` until the code is redeemed, and for a client without the refresh grant type.
    pub refresh: Option<CurrentRefreshToken>,
}

/// A grant as its user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The grant: not revoked, and its code was redeemed.
    pub grant: Grant,
    /// The client's name; `None` for a client that is not in the store.
    pub client_name: Option<String>,
    /// The redirect URI to which the grant's code was sent.
    pub redirect_uri: String,
    /// When it was last used, as [`GrantStore::record_use`](crate::GrantStore::record_use) recorded it.
    pub last_used_at: Option<UnixMillis>,
}

impl Connection {
    /// The destination of the code, to show to the user: the host with its port, or `scheme:` for a custom scheme.
    pub fn redirect_host(&self) -> String {
        redirect_host(&self.redirect_uri)
    }

    /// Whether the code went to a loopback host or a custom scheme.
    pub fn redirect_stays_on_device(&self) -> bool {
        stays_on_device(&self.redirect_uri)
    }
}
