use async_trait::async_trait;

use crate::{AccessTokenClaims, RandomError, StoreError};

/// The signing keys are temporarily unavailable.
#[derive(Debug, thiserror::Error)]
#[error("the signing keys are unavailable: {0}")]
pub struct TokensUnavailable(pub String);

/// Encodes claims as signed access tokens and decodes them. The implementation chooses the format, for instance JWTs
/// (RFC 9068).
#[async_trait]
pub trait AccessTokens: Send + Sync + 'static {
    /// A token with these claims.
    async fn sign(&self, claims: &AccessTokenClaims) -> Result<String, TokensUnavailable>;

    /// The claims of a token that this server signed; `None` for any other text. Checks the signature, but not expiry
    /// and audience.
    async fn read(&self, token: &str) -> Result<Option<AccessTokenClaims>, TokensUnavailable>;
}

/// A temporary failure of a dependency. Nothing was changed, or at most a code or token was created that no client
/// received. The caller responds with 503 and `Retry-After`, never with `invalid_grant`, on which clients discard their
/// tokens.
#[derive(Debug, thiserror::Error)]
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
