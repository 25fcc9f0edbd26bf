use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use client_documents::Options;
use domain::Timestamp;
use library::{Clock, ManualClock, ModelSource, Settings, SharedEncoder};
use rustls::ServerConfig;
use storage::{StorageError, StoreClock};
use tokio::{net::TcpListener, sync::oneshot};
use web::{App, BaseUrl, HttpLimits, OAuthLimits, ServiceLinks, WebConfig};

use super::{TestApp, open, secret, start_time};
use crate::{log_watch, stores::Stores};

/// A model with a truncated file.
#[derive(Debug)]
struct BrokenModel;

impl ModelSource for BrokenModel {
    fn active_model(&self) -> Result<Option<SharedEncoder>, String> {
        Err("its file is truncated".to_owned())
    }

    fn encoder_by_name(&self, _: &str) -> Option<SharedEncoder> {
        None
    }
}

/// The clock of a shared store. Several machines follow it.
#[derive(Debug)]
struct TestStoreClock(Arc<ManualClock>);

#[async_trait::async_trait]
impl StoreClock for TestStoreClock {
    async fn store_time(&self) -> Result<Option<Timestamp>, StorageError> {
        Ok(Some(self.0.now()))
    }
}

/// The configuration of a [`TestApp`].
pub struct TestAppBuilder {
    pub(super) settings: Settings,
    pub(super) limits: HttpLimits,
    pub(super) oauth_limits: OAuthLimits,
    pub(super) public_base_url: Option<String>,
    pub(super) trusted_proxies: Vec<String>,
    pub(super) client_documents: Option<Options>,
    pub(super) links: ServiceLinks,
    pub(super) openai_challenge: Option<String>,
    pub(super) tls: Option<Arc<ServerConfig>>,
    pub(super) migrated: bool,
    pub(super) store_clock: Option<Arc<ManualClock>>,
    pub(super) clock_ahead: Duration,
    pub(super) stores: Option<Stores>,
    pub(super) seed: u64,
}

impl TestAppBuilder {
    /// Number of the newest images that an account on the free plan sees.
    #[must_use]
    pub fn free_window(mut self, images: u32) -> Self {
        self.settings.free_window = images;
        self
    }

    /// The settings of the library.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Limits on what one client may use.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut HttpLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// The rate limits of the authorization server.
    #[must_use]
    pub fn oauth_limits(mut self, change: impl FnOnce(&mut OAuthLimits)) -> Self {
        change(&mut self.oauth_limits);
        self
    }

    /// Sets a base URL other than the address that the service listens on.
    #[must_use]
    pub fn public_base_url(mut self, url: &str) -> Self {
        self.public_base_url = Some(url.to_owned());
        self
    }

    /// Adds a network of trusted proxies, such as `127.0.0.1/32`.
    #[must_use]
    pub fn trusted_proxy(mut self, network: &str) -> Self {
        self.trusted_proxies.push(network.to_owned());
        self
    }

    /// How client ID metadata documents are fetched, such as [`DocumentHost::options`](crate::oauth::DocumentHost::options).
    #[must_use]
    pub fn client_documents(mut self, options: Options) -> Self {
        self.client_documents = Some(options);
        self
    }

    /// Disables client ID metadata documents.
    #[must_use]
    pub fn without_client_documents(mut self) -> Self {
        self.client_documents = None;
        self
    }

    /// Sets the links to pages about the service.
    #[must_use]
    pub fn links(mut self, links: ServiceLinks) -> Self {
        self.links = links;
        self
    }

    /// Sets the token with which OpenAI verifies the domain.
    #[must_use]
    pub fn openai_challenge(mut self, token: &str) -> Self {
        self.openai_challenge = Some(token.to_owned());
        self
    }

    /// Serves https. Only raw connections work then.
    #[must_use]
    pub fn tls(mut self, config: Arc<ServerConfig>) -> Self {
        self.tls = Some(config);
        self
    }

    /// Sets the source of vision models.
    #[must_use]
    pub fn models(mut self, models: Arc<dyn ModelSource>) -> Self {
        self.settings.indexer.models = Some(models);
        self
    }

    /// Reads text in photos by OCR, in these languages.
    #[must_use]
    pub fn ocr(mut self, languages: &str) -> Self {
        let mut reader = self.settings.indexer.decoder.clone();
        reader.args.push(languages.into());
        self.settings.indexer.ocr_worker = Some(reader);
        self
    }

    /// Sets a vision model that cannot be loaded.
    #[must_use]
    pub fn broken_model(self) -> Self {
        self.models(Arc::new(BrokenModel))
    }

    /// Gives the store a clock of its own, as if the store were on another machine. The service follows that clock.
    #[must_use]
    pub fn store_with_clock(mut self) -> Self {
        self.store_clock = Some(Arc::new(ManualClock::new(start_time())));
        self
    }

    /// Leaves the migrations of the store pending.
    #[must_use]
    pub fn unmigrated(mut self) -> Self {
        self.migrated = false;
        self
    }

    /// Starts the service.
    ///
    /// # Panics
    /// If it cannot start.
    pub async fn start(self) -> TestApp {
        log_watch::start();
        let stores = match self.stores {
            Some(stores) => stores,
            None => Stores::create(self.migrated).await,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let ahead_ms = i64::try_from(self.clock_ahead.as_millis()).unwrap();
        let clock = Arc::new(ManualClock::new(start_time().plus_millis(ahead_ms)));
        let library_clock: Arc<dyn Clock> = match &self.store_clock {
            Some(of_store) => {
                library::clock_of(Arc::new(TestStoreClock(of_store.clone())), clock.clone()).await.unwrap()
            }
            None => clock.clone(),
        };
        let (library, store) = open(&stores, &library_clock, &self.settings, self.seed).await;
        let base_url = format!("http://{address}");
        let named_url = self.public_base_url.unwrap_or_else(|| base_url.clone());
        let mut config = WebConfig::new(BaseUrl::parse(&named_url).unwrap());
        config.limits = self.limits;
        config.oauth_limits = self.oauth_limits;
        config.trusted_proxies =
            self.trusted_proxies.iter().map(|network| network.parse().unwrap()).collect();
        config.client_documents = self.client_documents;
        config.links = self.links;
        config.openai_challenge = self.openai_challenge;
        config.tls = self.tls;
        let app = App::new(library.clone(), &secret(), config).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(web::serve(app.clone(), listener, async {
            let _ = stopped.await;
        }));
        TestApp {
            library,
            store,
            clock,
            store_clock: self.store_clock,
            library_clock,
            service_url: base_url.clone(),
            base_url,
            address,
            client: reqwest::Client::new(),
            settings: self.settings,
            indexed: AtomicBool::new(false),
            processes: AtomicU64::new(self.seed),
            app,
            stop: Some(stop),
            server: Some(server),
            stores,
        }
    }
}
