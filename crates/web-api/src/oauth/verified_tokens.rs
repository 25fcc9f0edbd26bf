use std::sync::Arc;

use keys::{SignedToken, sha256};
use library::SigningKeys;
use oauth_core::{AccessTokenClaims, AccessTokens as _, TokensUnavailable};
use quick_cache::sync::Cache;

use super::ports::{self, Tokens};

/// How many tokens are remembered, at about a kilobyte each.
const CAPACITY: usize = 20_000;

/// The longest access token that is looked at; ours have about 700 bytes.
const MAX_TOKEN_BYTES: usize = 8192;

/// Access tokens whose signature was good, by their SHA-256, so that it is checked once. Only what a signature proves is
/// remembered. Every request checks again whether the key still verifies, whether the token has expired and whether its
/// grant was revoked.
pub(crate) struct VerifiedTokens {
    keys: SigningKeys,
    seen: Cache<[u8; 32], Arc<Verified>>,
}

struct Verified {
    /// The key that signed it.
    kid: String,
    claims: Arc<AccessTokenClaims>,
}

impl VerifiedTokens {
    pub(super) fn new(keys: SigningKeys) -> Self {
        Self { keys, seen: Cache::new(CAPACITY) }
    }

    /// The claims of a token of ours; `None` for anything else.
    pub(crate) async fn read(
        &self,
        token: &str,
    ) -> Result<Option<Arc<AccessTokenClaims>>, TokensUnavailable> {
        if token.len() > MAX_TOKEN_BYTES {
            return Ok(None);
        }
        let hash = sha256(token.as_bytes());
        if let Some(verified) = self.seen.get(&hash) {
            if self.keys.verifies(&verified.kid).await.map_err(ports::unavailable)? {
                return Ok(Some(verified.claims.clone()));
            }
            self.seen.remove(&hash);
            return Ok(None);
        }
        let Some(kid) = SignedToken::parse(token).map(|token| token.kid().to_owned()) else {
            return Ok(None);
        };
        let Some(claims) = Tokens(self.keys.clone()).read(token).await? else { return Ok(None) };
        let claims = Arc::new(claims);
        self.seen.insert(hash, Arc::new(Verified { kid, claims: claims.clone() }));
        Ok(Some(claims))
    }
}
