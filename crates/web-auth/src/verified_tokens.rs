use std::sync::Arc;

use async_trait::async_trait;
use keys::sha256;
use library::SigningKeys;
use oauth_core::{
    AccessTokenClaims, AccessTokens, JwkSet, PublicKeys, TokensUnavailable,
    jwt::{MAX_TOKEN_BYTES, UnverifiedToken},
};
use quick_cache::sync::Cache;

/// Number of cached tokens, at about a kilobyte each.
const CAPACITY: usize = 20_000;

/// Access tokens as JWTs under the library's signing keys. A cache of tokens with a valid signature, by SHA-256, verifies each
/// signature once.
///
/// Only the result of the signature is cached. Every request checks again whether the key still verifies, whether the token
/// has expired and whether its grant was revoked.
pub(crate) struct VerifiedTokens {
    keys: SigningKeys,
    cache: Cache<[u8; 32], Arc<Verified>>,
}

struct Verified {
    /// The id of the key that signed it.
    kid: String,
    claims: AccessTokenClaims,
}

impl VerifiedTokens {
    pub(crate) fn new(keys: SigningKeys) -> Self {
        Self { keys, cache: Cache::new(CAPACITY) }
    }
}

#[async_trait]
impl AccessTokens for VerifiedTokens {
    async fn sign(&self, claims: &AccessTokenClaims) -> Result<String, TokensUnavailable> {
        let claims = serde_json::to_vec(claims).map_err(unavailable)?;
        self.keys.sign(&claims).await.map_err(unavailable)
    }

    async fn read(&self, token: &str) -> Result<Option<AccessTokenClaims>, TokensUnavailable> {
        if token.len() > MAX_TOKEN_BYTES {
            return Ok(None);
        }
        let hash = sha256(token.as_bytes());
        if let Some(verified) = self.cache.get(&hash) {
            if self.keys.verifies(&verified.kid).await.map_err(unavailable)? {
                return Ok(Some(verified.claims.clone()));
            }
            self.cache.remove(&hash);
            return Ok(None);
        }
        let Some(unverified) = UnverifiedToken::parse(token) else { return Ok(None) };
        let kid = unverified.kid().to_owned();
        let claims = self.keys.verify(unverified).await.map_err(unavailable)?;
        let claims: Option<AccessTokenClaims> =
            claims.and_then(|claims| serde_json::from_slice(&claims).ok());
        if let Some(claims) = claims.clone() {
            self.cache.insert(hash, Arc::new(Verified { kid, claims }));
        }
        Ok(claims)
    }

    fn public_keys(&self) -> Option<&dyn PublicKeys> {
        Some(self)
    }
}

#[async_trait]
impl PublicKeys for VerifiedTokens {
    async fn jwk_set(&self) -> Result<JwkSet, TokensUnavailable> {
        Ok(JwkSet { keys: self.keys.jwks().await.map_err(unavailable)? })
    }
}

fn unavailable(error: impl std::fmt::Display) -> TokensUnavailable {
    TokensUnavailable(error.to_string())
}
