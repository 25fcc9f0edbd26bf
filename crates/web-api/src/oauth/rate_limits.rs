use std::{hash::Hash, net::IpAddr, num::NonZeroU32, time::Duration};

use governor::{
    Quota, RateLimiter, clock::Clock, middleware::NoOpMiddleware, state::keyed::HashMapStateStore,
};
use library::{Library, network_prefix, subscriber_prefix};
use oauth_core::SecretHash;

use http_server::HttpLimits;

/// The most keys that one limiter remembers. Beyond them nothing new is counted: memory is bounded first.
const MAX_KEYS: usize = 100_000;

/// How often something may be done: so many times at once, and so many each minute on the average.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// How many times at once.
    pub burst: u32,
    /// How many times a minute after that.
    pub per_minute: u32,
}

impl RateLimit {
    fn quota(self) -> Quota {
        let at_least_one = |number: u32| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Quota::per_minute(at_least_one(self.per_minute)).allow_burst(at_least_one(self.burst))
    }
}

/// The library's monotonic clock: nobody has to wait because the wall clock was set back.
#[derive(Clone)]
struct LibraryClock(Library);

impl Clock for LibraryClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.clock().monotonic()
    }
}

/// Allowances for each of many keys.
struct Limiter<K: Hash + Eq + Clone> {
    limiter: RateLimiter<K, HashMapStateStore<K>, LibraryClock, NoOpMiddleware<Duration>>,
    clock: LibraryClock,
}

impl<K: Hash + Eq + Clone> Limiter<K> {
    fn new(limit: RateLimit, clock: LibraryClock) -> Self {
        Self { limiter: RateLimiter::hashmap_with_clock(limit.quota(), clock.clone()), clock }
    }

    /// Counts one more; when that is too many, how many seconds there are to wait.
    fn check(&self, key: &K) -> Result<(), u64> {
        if self.limiter.len() >= MAX_KEYS {
            self.limiter.retain_recent();
            if self.limiter.len() >= MAX_KEYS {
                return Ok(());
            }
        }
        self.limiter.check_key(key).map_err(|until| {
            let wait = until.wait_time_from(self.clock.now());
            wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
        })
    }
}

/// What keeps one client from costing all others: generous for an address, from which a hosted client may serve many
/// people, narrower for one token.
pub(crate) struct RateLimits {
    registrations: Limiter<IpAddr>,
    registrations_of_network: Limiter<IpAddr>,
    token_requests: Limiter<IpAddr>,
    same_token: Limiter<SecretHash>,
    client_documents: Limiter<IpAddr>,
}

impl RateLimits {
    pub(crate) fn new(library: &Library, limits: &HttpLimits) -> Self {
        let clock = LibraryClock(library.clone());
        Self {
            registrations: Limiter::new(limits.registrations, clock.clone()),
            registrations_of_network: Limiter::new(limits.registrations_of_network, clock.clone()),
            token_requests: Limiter::new(limits.token_requests, clock.clone()),
            same_token: Limiter::new(limits.same_token, clock.clone()),
            client_documents: Limiter::new(limits.client_documents, clock),
        }
    }

    pub(super) fn check_registration(&self, address: IpAddr) -> Result<(), u64> {
        self.registrations.check(&subscriber_prefix(address))?;
        self.registrations_of_network.check(&network_prefix(address))
    }

    pub(super) fn check_token_request(&self, address: IpAddr) -> Result<(), u64> {
        self.token_requests.check(&subscriber_prefix(address))
    }

    pub(super) fn check_client_document(&self, address: IpAddr) -> Result<(), u64> {
        self.client_documents.check(&subscriber_prefix(address))
    }

    pub(super) fn check_same_token(&self, token: SecretHash) -> Result<(), u64> {
        self.same_token.check(&token)
    }
}
