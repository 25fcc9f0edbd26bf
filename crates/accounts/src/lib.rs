//! Accounts, API keys, passwords, sessions, sign-in of people and devices, and the keys that sign access tokens.
//!
//! The most common change is a new way to sign in: add a module with its method on [`Accounts`] and its error enum. A new kind of
//! credential is a variant of [`Credential`]; the compiler reports the other places.

mod accounts;
mod api_keys;
mod background;
mod caller;
mod expiry;
mod passwords;
mod security_events;
mod sessions;
mod set_up;
mod sign_in;
mod signing_keys;
mod sync_sign_in;
mod unavailable;

use std::sync::Arc;

use background::BackgroundWriter;
use clock::Clock;
use keys::Random;
use passwords::Passwords;
use sign_in::SignInLocks;
use storage::SharedStore;

pub use accounts::AccountError;
pub use api_keys::KeyError;
pub use caller::{Caller, Credential, Editor};
pub use set_up::SetUpError;
pub use sign_in::{
    ChangePasswordError, SignInError, SignInSource, SignedIn, network_prefix, subscriber_prefix,
};
pub use signing_keys::{SigningKeys, TOKEN_LIFETIMES};
pub use sync_sign_in::{ConnectedDevice, LoginFlowTokens, NewSyncPassword, OneTimeLogin, SyncPasswordError};
pub use unavailable::Unavailable;

/// The accounts of the library, and the credentials of those who act for them. Clones share their state.
#[derive(Clone)]
pub struct Accounts {
    parts: Arc<Parts>,
}

struct Parts {
    store: SharedStore,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    passwords: Passwords,
    sign_in_locks: SignInLocks,
    key_uses: BackgroundWriter,
    grant_uses: BackgroundWriter,
    session_uses: BackgroundWriter,
    failed_sign_ins: BackgroundWriter,
}

impl Accounts {
    /// At most `passwords_waiting` passwords wait to be checked; further sign-ins are refused.
    pub fn new(
        store: SharedStore,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        passwords_waiting: usize,
    ) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let parts = Parts {
            store,
            clock,
            random,
            passwords: Passwords::new(processors, passwords_waiting),
            sign_in_locks: SignInLocks::default(),
            key_uses: BackgroundWriter::new("the use of an API key"),
            grant_uses: BackgroundWriter::new("the use of a grant"),
            session_uses: BackgroundWriter::new("the use of a session"),
            failed_sign_ins: BackgroundWriter::new("a failed sign-in"),
        };
        Self { parts: Arc::new(parts) }
    }

    /// The authorization server's store of clients and grants.
    pub fn grants(&self) -> Arc<dyn oauth_core::Store> {
        self.parts.store.clone()
    }

    fn random(&self) -> &dyn Random {
        self.parts.random.as_ref()
    }
}
