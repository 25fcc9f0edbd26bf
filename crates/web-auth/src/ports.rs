//! The ports of `oauth-core`, implemented by the library.

use async_trait::async_trait;
use library::{Library, SigningKeys};
use oauth_core::{
    AccessTokenClaims, AccessTokens, JwkSet, PublicKeys, RandomError, TokensUnavailable, UnixMillis,
    jwt::UnverifiedToken,
};

/// The library's clock.
pub(crate) struct Clock(pub(crate) Library);

impl oauth_core::Clock for Clock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.clock().now().millis())
    }
}

/// The library's randomness.
pub(crate) struct Random(pub(crate) Library);

impl oauth_core::Random for Random {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        self.0.random().fill(bytes)
    }
}

/// Access tokens as JWTs under the library's signing keys.
pub(crate) struct Tokens(pub(crate) SigningKeys);

#[async_trait]
impl AccessTokens for Tokens {
    async fn sign(&self, claims: &AccessTokenClaims) -> Result<String, TokensUnavailable> {
        let claims = serde_json::to_vec(claims).map_err(unavailable)?;
        self.0.sign(&claims).await.map_err(unavailable)
    }

    async fn read(&self, token: &str) -> Result<Option<AccessTokenClaims>, TokensUnavailable> {
        match UnverifiedToken::parse(token) {
            Some(token) => claims(&self.0, token).await,
            None => Ok(None),
        }
    }

    fn public_keys(&self) -> Option<&dyn PublicKeys> {
        Some(self)
    }
}

#[async_trait]
impl PublicKeys for Tokens {
    async fn jwk_set(&self) -> Result<JwkSet, TokensUnavailable> {
        Ok(JwkSet { keys: self.0.jwks().await.map_err(unavailable)? })
    }
}

/// The claims of a token that one of these keys signed.
pub(crate) async fn claims(
    keys: &SigningKeys,
    token: UnverifiedToken<'_>,
) -> Result<Option<AccessTokenClaims>, TokensUnavailable> {
    let claims = keys.verify(token).await.map_err(unavailable)?;
    Ok(claims.and_then(|claims| serde_json::from_slice(&claims).ok()))
}

pub(crate) fn unavailable(error: impl std::fmt::Display) -> TokensUnavailable {
    TokensUnavailable(error.to_string())
}
