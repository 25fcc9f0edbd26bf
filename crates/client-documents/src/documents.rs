use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use http::{HeaderValue, header::InvalidHeaderValue};
use oauth_core::{ClientDocuments, ClientUrl, DocumentError};
use quick_cache::sync::{Cache, EntryAction, EntryResult};
use rustls::{ClientConfig, RootCertStore, client::Resumption, crypto::ring, pki_types::CertificateDer};
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;

use crate::{
    Internet, Network,
    fetch::{Fetched, Fetcher},
    freshness::FAILURE,
};

/// How many documents are remembered, of at most 32 KB each.
const CAPACITY: usize = 512;

/// How long after it expired a document replaces one that cannot be fetched: as long as a consent form is valid.
const STANDS_IN: Duration = Duration::from_secs(3600);

/// Who is believed when a host proves who it is.
#[derive(Debug, Clone, Default)]
pub enum Roots {
    /// Whom browsers believe, by Mozilla's list inside this program.
    #[default]
    Web,
    /// These certificates alone, in DER.
    Only(Vec<Vec<u8>>),
}

/// How documents are fetched. The default is what a service wants.
#[derive(Clone)]
pub struct Options {
    /// Names and connections.
    pub network: Arc<dyn Network>,
    /// Who is believed when a host proves who it is.
    pub roots: Roots,
    /// How long one fetch may take, from the look-up of its host to its last byte.
    pub timeout: Duration,
    /// How many documents are fetched at once; who asks for one more is told to come later.
    pub max_concurrent: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            network: Arc::new(Internet::default()),
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
            .field("at_once", &self.max_concurrent)
            .finish_non_exhaustive()
    }
}

/// Documents cannot be fetched at all.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// What the service calls itself cannot stand in a header.
    #[error("the user agent cannot stand in a header: {0}")]
    UserAgent(#[from] InvalidHeaderValue),
}

/// What is known of a URL.
#[derive(Clone)]
struct Known {
    outcome: Result<Arc<[u8]>, DocumentError>,
    until: Duration,
    /// Until when it stands in for one that cannot be fetched.
    stands_in_until: Duration,
}

/// Gives the time since an arbitrary moment before, which never steps back: what is remembered expires by it.
pub type MonotonicClock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The documents of the internet, as [`ClientDocuments`]: fetched once for all who ask at the same time, and
/// remembered.
pub struct HttpClientDocuments {
    fetcher: Fetcher,
    clock: MonotonicClock,
    slots: Semaphore,
    known: Cache<ClientUrl, Known>,
}

impl fmt::Debug for HttpClientDocuments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Documents").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

impl HttpClientDocuments {
    /// Fetches documents with this `user_agent`; what it remembers expires by `clock`.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn new(options: Options, clock: MonotonicClock, user_agent: &str) -> Result<Self, BuildError> {
        let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(believed(&options.roots)?)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        // Nothing of one connection tells that the next is of the same service.
        tls.resumption = Resumption::disabled();
        let fetcher = Fetcher {
            network: options.network,
            tls: TlsConnector::from(Arc::new(tls)),
            user_agent: HeaderValue::from_str(user_agent)?,
            timeout: options.timeout,
        };
        Ok(Self {
            fetcher,
            clock,
            slots: Semaphore::new(options.max_concurrent),
            known: Cache::new(CAPACITY),
        })
    }

    fn after(&self, lifetime: Duration) -> Duration {
        (self.clock)().saturating_add(lifetime)
    }
}

fn believed(roots: &Roots) -> Result<RootCertStore, rustls::Error> {
    match roots {
        Roots::Web => Ok(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect()),
        Roots::Only(certificates) => {
            let mut store = RootCertStore::empty();
            for certificate in certificates {
                store.add(CertificateDer::from(certificate.clone()))?;
            }
            Ok(store)
        }
    }
}

#[async_trait]
impl ClientDocuments for HttpClientDocuments {
    async fn document(&self, url: &ClientUrl) -> Result<Arc<[u8]>, DocumentError> {
        let now = (self.clock)();
        // Whoever comes while the document is fetched waits for that fetch; if whoever began it leaves, the next goes on.
        let entry = self.known.entry_async(url, |_, known| {
            if known.until > now {
                EntryAction::Retain(known.outcome.clone())
            } else {
                EntryAction::ReplaceWithGuard
            }
        });
        let (place, former) = match entry.await {
            EntryResult::Retained(outcome) => return outcome,
            EntryResult::Vacant(place) => (place, None),
            EntryResult::Replaced(place, former) => (place, Some(former)),
            EntryResult::Removed(..) | EntryResult::Timeout => return Err(DocumentError::Busy),
        };
        // Whoever has read a form answers it, though the app's host failed meanwhile.
        let former = former.filter(|former| former.outcome.is_ok() && former.stands_in_until > now);
        let fetched = match self.slots.try_acquire() {
            Ok(_slot) => self.fetcher.fetch(url).await,
            Err(_) => Err(DocumentError::Busy),
        };
        let known = match (fetched, former) {
            (Ok(Fetched { document, lifetime }), _) => {
                let until = self.after(lifetime);
                Known { outcome: Ok(document), until, stands_in_until: until.saturating_add(STANDS_IN) }
            }
            (Err(_), Some(former)) => Known { until: self.after(FAILURE), ..former },
            // Nothing was found out.
            (Err(DocumentError::Busy), None) => return Err(DocumentError::Busy),
            (Err(error), None) => {
                let until = self.after(FAILURE);
                Known { outcome: Err(error), until, stands_in_until: until }
            }
        };
        let outcome = known.outcome.clone();
        // When there is no place for it, it is only fetched again.
        let _ = place.insert(known);
        outcome
    }

    fn is_cached(&self, url: &ClientUrl) -> bool {
        let now = (self.clock)();
        self.known
            .peek(url)
            .is_some_and(|known| known.until > now || (known.outcome.is_ok() && known.stands_in_until > now))
    }

    fn reject(&self, url: &ClientUrl) {
        if let Some(known) = self.known.peek(url) {
            let until = known.until.min(self.after(FAILURE));
            // It is gone already when there is nothing to replace.
            let _ = self.known.replace(url.clone(), Known { until, stands_in_until: until, ..known }, true);
        }
    }
}
