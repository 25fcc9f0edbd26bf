//! Passwords, sessions, grants and signing keys, on real stores with a manual clock.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy allows them in test functions; shared functions need them, too"
)]

mod grants;
mod passwords;
mod sessions;
mod signing_keys;

use std::{net::IpAddr, path::Path, sync::Arc, time::Duration};

use accounts::{Accounts, SignInError, SignInSource, SignedIn};
use clock::{Clock as _, ManualClock};
use domain::{Account, Email, Plan, Timestamp};
use keys::SeededRandom;
use storage::SchemaStore as _;
use storage_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

const SECOND_MS: i64 = 1000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Accounts with their own connection to the store, as in a separate process. Processes can share a clock.
struct Process {
    accounts: Accounts,
    store: SqliteStore,
    clock: Arc<ManualClock>,
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(Timestamp::from_millis(1_800_000_000_000).unwrap()))
}

async fn process(dir: &Path, clock: Arc<ManualClock>, seed: u64, waiting: usize) -> Process {
    let store = SqliteStore::open(&dir.join("library.sqlite"), SqliteOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    let random = Arc::new(SeededRandom::new(seed));
    let accounts = Accounts::new(Arc::new(store.clone()), clock.clone(), random, waiting);
    Process { accounts, store, clock }
}

/// One process in a new folder, with the account ann and the password `right`.
async fn with_ann() -> (TempDir, Process, Account) {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path(), clock(), 1, 64).await;
    let ann = it.account("ann", "right").await;
    (dir, it, ann)
}

impl Process {
    async fn account(&self, name: &str, password: &str) -> Account {
        let email = Email::parse(&format!("{name}@example.org")).unwrap();
        self.accounts.create_account(email, Plan::Paid, Some(password.into())).await.unwrap().0
    }

    async fn sign_in(&self, email: &str, password: &str, address: &str) -> Result<SignedIn, SignInError> {
        self.accounts.sign_in(email, password, from(address)).await
    }

    /// Signs ann in, and returns the token of the new session.
    async fn token(&self) -> String {
        self.sign_in("ann@example.org", "right", "192.0.2.1").await.unwrap().token
    }

    async fn is_signed_in(&self, token: &str) -> bool {
        self.accounts.session(token).await.unwrap().is_some()
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn later(&self, millis: i64) {
        self.clock.advance_ms(millis);
    }
}

fn from(address: &str) -> SignInSource {
    SignInSource { address: address.parse::<IpAddr>().unwrap(), user_agent: Some("Firefox".into()) }
}

/// Waits for the effect of a background task.
async fn eventually<F: Future<Output = bool>>(what: &str, mut condition: impl FnMut() -> F) {
    for _ in 0..500 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not in time: {what}");
}
