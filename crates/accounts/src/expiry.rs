use oauth_core::{StoreError, Sweep, UnixMillis};
use storage::StorageError;

use crate::{Accounts, sign_in::LIMITS, signing_keys::RETIRED_KEY_MS};

/// How long unredeemed authorization codes are kept.
const UNREDEEMED_CODE_MS: i64 = 24 * 3600 * 1000;
/// How long a client without an active grant stays registered: 90 days. A revoked grant is kept for the same time,
/// because its time of revocation starts these 90 days.
const UNUSED_CLIENT_MS: i64 = 90 * 24 * 3600 * 1000;
/// How long changes to photos are listed and can be undone: 90 days.
const UNDOABLE_MS: i64 = 90 * 24 * 3600 * 1000;
/// How many rows one write covers, so that other writes wait only briefly.
const BATCH: u32 = 200;

impl Accounts {
    /// Deletes expired sessions, login flows, failed sign-ins, authorization codes, grants, clients, used
    /// assertions of clients, and signing keys, until `stopped`.
    ///
    /// # Errors
    /// The store failed; a running service retries.
    pub async fn delete_expired(&self, stopped: impl Fn() -> bool) -> Result<(), StorageError> {
        let (store, now) = (&self.parts.store, self.parts.clock.now());
        while !stopped() && store.sweep_sessions(now, BATCH).await? > 0 {}
        let counted_since = now.plus_millis(-LIMITS.window_ms);
        while !stopped() && store.sweep_sign_in_attempts(counted_since, BATCH).await? > 0 {}
        while !stopped() && store.sweep_login_flows(now, BATCH).await? > 0 {}
        let before = |millis: i64| UnixMillis(now.millis()).plus_ms(-millis);
        let expired = Sweep {
            codes_before: before(UNREDEEMED_CODE_MS),
            grants_before: before(UNUSED_CLIENT_MS),
            clients_before: before(UNUSED_CLIENT_MS),
            assertions_before: before(0),
            max: BATCH,
        };
        let failed = |StoreError(reason)| StorageError::Unavailable(reason);
        while !stopped() && store.sweep(expired).await.map_err(failed)? > 0 {}
        let edits_before = now.plus_millis(-UNDOABLE_MS);
        while !stopped() && store.forget_edits(edits_before, BATCH).await? > 0 {}
        store.delete_retired_signing_keys(now.plus_millis(-RETIRED_KEY_MS)).await?;
        Ok(())
    }
}
