mod builder;

use std::{
    future::pending,
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
use data_encoding::HEXLOWER;
use domain::{BlobKind, ContentHash, Email, KeyName, Plan, SyncHandle, Timestamp};
use futures_util::TryStreamExt as _;
use keys::{Secret, SeededRandom};
use library::{Clock, Library, ManualClock, Settings};
use library_copy::{CopyOptions, Place};
use storage::{NewAccount, SharedStore};
use tokio::{net::TcpListener, runtime::Handle, sync::oneshot, task::JoinHandle};
use web::{App, HttpLimits, OAuthLimits, ServiceLinks};

use crate::{
    account::{PASSWORD, TestAccount},
    black_box::StoredCaptureTime,
    log_watch,
    stores::{Stack, Stores},
};

pub use builder::TestAppBuilder;

/// The initial time of the clock of every test.
pub const START_TIME: &str = "2024-06-01T12:00:00.000Z";

/// The secret of every service in tests.
///
/// # Panics
/// Never.
pub fn secret() -> Secret {
    Secret::from_text("a secret that is only good for tests").unwrap()
}

fn start_time() -> Timestamp {
    Timestamp::parse_iso(START_TIME).unwrap()
}

/// Opens the stores and a library on them, as a process does.
async fn open(
    stores: &Stores,
    clock: &Arc<dyn Clock>,
    settings: &Settings,
    seed: u64,
) -> (Library, SharedStore) {
    let (store, blobs) = (stores.open_metadata().await, stores.open_blobs());
    let random = Arc::new(SeededRandom::new(seed));
    (Library::new(store.clone(), blobs, clock.clone(), random, settings.clone()).unwrap(), store)
}

/// A running service with its own store. Dropping it stops the service.
pub struct TestApp {
    /// The library that is served.
    pub library: Library,
    /// Its metadata store.
    pub store: SharedStore,
    /// Its clock. The clock starts at [`START_TIME`], and only the test advances it.
    pub clock: Arc<ManualClock>,
    /// The URL of the address that the service listens on.
    pub base_url: String,
    /// The URL in links and tokens: the base URL of the first replica.
    pub service_url: String,
    /// The address that the service listens on.
    pub address: SocketAddr,
    pub(crate) client: reqwest::Client,
    pub(crate) indexed: AtomicBool,
    settings: Settings,
    store_clock: Option<Arc<ManualClock>>,
    library_clock: Arc<dyn Clock>,
    processes: AtomicU64,
    app: App,
    stop: Option<oneshot::Sender<()>>,
    server: Option<JoinHandle<std::io::Result<()>>>,
    stores: Stores,
}

impl TestApp {
    /// The HTTP interface.
    pub fn web(&self) -> &App {
        &self.app
    }

    /// Serves the metrics, and returns their base URL.
    ///
    /// # Panics
    /// If there is no free port.
    pub async fn serve_metrics(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(web::serve_metrics(self.app.clone(), listener, pending()));
        base_url
    }

    /// Starts a service with the default configuration.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// Configures a service.
    pub fn builder() -> TestAppBuilder {
        let limits = HttpLimits { drain_timeout: Duration::from_secs(5), ..HttpLimits::default() };
        TestAppBuilder {
            settings: crate::settings(),
            limits,
            oauth_limits: OAuthLimits::default(),
            public_base_url: None,
            trusted_proxies: Vec::new(),
            client_documents: Some(Options::default()),
            links: ServiceLinks::default(),
            openai_challenge: None,
            tls: None,
            migrated: true,
            store_clock: None,
            clock_ahead: Duration::ZERO,
            stores: None,
            seed: 1,
        }
    }

    /// The data folder, with a file `library.sqlite` if the stores are embedded, and a folder `blobs`.
    pub fn dir(&self) -> PathBuf {
        self.stores.folder().to_owned()
    }

    /// The blob store, opened once more.
    pub fn blobs(&self) -> BlobStore {
        self.stores.open_blobs()
    }

    /// The stored renditions.
    ///
    /// # Panics
    /// If they cannot be listed.
    pub async fn stored_renditions(&self) -> Vec<ContentHash> {
        let listed = self.blobs().content.list(BlobKind::Rendition);
        listed.map_ok(|(hash, _)| hash).try_collect().await.unwrap()
    }

    /// Whether the metadata store contains a text, such as a secret that it may store only as a hash.
    pub async fn is_stored(&self, text: &str) -> bool {
        self.stores.contain_text(text).await
    }

    /// The stored capture times of all visible images.
    pub async fn capture_times(&self) -> Vec<StoredCaptureTime> {
        self.stores.capture_times().await
    }

    /// Opens the same stores again, as another process does.
    pub async fn other_process(&self) -> Library {
        let seed = 1 + self.processes.fetch_add(1, Ordering::SeqCst);
        open(&self.stores, &self.library_clock, &self.settings, seed).await.0
    }

    /// Moves the library to new stores, and starts another service on them under the same URL. This service keeps running.
    ///
    /// # Panics
    /// If the library cannot be moved.
    pub async fn moved_to(&self, stack: Stack) -> Self {
        let stores = Stores::create_of(stack, true).await;
        let from = Place { store: self.store.clone(), blobs: self.blobs(), name: "here".to_owned() };
        let to = Place {
            store: stores.open_metadata().await,
            blobs: stores.open_blobs(),
            name: format!("{stack:?}"),
        };
        // Seeded photos have no stored original, so the copy must skip lost files.
        let options =
            CopyOptions { skip_lost: true, ..CopyOptions::new("transfer".to_owned(), self.clock.now()) };
        library_copy::copy(&from, &to, &options, |_| ()).await.unwrap();
        let builder = TestAppBuilder {
            settings: self.settings.clone(),
            public_base_url: Some(self.service_url.clone()),
            stores: Some(stores),
            seed: 2000,
            ..Self::builder()
        };
        let mut moved = builder.start().await;
        moved.service_url.clone_from(&self.service_url);
        moved.clock.advance_ms(self.clock.now().millis() - moved.clock.now().millis());
        moved
    }

    /// Starts a replica on the same stores under the same URL, on a machine whose clock is ahead.
    pub async fn replica(&self, ahead: Duration) -> Self {
        let builder = TestAppBuilder {
            settings: self.settings.clone(),
            public_base_url: Some(self.service_url.clone()),
            store_clock: self.store_clock.clone(),
            clock_ahead: ahead,
            stores: Some(self.stores.on_another_machine()),
            seed: 1000,
            ..Self::builder()
        };
        let mut replica = builder.start().await;
        replica.service_url.clone_from(&self.service_url);
        replica
    }

    /// Creates an account on the paid plan with photo sync.
    pub async fn account(&self, name: &str) -> TestAccount {
        let account = self.account_on(name, Plan::Paid).await;
        self.store.mark_synced(account.id, self.library.clock().now()).await.unwrap();
        account
    }

    /// Creates an account on the free plan with photo sync.
    pub async fn free_account(&self, name: &str) -> TestAccount {
        let account = self.account_on(name, Plan::Free).await;
        self.store.mark_synced(account.id, self.library.clock().now()).await.unwrap();
        account
    }

    /// Creates an account on the paid plan without photo sync.
    pub async fn unsynced_account(&self, name: &str) -> TestAccount {
        self.account_on(name, Plan::Paid).await
    }

    /// Creates an account on the paid plan with photo sync and [`PASSWORD`].
    pub async fn person(&self, name: &str) -> TestAccount {
        let email = Email::parse(&format!("{name}@example.org")).unwrap();
        let password = Some(PASSWORD.to_owned());
        let (account, _) =
            self.library.accounts.create_account(email.clone(), Plan::Paid, password).await.unwrap();
        self.store.mark_synced(account.id, self.library.clock().now()).await.unwrap();
        let key = self.library.accounts.create_key(&email, KeyName::parse("test").unwrap()).await.unwrap();
        TestAccount { id: account.id, email, key }
    }

    async fn account_on(&self, name: &str, plan: Plan) -> TestAccount {
        let email = Email::parse(&format!("{name}@example.org")).unwrap();
        let created_at = self.library.clock().now();
        // This is not a valid hash, because hashing is slow by design. No password matches it.
        let password_hash = "no password".to_owned();
        // Derived from the address, so that creating an account draws no random bytes.
        let digest = keys::sha256(email.as_str().as_bytes());
        let sync_handle = SyncHandle::parse(&HEXLOWER.encode(&digest[..12])).unwrap();
        let account = NewAccount { email: email.clone(), password_hash, plan, sync_handle, created_at };
        let id = self.store.create_account(account).await.unwrap().id;
        let key = self.library.accounts.create_key(&email, KeyName::parse("test").unwrap()).await.unwrap();
        TestAccount { id, email, key }
    }

    pub async fn set_plan(&self, account: &TestAccount, plan: Plan) {
        self.library.accounts.set_plan(&account.email, plan).await.unwrap();
    }

    /// Moves the clock of the service, and that of the store.
    pub fn advance(&self, time: Duration) {
        for clock in [Some(&self.clock), self.store_clock.as_ref()].into_iter().flatten() {
            clock.advance_ms(i64::try_from(time.as_millis()).unwrap());
        }
    }

    pub fn set_clock_back(&self, time: Duration) {
        let back = i64::try_from(time.as_millis()).unwrap();
        self.clock.set(self.library.clock().now().plus_millis(-back));
    }

    /// Starts the shutdown. The handle completes when the service has stopped.
    ///
    /// # Panics
    /// If the shutdown was started before.
    pub fn shut_down(&mut self) -> JoinHandle<std::io::Result<()>> {
        self.stop.take().unwrap().send(()).unwrap();
        self.server.take().unwrap()
    }
}

impl Drop for TestApp {
    /// Stops the service. Fails the test if a job is left over or the log contains a secret.
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // If the service has stopped by itself, the check below fails.
            let _ = stop.send(());
        }
        if std::thread::panicking() {
            return;
        }
        let leaks = log_watch::leaks();
        assert!(leaks.is_empty(), "the log contains what looks like a secret: {leaks:?}");
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
