use std::sync::Arc;

use keys::sha256;
use oauth_core::{AccessTokenClaims, AccessTokens, TokensUnavailable};
use quick_cache::sync::Cache;

/// How many tokens are remembered, at about a kilobyte each.
const CAPACITY: usize = 20_000;

/// The longest access token that is looked at; ours have about 700 bytes.
const MAX_TOKEN_BYTES: usize = 8192;

/// Access tokens whose signature was good, by their SHA-256, so that it is checked once. Only what a signature proves is
/// remembered: whether the token has expired and whether its grant still stands is asked at every request.
pub(crate) struct VerifiedTokens {
    tokens: Arc<dyn AccessTokens>,
    seen: Cache<[u8; 32], Arc<AccessTokenClaims>>,
}

impl VerifiedTokens {
    pub(super) fn new(tokens: Arc<dyn AccessTokens>) -> Self {
        Self { tokens, seen: Cache::new(CAPACITY) }
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
        if let Some(claims) = self.seen.get(&hash) {
            return Ok(Some(claims));
        }
        let Some(claims) = self.tokens.read(token).await? else { return Ok(None) };
        let claims = Arc::new(claims);
        self.seen.insert(hash, claims.clone());
        Ok(Some(claims))
    }
}
