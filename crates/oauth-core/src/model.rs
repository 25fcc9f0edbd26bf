//! What is stored: clients, grants, and the hashes of what clients hold.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::redirect_uri::{redirect_host, stays_on_device};

/// A moment as milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// The moment so many milliseconds later; earlier when negative. Stops at the end of time.
    #[must_use]
    pub fn plus_ms(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// The whole second that it lies in, as JWT and registration responses count.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }
}

/// The SHA-256 of an authorization code, a refresh token or a client secret. These are 256 random bits, so that a fast
/// hash is enough; the values themselves are stored nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretHash(pub [u8; 32]);

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(…)")
    }
}

/// How a client proves who it is at the token endpoint (RFC 7591, section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthMethod {
    /// It does not: a public client, which anyone can copy.
    None,
    /// With its secret in the `Authorization` header.
    ClientSecretBasic,
    /// With its secret in the body.
    ClientSecretPost,
}

/// What a client may come to the token endpoint with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantType {
    /// An authorization code.
    AuthorizationCode,
    /// A refresh token.
    RefreshToken,
}

/// What a client told of itself, checked and normalised. Its JSON is what a store keeps, and never changes meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientMetadata {
    /// What it calls itself, 1 to 200 characters. Anyone can register any name.
    pub client_name: String,
    /// Where it takes its answers, as it wrote them; compared byte by byte.
    pub redirect_uris: Vec<String>,
    /// What it may come to the token endpoint with; always holds the authorization code.
    pub grant_types: Vec<GrantType>,
    /// The scopes that it may ask for, at least one.
    pub scopes: Vec<String>,
    /// How it authenticates.
    pub token_endpoint_auth_method: AuthMethod,
    /// The software that it is, up to 200 characters.
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
    /// What it told of itself.
    pub metadata: ClientMetadata,
    /// The hash of its secret; only of a confidential client.
    pub secret: Option<SecretHash>,
    /// When it was registered.
    pub issued_at: UnixMillis,
}

/// What a user consented to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its name inside the service and in access tokens; it opens nothing.
    pub id: String,
    /// Whom it was given to.
    pub client_id: String,
    /// Who gave it: the user as the embedding service names them.
    pub subject: String,
    /// The one resource that it opens.
    pub resource: String,
    /// What it allows there, at least one.
    pub scopes: Vec<String>,
    /// When consent was given.
    pub created_at: UnixMillis,
    /// When it ended before its time.
    pub revoked_at: Option<UnixMillis>,
}

/// An authorization code as it is stored, with the grant that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedCode {
    /// What the user consented to.
    pub grant: Grant,
    /// The redirect URI that the code was sent to.
    pub redirect_uri: String,
    /// The PKCE challenge, of method S256.
    pub challenge: String,
    /// When it stops working.
    pub expires_at: UnixMillis,
    /// When it was redeemed.
    pub redeemed_at: Option<UnixMillis>,
}

/// The refresh token that a grant has now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentRefreshToken {
    /// Its hash.
    pub hash: SecretHash,
    /// How many refresh tokens the grant had before it.
    pub generation: u32,
    /// When it stops working.
    pub expires_at: UnixMillis,
    /// When the tokens before it were replaced, the last one first; of the last 30 seconds and never more than
    /// [`MAX_RECENT_ROTATIONS`].
    pub recent_rotations: Vec<UnixMillis>,
}

/// The most moments that are kept of a grant whose token is replaced again and again.
pub const MAX_RECENT_ROTATIONS: usize = 32;

/// A grant with the refresh token that it has now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefreshableGrant {
    /// The grant.
    pub grant: Grant,
    /// Its current refresh token.
    pub current: CurrentRefreshToken,
}

/// A grant as its user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The grant, not revoked, its code redeemed.
    pub grant: Grant,
    /// What the client calls itself; `None` for one that the store does not know.
    pub client_name: Option<String>,
    /// The redirect URI that the grant's code was sent to.
    pub redirect_uri: String,
    /// About when it was last used.
    pub last_used_at: Option<UnixMillis>,
}

impl Connection {
    /// Where the code went, to show to the user: the host with its port, or `scheme:` for an app's own scheme.
    pub fn redirect_host(&self) -> String {
        redirect_host(&self.redirect_uri)
    }

    /// Whether the code went to a loopback host or an app's own scheme.
    pub fn redirect_stays_on_device(&self) -> bool {
        stays_on_device(&self.redirect_uri)
    }
}
