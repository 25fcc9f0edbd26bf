use async_trait::async_trait;

use crate::{AccessTokenClaims, StoreError, UnixMillis};

/// Tells the time. The server reads no other clock, so that a test can move it.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> UnixMillis;
}

/// There are no random bytes to be had.
#[derive(Debug, thiserror::Error)]
#[error("there are no random bytes to be had")]
pub struct RandomError;

/// A source of random bytes that nobody can guess.
pub trait Random: Send + Sync + 'static {
    /// Fills `bytes`.
    ///
    /// # Errors
    /// [`RandomError`]; nothing is made from `bytes` then.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

/// The signing keys cannot be used now.
#[derive(Debug, thiserror::Error)]
#[error("the signing keys are unavailable: {0}")]
pub struct TokensUnavailable(pub String);

/// Turns claims into signed access tokens and back. How a token is encoded is the implementation's: RFC 9068 has JWTs
/// of type `at+jwt`.
#[async_trait]
pub trait AccessTokens: Send + Sync + 'static {
    /// A token with these claims.
    async fn sign(&self, claims: &AccessTokenClaims) -> Result<String, TokensUnavailable>;

    /// The claims of a token of this server: its header and signature are checked, its life time and audience are
    /// not. `None` for anything else, however malformed.
    async fn read(&self, token: &str) -> Result<Option<AccessTokenClaims>, TokensUnavailable>;
}

/// Something that the server needs does not work now; nothing was changed, or at most a code or token was made that
/// nobody got. The caller answers 503 with `Retry-After`, never `invalid_grant`, on which clients throw their tokens
/// away.
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
