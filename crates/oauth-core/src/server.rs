use std::{fmt, sync::Arc};

use crate::{
    AccessTokens, ClientDocuments, Clock, Config, Random, Resource, Store, StoreError, Sweep, UnixMillis,
    secret::DerivedKeys,
};

pub(crate) const DAY_MS: i64 = 24 * 3_600_000;
/// How long an unused registration and an ended grant are kept.
const UNUSED_DAYS: i64 = 90;

/// An OAuth 2.1 authorization server without a transport. Clones share everything.
#[derive(Clone)]
pub struct AuthorizationServer {
    pub(crate) config: Arc<Config>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) tokens: Arc<dyn AccessTokens>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) keys: Arc<DerivedKeys>,
    pub(crate) documents: Option<Arc<dyn ClientDocuments>>,
}

impl fmt::Debug for AuthorizationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationServer").field("config", &self.config).finish_non_exhaustive()
    }
}

impl AuthorizationServer {
    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The store, for listing and revoking a user's connections.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The resource with that URL; see [`Config::resource`].
    pub fn resource(&self, url: &str) -> Option<&Resource> {
        self.config.resource(url)
    }

    pub(crate) fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    /// Deletes expired data, at most `max` rows of each kind, and returns the number of deleted rows. Call it until it
    /// returns 0. Codes are kept for a day, ended grants for 90 days, clients without a grant for 90 days after
    /// their last registration, and used assertions until they expire.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn sweep(&self, max: u32) -> Result<u64, StoreError> {
        let now = self.now();
        let unused = now.plus_ms(-UNUSED_DAYS * DAY_MS);
        let codes_before = now.plus_ms(-DAY_MS);
        let sweep = Sweep {
            codes_before,
            grants_before: unused,
            clients_before: unused,
            assertions_before: now,
            max,
        };
        self.store.sweep(sweep).await
    }
}
