use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use async_trait::async_trait;

use super::{KeySchedule, SigningKey, UnverifiedToken};
use crate::{
    AccessTokenClaims, AccessTokens, Clock, Config, Jwk, JwkSet, PublicKeys, SystemClock, TokensUnavailable,
    UnixMillis,
};

/// Access tokens as JWTs (RFC 9068) under the keys of a [`KeySchedule`]. See the [module](super) for an example.
pub struct JwtTokens {
    keys: RwLock<Arc<KeySchedule>>,
    token_lifetime_ms: i64,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for JwtTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtTokens").field("keys", &self.keys()).finish_non_exhaustive()
    }
}

impl JwtTokens {
    /// Signs and verifies with these keys, by the system's clock. `config` is the configuration of the server. Its
    /// lifetime of access tokens is how long a replaced key still verifies.
    pub fn new(keys: KeySchedule, config: &Config) -> Self {
        Self {
            keys: RwLock::new(Arc::new(keys)),
            token_lifetime_ms: i64::from(config.lifetimes().access_token_seconds) * 1000,
            clock: Arc::new(SystemClock),
        }
    }

    /// Replaces the system's clock, for tests.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Replaces the keys while the server runs. Tokens of a key that is missing now are refused.
    pub fn replace_keys(&self, keys: KeySchedule) {
        // A panic while the lock is held cannot leave the keys half replaced, so a poisoned lock is ignored.
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }

    fn keys(&self) -> Arc<KeySchedule> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The public keys of all keys that verify at a time, the one that signs first, each once.
    fn published(&self, now: UnixMillis) -> Vec<Jwk> {
        let keys = self.keys();
        let mut published = vec![keys.active(now)];
        for key in keys.verifying(now, self.token_lifetime_ms) {
            if published.iter().all(|other| other.kid() != key.kid()) {
                published.push(key);
            }
        }
        published.into_iter().map(SigningKey::public_jwk).collect()
    }
}

#[async_trait]
impl AccessTokens for JwtTokens {
    async fn sign(&self, claims: &AccessTokenClaims) -> Result<String, TokensUnavailable> {
        let claims = serde_json::to_vec(claims).map_err(|error| TokensUnavailable(error.to_string()))?;
        let (keys, now) = (self.keys(), self.clock.now());
        keys.active(now).sign(&claims).map_err(|error| TokensUnavailable(error.to_string()))
    }

    async fn read(&self, token: &str) -> Result<Option<AccessTokenClaims>, TokensUnavailable> {
        let Some(token) = UnverifiedToken::parse(token) else { return Ok(None) };
        let (keys, now) = (self.keys(), self.clock.now());
        let mut verifying = keys.verifying(now, self.token_lifetime_ms);
        let claims = verifying.find(|key| key.kid() == token.kid()).and_then(|key| key.verify(token));
        Ok(claims.and_then(|claims| serde_json::from_slice(&claims).ok()))
    }

    fn public_keys(&self) -> Option<&dyn PublicKeys> {
        Some(self)
    }
}

#[async_trait]
impl PublicKeys for JwtTokens {
    async fn jwk_set(&self) -> Result<JwkSet, TokensUnavailable> {
        Ok(JwkSet { keys: self.published(self.clock.now()) })
    }
}
