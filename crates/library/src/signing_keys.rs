use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::Timestamp;
use keys::{OpenKeyError, PublicJwk, Random, Secret, SignedToken, SigningKey};
use storage::{NewSigningKey, SharedStore, StorageError, StoredSigningKey};

use crate::{Clock, Library, Unavailable};

/// How long a key verifies after another took its place: as long as what it signed may live, one hour.
pub(crate) const RETIRED_KEY_MS: i64 = 3600 * 1000;
/// How long keys that were read from the store are trusted for verifying. A key that was dropped or retired verifies at
/// most this much longer.
const FRESH: Duration = Duration::from_secs(60);
/// The shortest time between two reads of the store for tokens that name an unknown key.
const UNKNOWN_KEY: Duration = Duration::from_secs(1);
/// The most keys that verify: the newest ones. Nobody replaces keys more often than once a minute.
const MAX_KEYS: usize = 64;
/// How often a first key is tried to be made, each time because another process was quicker and its key is gone.
const TRIES: usize = 3;

/// The keys that access tokens are signed with, as all processes share them through the store. Clones share what they
/// know.
///
/// Every signature asks the store for the active key, so that a key that another process made is used at once. Opened
/// keys are remembered by their name, which never stands for another key.
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
    known: Mutex<Known>,
}

/// What this process knows of the keys.
#[derive(Default)]
struct Known {
    keys: HashMap<String, KnownKey>,
    /// When they were read, by the monotonic clock.
    read_at: Option<Duration>,
    /// When the store was last asked for a key that was not among them, by the monotonic clock.
    unknown_at: Option<Duration>,
    /// How many times reading was begun, and which of these `keys` came from: a slow one must not undo a later one.
    begun: u64,
    taken: u64,
}

#[derive(Clone)]
struct KnownKey {
    /// Opening one that failed is not tried again: the secret stays as it is.
    key: Result<Arc<SigningKey>, OpenKeyError>,
    retired_at: Option<Timestamp>,
}

impl KnownKey {
    /// The key, if what it signed is still read. What a retired one signed that the secret does not open is lost.
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

/// Whether less than this time has passed.
fn within(since: Option<Duration>, now: Duration, window: Duration) -> bool {
    since.is_some_and(|at| now.saturating_sub(at) < window)
}

impl Library {
    /// The keys that access tokens are signed with, sealed with this secret.
    pub fn signing_keys(&self, secret: Secret) -> SigningKeys {
        let inner = Inner {
            store: self.parts.store.clone(),
            clock: self.parts.clock.clone(),
            random: self.parts.random.clone(),
            secret,
            known: Mutex::default(),
        };
        SigningKeys { inner: Arc::new(inner) }
    }
}

impl SigningKeys {
    /// The access token that carries these claims, one JSON object, signed with the active key.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn sign(&self, claims: &[u8]) -> Result<String, Unavailable> {
        Ok(self.current().await?.sign(claims)?)
    }

    /// The claims of a token that one of our keys signed; `None` for anything else. Whether it has expired, and whom it
    /// is for, is for the caller to judge.
    ///
    /// # Errors
    /// [`Unavailable`]; never to be taken for a wrong token.
    pub async fn read(&self, token: &str) -> Result<Option<Vec<u8>>, Unavailable> {
        let Some(token) = SignedToken::parse(token) else { return Ok(None) };
        let key = self.verifier(token.kid()).await?;
        Ok(key.and_then(|key| key.verifying_key().verify(token)))
    }

    /// Whether tokens that the key of that name signed are still accepted. It reads the store about once a minute.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn verifies(&self, kid: &str) -> Result<bool, Unavailable> {
        Ok(self.verifier(kid).await?.is_some())
    }

    /// The public halves of all keys whose tokens are read, the active one among them; a first one is made if there is
    /// none.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn jwks(&self) -> Result<Vec<PublicJwk>, Unavailable> {
        let current = self.current().await?;
        let now = self.inner.clock.now();
        let known = self.known();
        let mut keys: Vec<Arc<SigningKey>> =
            known.keys.values().filter_map(|key| key.verifier(now).ok().flatten()).collect();
        keys.retain(|key| key.kid() != current.kid());
        keys.sort_by(|one, two| one.kid().cmp(two.kid()));
        keys.insert(0, current);
        Ok(keys.iter().map(|key| key.public_jwk().clone()).collect())
    }

    /// Puts a new key in the place of the active one and gives its name. What was signed until now is read until it
    /// expires.
    ///
    /// The secret must open the active key, unless `lost_secret`: then what that one signed is worth nothing any more.
    ///
    /// # Errors
    /// [`Unavailable`].
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

    /// The active key; the first one is made by whoever needs it first.
    async fn current(&self) -> Result<Arc<SigningKey>, Unavailable> {
        for _ in 0..TRIES {
            if let Some(active) = self.load().await? {
                return Ok(active.key?);
            }
            let key = SigningKey::generate(self.inner.random.as_ref())?;
            self.add(&key, true).await?;
        }
        Err(StorageError::Refused("the signing key that was made is not there".to_owned()).into())
    }

    async fn add(&self, key: &SigningKey, only_if_none_active: bool) -> Result<bool, Unavailable> {
        let sealed = key.seal(&self.inner.secret, self.inner.random.as_ref())?;
        let new = NewSigningKey { kid: key.kid().to_owned(), sealed };
        Ok(self.inner.store.add_signing_key(new, only_if_none_active, self.inner.clock.now()).await?)
    }

    /// The key of that name, if what it signed is still read.
    async fn verifier(&self, kid: &str) -> Result<Option<Arc<SigningKey>>, Unavailable> {
        let now = self.inner.clock.now();
        {
            let read_now = self.inner.clock.monotonic();
            let mut known = self.known();
            if within(known.read_at, read_now, FRESH) {
                if let Some(key) = known.keys.get(kid) {
                    return Ok(key.verifier(now)?);
                }
                if within(known.unknown_at, read_now, UNKNOWN_KEY) {
                    return Ok(None);
                }
                known.unknown_at = Some(read_now);
            }
        }
        self.load().await?;
        let known = self.known().keys.get(kid).cloned();
        Ok(known.map(|key| key.verifier(now)).transpose()?.flatten())
    }

    /// Reads the store, remembers what verifies, and gives the active key.
    async fn load(&self) -> Result<Option<KnownKey>, StorageError> {
        let turn = {
            let mut known = self.known();
            known.begun += 1;
            known.begun
        };
        let stored = self.inner.store.signing_keys().await?;
        let now = self.inner.clock.now();
        let mut known = self.known();
        let mut keys = HashMap::new();
        for stored in stored.into_iter().filter(|key| verifies(key.retired_at, now)).take(MAX_KEYS) {
            let key =
                known.keys.get(&stored.kid).map_or_else(|| self.open(&stored), |known| known.key.clone());
            keys.insert(stored.kid, KnownKey { key, retired_at: stored.retired_at });
        }
        let active = keys.values().find(|key| key.retired_at.is_none()).cloned();
        if turn > known.taken {
            let read_at = Some(self.inner.clock.monotonic());
            *known = Known { keys, read_at, taken: turn, ..std::mem::take(&mut *known) };
        }
        Ok(active)
    }

    fn open(&self, stored: &StoredSigningKey) -> Result<Arc<SigningKey>, OpenKeyError> {
        SigningKey::open(&stored.kid, &stored.sealed, &self.inner.secret)
            .map(Arc::new)
            .inspect_err(|error| tracing::warn!(%error, "no token of a signing key can be read"))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        // Nothing is left half done under the lock.
        self.inner.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
