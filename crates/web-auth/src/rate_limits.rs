use std::{hash::Hash, net::IpAddr, num::NonZeroU32, time::Duration};

use governor::{
    Quota, RateLimiter, clock::Clock, middleware::NoOpMiddleware, state::keyed::HashMapStateStore,
};
use library::{Library, network_prefix, subscriber_prefix};
use oauth_core::SecretHash;

/// Upper bound on the keys of one limiter. Further keys are not limited, so that memory stays bounded.
const MAX_KEYS: usize = 100_000;

/// A rate limit as a token bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// Size of the bucket: requests allowed at once.
    pub burst: u32,
    /// Requests allowed per minute after that.
    pub per_minute: u32,
}

impl RateLimit {
    fn quota(self) -> Quota {
        let at_least_one = |number: u32| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Quota::per_minute(at_least_one(self.per_minute)).allow_burst(at_least_one(self.burst))
    }
}

/// Rate limits of sign-in: of the authorization server, and of the login flow of sync apps. The limits per address are
/// generous, because a hosted app serves many people from few addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OAuthLimits {
    /// Client registrations from one address (of IPv6, one /64).
    pub registrations: RateLimit,
    /// Client registrations from one network: an IPv4 /24 or an IPv6 /48.
    pub registrations_per_network: RateLimit,
    /// Token and revocation requests from one address.
    pub token_requests: RateLimit,
    /// Requests with the same authorization code or refresh token.
    pub same_token: RateLimit,
    /// Fetches of client ID metadata documents that one address causes.
    pub client_documents: RateLimit,
    /// Login flows that sync apps begin from one address.
    pub login_flows: RateLimit,
    /// Login flows that sync apps begin from one network.
    pub login_flows_per_network: RateLimit,
}

impl Default for OAuthLimits {
    fn default() -> Self {
        Self {
            registrations: RateLimit { burst: 1_000, per_minute: 30 },
            registrations_per_network: RateLimit { burst: 2_000, per_minute: 60 },
            token_requests: RateLimit { burst: 20_000, per_minute: 600_000 },
            same_token: RateLimit { burst: 200, per_minute: 60 },
            client_documents: RateLimit { burst: 30, per_minute: 10 },
            login_flows: RateLimit { burst: 200, per_minute: 30 },
            login_flows_per_network: RateLimit { burst: 400, per_minute: 60 },
        }
    }
}

/// The library's monotonic clock, so that a change of the wall clock does not affect limits.
#[derive(Clone)]
struct LibraryClock(Library);

impl Clock for LibraryClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.clock().monotonic()
    }
}

/// One token bucket per key.
struct Limiter<K: Hash + Eq + Clone> {
    limiter: RateLimiter<K, HashMapStateStore<K>, LibraryClock, NoOpMiddleware<Duration>>,
    clock: LibraryClock,
}

impl<K: Hash + Eq + Clone> Limiter<K> {
    fn new(limit: RateLimit, clock: LibraryClock) -> Self {
        Self { limiter: RateLimiter::hashmap_with_clock(limit.quota(), clock.clone()), clock }
    }

    /// Takes a token; if there is none, the error is the seconds to wait.
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

/// Rate limits of sign-in, per process.
pub struct RateLimits {
    registrations: Limiter<IpAddr>,
    registrations_per_network: Limiter<IpAddr>,
    token_requests: Limiter<IpAddr>,
    same_token: Limiter<SecretHash>,
    client_documents: Limiter<IpAddr>,
    login_flows: Limiter<IpAddr>,
    login_flows_per_network: Limiter<IpAddr>,
}

impl RateLimits {
    pub(crate) fn new(library: &Library, limits: &OAuthLimits) -> Self {
        let clock = LibraryClock(library.clone());
        Self {
            registrations: Limiter::new(limits.registrations, clock.clone()),
            registrations_per_network: Limiter::new(limits.registrations_per_network, clock.clone()),
            token_requests: Limiter::new(limits.token_requests, clock.clone()),
            same_token: Limiter::new(limits.same_token, clock.clone()),
            client_documents: Limiter::new(limits.client_documents, clock.clone()),
            login_flows: Limiter::new(limits.login_flows, clock.clone()),
            login_flows_per_network: Limiter::new(limits.login_flows_per_network, clock),
        }
    }

    /// Counts a client registration.
    ///
    /// # Errors
    /// The limit is reached: the seconds to wait.
    pub fn check_registration(&self, address: IpAddr) -> Result<(), u64> {
        self.registrations.check(&subscriber_prefix(address))?;
        self.registrations_per_network.check(&network_prefix(address))
    }

    /// Counts the start of a login flow.
    ///
    /// # Errors
    /// The limit is reached: the seconds to wait.
    pub fn check_login_flow(&self, address: IpAddr) -> Result<(), u64> {
        self.login_flows.check(&subscriber_prefix(address))?;
        self.login_flows_per_network.check(&network_prefix(address))
    }

    /// Counts a token or revocation request.
    ///
    /// # Errors
    /// The limit is reached: the seconds to wait.
    pub fn check_token_request(&self, address: IpAddr) -> Result<(), u64> {
        self.token_requests.check(&subscriber_prefix(address))
    }

    pub(crate) fn check_client_document(&self, address: IpAddr) -> Result<(), u64> {
        self.client_documents.check(&subscriber_prefix(address))
    }

    /// Counts a request with this authorization code or refresh token.
    ///
    /// # Errors
    /// The limit is reached: the seconds to wait.
    pub fn check_same_token(&self, token: SecretHash) -> Result<(), u64> {
        self.same_token.check(&token)
    }
}
