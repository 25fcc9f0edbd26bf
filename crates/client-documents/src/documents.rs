use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use https_client::{BuildError, HttpsClient, Roots};
use oauth_core::{ClientDocuments, ClientUrl, DocumentError};
use quick_cache::sync::{Cache, EntryAction, EntryResult};
use tokio::sync::Semaphore;

use crate::{
    Network, SystemNetwork,
    fetch::{Fetched, Fetcher, limits},
    freshness::{FAILURE_LIFETIME, MIN_LIFETIME},
};

/// The most cached documents, of at most 32 KB each.
const CAPACITY: usize = 512;

/// How long an expired document is used when its host fails: as long as a consent form is valid.
const STALE_IF_ERROR: Duration = Duration::from_secs(3600);

/// How documents are fetched. The default suits a service in production.
#[derive(Clone)]
pub struct Options {
    /// Name resolution and connections.
    pub network: Arc<dyn Network>,
    pub roots: Roots,
    /// The time limit of one fetch, from name resolution to the last byte.
    pub timeout: Duration,
    /// The most fetches at once; one more is [`DocumentError::Busy`].
    pub max_concurrent: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            network: Arc::new(SystemNetwork::default()),
            roots: Roots::default(),
            timeout: Duration::from_secs(5),
            max_concurrent: 16,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("roots", &self.roots)
            .field("timeout", &self.timeout)
            .field("max_concurrent", &self.max_concurrent)
            .finish_non_exhaustive()
    }
}

/// A cached document or failure.
#[derive(Clone)]
struct Cached {
    outcome: Result<Arc<[u8]>, DocumentError>,
    fresh_until: Duration,
    /// Until when an expired document is still used if its host fails.
    stale_until: Duration,
    /// Before this time it is not fetched again, even for a caller that asks for a newer one.
    settled_until: Duration,
    /// Why the last fetch failed, if an older document is used meanwhile.
    failure: Option<DocumentError>,
}

/// Returns the time since an arbitrary start. It never steps back.
pub type MonotonicClock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// [`ClientDocuments`] from the internet, with a cache. Concurrent requests for one URL share one fetch.
pub struct HttpClientDocuments {
    fetcher: Fetcher,
    clock: MonotonicClock,
    slots: Semaphore,
    cache: Cache<ClientUrl, Cached>,
}

impl fmt::Debug for HttpClientDocuments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClientDocuments").field("cached", &self.cache.len()).finish_non_exhaustive()
    }
}

impl HttpClientDocuments {
    /// Fetches documents with this `user_agent`. Cached ones expire by `clock`.
    pub fn new(options: Options, clock: MonotonicClock, user_agent: &str) -> Result<Self, BuildError> {
        let Options { network, roots, timeout, max_concurrent } = options;
        let client = HttpsClient::new(&roots, user_agent, limits(timeout))?;
        let fetcher = Fetcher { network, client, timeout };
        Ok(Self { fetcher, clock, slots: Semaphore::new(max_concurrent), cache: Cache::new(CAPACITY) })
    }

    fn after(&self, lifetime: Duration) -> Duration {
        (self.clock)().saturating_add(lifetime)
    }

    /// The cached entry until that time of it, and then the outcome of a new fetch.
    async fn entry(
        &self,
        url: &ClientUrl,
        until: impl Fn(&Cached) -> Duration + Send,
    ) -> Result<Cached, DocumentError> {
        let now = (self.clock)();
        // Requests that arrive during the fetch wait for it. If the fetching request is dropped, the next request takes over.
        let entry = self.cache.entry_async(url, |_, cached| {
            if until(cached) > now {
                EntryAction::Retain(cached.clone())
            } else {
                EntryAction::ReplaceWithGuard
            }
        });
        let (slot, stale) = match entry.await {
            EntryResult::Retained(cached) => return Ok(cached),
            EntryResult::Vacant(slot) => (slot, None),
            EntryResult::Replaced(slot, stale) => (slot, Some(stale)),
            EntryResult::Removed(..) | EntryResult::Timeout => return Err(DocumentError::Busy),
        };
        // A user who has read the form can submit it even if the app's host fails meanwhile.
        let stale = stale.filter(|stale| stale.outcome.is_ok() && stale.stale_until > now);
        let fetched = match self.slots.try_acquire() {
            Ok(_permit) => self.fetcher.fetch(url).await,
            Err(_) => Err(DocumentError::Busy),
        };
        let cached = match (fetched, stale) {
            (Ok(Fetched { document, lifetime }), _) => {
                let fresh_until = self.after(lifetime);
                let stale_until = fresh_until.saturating_add(STALE_IF_ERROR);
                let settled_until = self.after(MIN_LIFETIME);
                Cached { outcome: Ok(document), fresh_until, stale_until, settled_until, failure: None }
            }
            (Err(failure), Some(stale)) => {
                let until = self.after(FAILURE_LIFETIME);
                let fresh_until = stale.fresh_until.max(until);
                Cached { fresh_until, settled_until: until, failure: Some(failure), ..stale }
            }
            // This error says nothing about the document, so it is not cached.
            (Err(DocumentError::Busy), None) => return Err(DocumentError::Busy),
            (Err(error), None) => {
                let until = self.after(FAILURE_LIFETIME);
                Cached {
                    outcome: Err(error),
                    fresh_until: until,
                    stale_until: until,
                    settled_until: until,
                    failure: None,
                }
            }
        };
        // If the cache does not store the entry, the next request fetches again.
        let _ = slot.insert(cached.clone());
        Ok(cached)
    }
}

#[async_trait]
impl ClientDocuments for HttpClientDocuments {
    async fn document(&self, url: &ClientUrl) -> Result<Arc<[u8]>, DocumentError> {
        self.entry(url, |cached| cached.fresh_until).await?.outcome
    }

    async fn refresh(&self, url: &ClientUrl) -> Result<Arc<[u8]>, DocumentError> {
        let Cached { outcome, failure, .. } = self.entry(url, |cached| cached.settled_until).await?;
        failure.map_or(outcome, Err)
    }

    fn is_cached(&self, url: &ClientUrl) -> bool {
        let now = (self.clock)();
        self.cache.peek(url).is_some_and(|cached| {
            cached.fresh_until > now || (cached.outcome.is_ok() && cached.stale_until > now)
        })
    }

    fn reject(&self, url: &ClientUrl) {
        if let Some(cached) = self.cache.peek(url) {
            let until = cached.fresh_until.min(self.after(FAILURE_LIFETIME));
            // Fails if the entry was evicted meanwhile.
            let _ = self.cache.replace(
                url.clone(),
                Cached { fresh_until: until, stale_until: until, ..cached },
                true,
            );
        }
    }
}
