//! The port that makes and reads access tokens.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::AccessTokenClaims;

/// The signing keys are temporarily unavailable.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the signing keys are unavailable: {0}")]
pub struct TokensUnavailable(pub String);

/// Encodes claims as access tokens that nobody else can make, and decodes them. The implementation chooses the format:
/// [`OpaqueTokens`](crate::OpaqueTokens), the JWTs of the module `jwt`, or another one.
#[async_trait]
pub trait AccessTokens: Send + Sync + 'static {
    /// A token with these claims.
    async fn sign(&self, claims: &AccessTokenClaims) -> Result<String, TokensUnavailable>;

    /// The claims of a token that this server made; `None` for any other text. Checks that it is genuine, but not expiry
    /// and audience.
    async fn read(&self, token: &str) -> Result<Option<AccessTokenClaims>, TokensUnavailable>;

    /// The keys with which other services verify the tokens; `None`, the default, if only this server can read them. If
    /// there are keys, the server metadata has a `jwks_uri`.
    fn public_keys(&self) -> Option<&dyn PublicKeys> {
        None
    }
}

/// The members of a public key (JWK, RFC 7517).
pub type Jwk = Map<String, Value>;

/// A document of public keys (RFC 7517, section 5).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JwkSet {
    /// The keys, each with the `kid` that tokens name. They have no private members: everyone may read them.
    pub keys: Vec<Jwk>,
}

/// The public keys of access tokens, with which other services verify them.
#[async_trait]
pub trait PublicKeys: Send + Sync {
    /// All keys whose tokens are valid now or soon.
    ///
    /// # Errors
    /// [`TokensUnavailable`].
    async fn jwk_set(&self) -> Result<JwkSet, TokensUnavailable>;
}
