use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::Timestamp;
use keys::{OpenKeyError, Random, Secret, SigningKey};
use oauth_core::{Jwk, Lifetimes, jwt::UnverifiedToken};
use storage::{NewSigningKey, SharedStore, StorageError, StoredSigningKey};

use clock::Clock;

use crate::{Accounts, Unavailable};

/// How long codes and tokens of the authorization server are valid.
pub const TOKEN_LIFETIMES: Lifetimes = Lifetimes::DEFAULT;
/// How long a retired key still verifies: the lifetime of an access token.
pub(crate) const RETIRED_KEY_MS: i64 = TOKEN_LIFETIMES.access_token_seconds as i64 * 1000;
/// How long cached keys are used for verifying. A deleted or retired key verifies at most this much longer.
const CACHE_TTL: Duration = Duration::from_secs(60);
/// The shortest time between two reads of the store for tokens that name an unknown key.
const UNKNOWN_KEY_INTERVAL: Duration = Duration::from_secs(1);
/// At most this many keys verify: the newest ones.
const MAX_KEYS: usize = 64;
/// How often the creation of the first key is attempted. An attempt fails if another process created a key that was
/// deleted since.
const MAX_ATTEMPTS: usize = 3;

/// The keys that sign access tokens, which all processes share through the store. Clones share a cache.
///
/// Every signature reads the active key from the store, so that a key that another process created is used at once.
/// Opened keys are cached by their key id, which is never reused.
#[derive(Clone)]
pub struct SigningKeys {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for SigningKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningKeys(…)")
    }
}

struct Inner {
    store: SharedStore,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    secret: Secret,
    cache: Mutex<KeyCache>,
}

/// The keys as this process last read them.
#[derive(Default)]
struct KeyCache {
    keys: HashMap<String, CachedKey>,
    /// When the keys were read, by the monotonic clock.
    read_at: Option<Duration>,
    /// When the store was last read for an unknown key, by the monotonic clock.
    unknown_at: Option<Duration>,
    /// The number of started reads, and the number of the read that filled `keys`. A slow read must not replace the
    /// result of a later one.
    started_reads: u64,
    cached_read: u64,
}

#[derive(Clone)]
struct CachedKey {
    /// A failed opening is not retried, because the secret does not change.
    key: Result<Arc<SigningKey>, OpenKeyError>,
    retired_at: Option<Timestamp>,
}

impl CachedKey {
    /// The key, if its tokens are still accepted. A retired key that the secret does not open is ignored.
    fn verifier(&self, now: Timestamp) -> Result<Option<Arc<SigningKey>>, OpenKeyError> {
        match &self.key {
            Ok(key) => Ok(verifies(self.retired_at, now).then(|| key.clone())),
            Err(error) if self.retired_at.is_none() => Err(error.clone()),
            Err(_) => Ok(None),
        }
    }
}

fn verifies(retired_at: Option<Timestamp>, now: Timestamp) -> bool {
    retired_at.is_none_or(|at| now < at.plus_millis(RETIRED_KEY_MS))
}

/// Whether less than `window` has passed since `since`.
fn within(since: Option<Duration>, now: Duration, window: Duration) -> bool {
    since.is_some_and(|at| now.saturating_sub(at) < window)
}

impl Accounts {
    /// The keys that sign access tokens, sealed with this secret.
    pub fn signing_keys(&self, secret: Secret) -> SigningKeys {
        let inner = Inner {
            store: self.parts.store.clone(),
            clock: self.parts.clock.clone(),
            random: self.parts.random.clone(),
            secret,
            cache: Mutex::default(),
        };
        SigningKeys { inner: Arc::new(inner) }
    }
}

impl SigningKeys {
    /// An access token with these claims (one JSON object), signed with the active key.
    pub async fn sign(&self, claims: &[u8]) -> Result<String, Unavailable> {
        Ok(self.current().await?.sign(claims)?)
    }

    /// The claims of a token, if one of these keys signed it. The caller must check expiry and audience.
    ///
    /// # Errors
    /// [`Unavailable`]; it does not mean that the token is wrong.
    pub async fn verify(&self, token: UnverifiedToken<'_>) -> Result<Option<Vec<u8>>, Unavailable> {
        let key = self.verifier(token.kid()).await?;
        Ok(key.and_then(|key| key.verify(token)))
    }

    /// Whether tokens of the key with this id are still accepted. Reads the store about once a minute.
    pub async fn verifies(&self, kid: &str) -> Result<bool, Unavailable> {
        Ok(self.verifier(kid).await?.is_some())
    }

    /// The public keys of all keys whose tokens are accepted, the active one first. Creates a key if there is none.
    pub async fn jwks(&self) -> Result<Vec<Jwk>, Unavailable> {
        let current = self.current().await?;
        let now = self.inner.clock.now();
        let cache = self.cache();
        let mut keys: Vec<Arc<SigningKey>> =
            cache.keys.values().filter_map(|key| key.verifier(now).ok().flatten()).collect();
        keys.retain(|key| key.kid() != current.kid());
        keys.sort_by(|one, two| one.kid().cmp(two.kid()));
        keys.insert(0, current);
        Ok(keys.iter().map(|key| key.public_jwk()).collect())
    }

    /// Replaces the active key with a new one and returns its id. Tokens of the old key are accepted until they expire.
    ///
    /// The secret must open the active key, unless `lost_secret` is set: then tokens of the old key become invalid.
    pub async fn rotate(&self, lost_secret: bool) -> Result<String, Unavailable> {
        if let Some(active) = self.load().await?
            && !lost_secret
        {
            active.key?;
        }
        let key = SigningKey::generate(self.inner.random.as_ref())?;
        self.add(&key, false).await?;
        Ok(key.kid().to_owned())
    }

    /// The active key. Creates one if there is none.
    async fn current(&self) -> Result<Arc<SigningKey>, Unavailable> {
        for _ in 0..MAX_ATTEMPTS {
            if let Some(active) = self.load().await? {
                return Ok(active.key?);
            }
            let key = SigningKey::generate(self.inner.random.as_ref())?;
            self.add(&key, true).await?;
        }
        Err(StorageError::Refused("a new signing key disappeared from the store".to_owned()).into())
    }

    async fn add(&self, key: &SigningKey, only_if_none_active: bool) -> Result<bool, Unavailable> {
        let sealed = key.seal(&self.inner.secret, self.inner.random.as_ref())?;
        let new = NewSigningKey { kid: key.kid().to_owned(), sealed };
        Ok(self.inner.store.add_signing_key(new, only_if_none_active, self.inner.clock.now()).await?)
    }

    /// The key with this id, if its tokens are still accepted.
    async fn verifier(&self, kid: &str) -> Result<Option<Arc<SigningKey>>, Unavailable> {
        let now = self.inner.clock.now();
        {
            let read_now = self.inner.clock.monotonic();
            let mut cache = self.cache();
            if within(cache.read_at, read_now, CACHE_TTL) {
                if let Some(key) = cache.keys.get(kid) {
                    return Ok(key.verifier(now)?);
                }
                if within(cache.unknown_at, read_now, UNKNOWN_KEY_INTERVAL) {
                    return Ok(None);
                }
                cache.unknown_at = Some(read_now);
            }
        }
        self.load().await?;
        let key = self.cache().keys.get(kid).cloned();
        Ok(key.map(|key| key.verifier(now)).transpose()?.flatten())
    }

    /// Reads the keys from the store into the cache and returns the active one.
    async fn load(&self) -> Result<Option<CachedKey>, StorageError> {
        let read = {
            let mut cache = self.cache();
            cache.started_reads += 1;
            cache.started_reads
        };
        let stored = self.inner.store.signing_keys().await?;
        let now = self.inner.clock.now();
        let mut cache = self.cache();
        let mut keys = HashMap::new();
        for stored in stored.into_iter().filter(|key| verifies(key.retired_at, now)).take(MAX_KEYS) {
            let key =
                cache.keys.get(&stored.kid).map_or_else(|| self.open(&stored), |cached| cached.key.clone());
            keys.insert(stored.kid, CachedKey { key, retired_at: stored.retired_at });
        }
        let active = keys.values().find(|key| key.retired_at.is_none()).cloned();
        if read > cache.cached_read {
            let read_at = Some(self.inner.clock.monotonic());
            *cache = KeyCache { keys, read_at, cached_read: read, ..std::mem::take(&mut *cache) };
        }
        Ok(active)
    }

    fn open(&self, stored: &StoredSigningKey) -> Result<Arc<SigningKey>, OpenKeyError> {
        SigningKey::open(&stored.kid, &stored.sealed, &self.inner.secret).map(Arc::new).inspect_err(
            |error| tracing::warn!(%error, "a signing key cannot be opened; its tokens are refused"),
        )
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, KeyCache> {
        // A panic under the lock leaves the cache consistent.
        self.inner.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
