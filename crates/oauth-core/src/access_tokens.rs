use async_trait::async_trait;

use crate::{AccessTokenClaims, PublicKeys, RandomError, StoreError};

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
    /// there are keys, the server metadata name the `jwks_uri`.
    fn public_keys(&self) -> Option<&dyn PublicKeys> {
        None
    }
}

/// A temporary failure of a dependency. If the store failed, it may have made the change all the same; see
/// [`StoreError`]. The caller responds with 503 and `Retry-After`, never with `invalid_grant`, on which clients discard
/// their tokens.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Unavailable {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The signing keys.
    #[error(transparent)]
    Tokens(#[from] TokensUnavailable),
    /// Randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}
