use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use blobs::BlobStore;
use client_documents::Options;
use domain::{AccountId, Email, KeyName, Plan, Timestamp};
use keys::{Secret, SeededRandom};
use library::{Library, ManualClock, ModelSource, Settings, SharedEncoder};
use storage::{NewAccount, SchemaStore as _, SharedStore};
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Handle, sync::oneshot, task::JoinHandle};
use web::{App, BaseUrl, HttpLimits, OAuthLimits, WebConfig};

use crate::log_watch;

/// A model whose file is torn.
#[derive(Debug)]
struct BrokenModel;

impl ModelSource for BrokenModel {
    fn active_model(&self) -> Result<Option<SharedEncoder>, String> {
        Err("its file is torn".to_owned())
    }

    fn encoder_by_name(&self, _: &str) -> Option<SharedEncoder> {
        None
    }
}

/// What the clock of every test shows at first.
pub const START_TIME: &str = "2024-06-01T12:00:00.000Z";

/// Someone with a library.
#[derive(Debug, Clone)]
pub struct TestAccount {
    /// The account's name inside the service.
    pub id: AccountId,
    /// Its address.
    pub email: Email,
    /// An API key of it.
    pub key: String,
}

/// How a [`TestApp`] is set up.
#[derive(Debug)]
pub struct TestAppBuilder {
    settings: Settings,
    limits: HttpLimits,
    oauth_limits: OAuthLimits,
    public_base_url: Option<String>,
    trusted_proxies: Vec<String>,
    client_documents: Option<Options>,
    migrated: bool,
}

impl TestAppBuilder {
    /// How many of its newest images an account on the free plan sees.
    #[must_use]
    pub fn free_window(mut self, images: u32) -> Self {
        self.settings.free_window = images;
        self
    }

    /// What one client may cost.
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

    /// The base URL that the service goes by, instead of the address that it listens on.
    #[must_use]
    pub fn public_base_url(mut self, url: &str) -> Self {
        self.public_base_url = Some(url.to_owned());
        self
    }

    /// A network of proxies whose word on the address of a client is believed, such as `127.0.0.1/32`.
    #[must_use]
    pub fn trusted_proxy(mut self, network: &str) -> Self {
        self.trusted_proxies.push(network.to_owned());
        self
    }

    /// How the documents of clients are fetched, such as [`DocumentHost::options`](crate::oauth::DocumentHost::options).
    #[must_use]
    pub fn client_documents(mut self, options: Options) -> Self {
        self.client_documents = Some(options);
        self
    }

    /// Has no app describe itself elsewhere.
    #[must_use]
    pub fn without_client_documents(mut self) -> Self {
        self.client_documents = None;
        self
    }

    /// Where vision models come from.
    #[must_use]
    pub fn models(mut self, models: Arc<dyn ModelSource>) -> Self {
        self.settings.models = Some(models);
        self
    }

    /// Reads words in photos, in these languages.
    #[must_use]
    pub fn ocr(mut self, languages: &str) -> Self {
        let mut reader = self.settings.decoder.clone();
        reader.args.push(languages.into());
        self.settings.ocr_worker = Some(reader);
        self
    }

    /// With a vision model that cannot be used.
    #[must_use]
    pub fn broken_model(self) -> Self {
        self.models(Arc::new(BrokenModel))
    }

    /// Leaves the store without its tables.
    #[must_use]
    pub fn unmigrated(mut self) -> Self {
        self.migrated = false;
        self
    }

    /// Serves.
    ///
    /// # Panics
    /// When that cannot be done.
    pub async fn start(self) -> TestApp {
        log_watch::begin();
        let dir = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let clock = Arc::new(ManualClock::new(Timestamp::parse_iso(START_TIME).unwrap()));
        let (library, store) = open(&dir, &clock, &self.settings, 1, self.migrated).await;
        let named_url = self.public_base_url.unwrap_or_else(|| format!("http://{address}"));
        let mut config = WebConfig::new(BaseUrl::parse(&named_url).unwrap());
        config.limits = self.limits;
        config.oauth_limits = self.oauth_limits;
        config.trusted_proxies =
            self.trusted_proxies.iter().map(|network| network.parse().unwrap()).collect();
        config.client_documents = self.client_documents;
        let app = App::new(library.clone(), &secret(), config).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(web::serve(app, listener, async {
            let _ = stopped.await;
        }));
        TestApp {
            library,
            store,
            clock,
            base_url: format!("http://{address}"),
            address,
            client: reqwest::Client::new(),
            settings: self.settings,
            indexed: AtomicBool::new(false),
            processes: AtomicU64::new(1),
            stop: Some(stop),
            server: Some(server),
            dir,
        }
    }
}

/// The secret of every service under test.
///
/// # Panics
/// Never.
pub fn secret() -> Secret {
    Secret::from_text("a secret that is only good for tests").unwrap()
}

/// The store and the library in a folder, as one process opens them.
async fn open(
    dir: &TempDir,
    clock: &Arc<ManualClock>,
    settings: &Settings,
    seed: u64,
    migrate: bool,
) -> (Library, SharedStore) {
    let options = SqliteOptions { readers: 4, durability: Durability::Off };
    let store = SqliteStore::open(&dir.path().join("library.sqlite"), options).await.unwrap();
    if migrate {
        store.migrate().await.unwrap();
    }
    let store: SharedStore = Arc::new(store);
    let blobs = BlobStore::open_folder(&dir.path().join("blobs")).unwrap();
    let random = Arc::new(SeededRandom::new(seed));
    (Library::new(store.clone(), blobs, clock.clone(), random, settings.clone()).unwrap(), store)
}

/// The service at work on a store of its own, until it is dropped.
pub struct TestApp {
    /// The library that is served.
    pub library: Library,
    /// Its metadata store.
    pub store: SharedStore,
    /// Its clock, which shows [`START`] until the test moves it.
    pub clock: Arc<ManualClock>,
    /// Where it is served.
    pub base_url: String,
    /// The same as an address.
    pub address: SocketAddr,
    pub(crate) client: reqwest::Client,
    pub(crate) indexed: AtomicBool,
    settings: Settings,
    processes: AtomicU64,
    stop: Option<oneshot::Sender<()>>,
    server: Option<JoinHandle<std::io::Result<()>>>,
    dir: TempDir,
}

impl TestApp {
    /// A service with the default set-up.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// A service that is set up otherwise.
    pub fn builder() -> TestAppBuilder {
        let limits = HttpLimits { drain_timeout: Duration::from_secs(5), ..HttpLimits::default() };
        TestAppBuilder {
            settings: crate::settings(),
            limits,
            oauth_limits: OAuthLimits::default(),
            public_base_url: None,
            trusted_proxies: Vec::new(),
            client_documents: Some(Options::default()),
            migrated: true,
        }
    }

    /// The folder that holds everything.
    pub fn dir(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// The same folder opened once more, as another process opens it.
    pub async fn other_process(&self) -> Library {
        let seed = 1 + self.processes.fetch_add(1, Ordering::SeqCst);
        open(&self.dir, &self.clock, &self.settings, seed, false).await.0
    }

    /// An account of the paid plan that has a sync set up.
    pub async fn account(&self, name: &str) -> TestAccount {
        let account = self.account_on(name, Plan::Paid).await;
        self.store.mark_synced(account.id, self.library.clock().now()).await.unwrap();
        account
    }

    /// An account of the free plan that has a sync set up.
    pub async fn free_account(&self, name: &str) -> TestAccount {
        let account = self.account_on(name, Plan::Free).await;
        self.store.mark_synced(account.id, self.library.clock().now()).await.unwrap();
        account
    }

    /// An account of the paid plan that never synced.
    pub async fn unsynced_account(&self, name: &str) -> TestAccount {
        self.account_on(name, Plan::Paid).await
    }

    /// An account of the paid plan, with a sync set up, that can sign in with [`PASSWORD`](crate::oauth::PASSWORD).
    pub async fn person(&self, name: &str) -> TestAccount {
        let email = Email::parse(&format!("{name}@example.org")).unwrap();
        let password = Some(crate::oauth::PASSWORD.to_owned());
        let (account, _) = self.library.create_account(email.clone(), Plan::Paid, password).await.unwrap();
        self.store.mark_synced(account.id, self.library.clock().now()).await.unwrap();
        let key = self.library.create_key(&email, KeyName::parse("test").unwrap()).await.unwrap();
        TestAccount { id: account.id, email, key }
    }

    async fn account_on(&self, name: &str, plan: Plan) -> TestAccount {
        let email = Email::parse(&format!("{name}@example.org")).unwrap();
        let created_at = self.library.clock().now();
        // No password opens it, and none is hashed, which is slow by design.
        let password_hash = "no password".to_owned();
        let account = NewAccount { email: email.clone(), password_hash, plan, created_at };
        let id = self.store.create_account(account).await.unwrap().id;
        let key = self.library.create_key(&email, KeyName::parse("test").unwrap()).await.unwrap();
        TestAccount { id, email, key }
    }

    /// Puts an account on a plan.
    pub async fn set_plan(&self, account: &TestAccount, plan: Plan) {
        self.library.set_plan(&account.email, plan).await.unwrap();
    }

    /// Moves the clock.
    pub fn advance(&self, time: Duration) {
        self.clock.advance_ms(i64::try_from(time.as_millis()).unwrap());
    }

    /// Sets the clock back.
    pub fn set_clock_back(&self, time: Duration) {
        let back = i64::try_from(time.as_millis()).unwrap();
        self.clock.set(self.library.clock().now().plus_millis(-back));
    }

    /// Asks the service to end and gives what waits for that.
    ///
    /// # Panics
    /// When it was asked already.
    pub fn shut_down(&mut self) -> JoinHandle<std::io::Result<()>> {
        self.stop.take().unwrap().send(()).unwrap();
        self.server.take().unwrap()
    }
}

impl Drop for TestApp {
    /// Stops the service, and fails the test if it left an image unindexed or told the log a secret.
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // A service that ended by itself is found out below.
            let _ = stop.send(());
        }
        if std::thread::panicking() {
            return;
        }
        let told = log_watch::told();
        assert!(told.is_empty(), "the log holds what looks like a secret: {told:?}");
        tokio::task::block_in_place(|| {
            Handle::current().block_on(async {
                if let Some(server) = self.server.take() {
                    server.await.unwrap().unwrap();
                }
                if self.indexed.load(Ordering::SeqCst) {
                    assert_eq!(self.store.queue_length().await.unwrap().pending, 0, "a job was left over");
                }
            });
        });
    }
}
