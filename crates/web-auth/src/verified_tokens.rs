use std::sync::Arc;

use keys::sha256;
use library::SigningKeys;
use oauth_core::{
    AccessTokenClaims, TokensUnavailable,
    jwt::{MAX_TOKEN_BYTES, UnverifiedToken},
};
use quick_cache::sync::Cache;

use crate::ports;

/// Number of cached tokens, at about a kilobyte each.
const CAPACITY: usize = 20_000;

/// A cache of access tokens with a valid signature, by SHA-256, so that each signature is verified once.
///
/// Only the result of the signature is cached. Every request checks again whether the key still verifies, whether the token
/// has expired and whether its grant was revoked.
pub struct VerifiedTokens {
    keys: SigningKeys,
    cache: Cache<[u8; 32], Arc<Verified>>,
}

struct Verified {
    /// The id of the key that signed it.
    kid: String,
    claims: Arc<AccessTokenClaims>,
}

impl VerifiedTokens {
    pub(crate) fn new(keys: SigningKeys) -> Self {
        Self { keys, cache: Cache::new(CAPACITY) }
    }

    /// The claims of a token that this service signed; `None` for any other text.
    ///
    /// # Errors
    /// The signing keys cannot be read now.
    pub async fn read(&self, token: &str) -> Result<Option<Arc<AccessTokenClaims>>, TokensUnavailable> {
        if token.len() > MAX_TOKEN_BYTES {
            return Ok(None);
        }
        let hash = sha256(token.as_bytes());
        if let Some(verified) = self.cache.get(&hash) {
            if self.keys.verifies(&verified.kid).await.map_err(ports::unavailable)? {
                return Ok(Some(verified.claims.clone()));
            }
            self.cache.remove(&hash);
            return Ok(None);
        }
        let Some(unverified) = UnverifiedToken::parse(token) else { return Ok(None) };
        let kid = unverified.kid().to_owned();
        let Some(claims) = ports::claims(&self.keys, unverified).await? else { return Ok(None) };
        let claims = Arc::new(claims);
        self.cache.insert(hash, Arc::new(Verified { kid, claims: claims.clone() }));
        Ok(Some(claims))
    }
}
