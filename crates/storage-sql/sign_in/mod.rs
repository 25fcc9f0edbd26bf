mod attempts;
mod security_events;
mod sessions;
mod signing_keys;

pub(crate) use security_events::delete_all as delete_security_events;
pub(crate) use sessions::end_all as end_all_sessions;

use async_trait::async_trait;
use domain::{AccountId, Timestamp};
use storage::{
    AttemptId, NewSecurityEvent, NewSession, NewSigningKey, SecurityEvent, SecurityEventStore, SessionHash,
    SessionHolder, SessionInfo, SessionStore, SignInAttempt, SignInDecision, SignInLimits, SignInStore,
    SigningKeyStore, StorageError, StoredSigningKey,
};

use crate::{Lock, SqlStore};

#[async_trait]
impl SessionStore for SqlStore {
    async fn add_session(&self, session: NewSession) -> Result<bool, StorageError> {
        self.write(Lock::Account(session.account.0), move |c| sessions::add(c, &session)).await
    }

    async fn session(
        &self,
        hash: &SessionHash,
        at: Timestamp,
    ) -> Result<Option<SessionHolder>, StorageError> {
        let hash = *hash;
        self.query_inline(move |c| sessions::holder(c, &hash, at)).await
    }

    async fn touch_session(
        &self,
        hash: &SessionHash,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StorageError> {
        let hash = *hash;
        self.write(Lock::Nothing, move |c| sessions::touch(c, &hash, at, expires_at)).await
    }

    async fn sessions(&self, account: AccountId) -> Result<Vec<SessionInfo>, StorageError> {
        self.query(move |c| sessions::all(c, account)).await
    }

    async fn end_session(&self, hash: &SessionHash) -> Result<bool, StorageError> {
        let hash = *hash;
        self.write(Lock::Nothing, move |c| sessions::end(c, &hash)).await
    }

    async fn end_sessions(
        &self,
        account: AccountId,
        except: Option<SessionHash>,
    ) -> Result<u64, StorageError> {
        self.write(Lock::Nothing, move |c| sessions::end_all(c, account, except)).await
    }

    async fn sweep_sessions(&self, before: Timestamp, max: u32) -> Result<u64, StorageError> {
        self.write(Lock::Nothing, move |c| sessions::sweep(c, before, max)).await
    }
}

#[async_trait]
impl SignInStore for SqlStore {
    async fn begin_sign_in(
        &self,
        attempt: &SignInAttempt,
        at: Timestamp,
        limits: SignInLimits,
    ) -> Result<SignInDecision, StorageError> {
        let attempt = *attempt;
        // A locked-out attempt is refused without the write lock, so that guessing passwords does not delay
        // other writes.
        if let Some(until) = self.read(move |c| attempts::locked_until(c, &attempt, at, limits)).await? {
            return Ok(SignInDecision::LockedUntil(until));
        }
        self.write(Lock::SignIn(attempt.network), move |c| attempts::begin(c, &attempt, at, limits)).await
    }

    async fn record_sign_in_success(&self, attempt: AttemptId) -> Result<(), StorageError> {
        self.write(Lock::Nothing, move |c| attempts::delete(c, attempt)).await
    }

    async fn sweep_sign_in_attempts(&self, before: Timestamp, max: u32) -> Result<u64, StorageError> {
        self.write(Lock::Nothing, move |c| attempts::sweep(c, before, max)).await
    }
}

#[async_trait]
impl SecurityEventStore for SqlStore {
    async fn record_security_event(&self, event: NewSecurityEvent) -> Result<(), StorageError> {
        self.write(Lock::Account(event.account.0), move |c| security_events::record(c, &event)).await
    }

    async fn security_events(
        &self,
        account: AccountId,
        max: u32,
    ) -> Result<Vec<SecurityEvent>, StorageError> {
        self.query(move |c| security_events::newest(c, account, max)).await
    }
}

#[async_trait]
impl SigningKeyStore for SqlStore {
    async fn signing_keys(&self) -> Result<Vec<StoredSigningKey>, StorageError> {
        self.query_inline(signing_keys::all).await
    }

    async fn add_signing_key(
        &self,
        key: NewSigningKey,
        only_if_none_active: bool,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        self.write(Lock::SigningKeys, move |c| signing_keys::add(c, &key, only_if_none_active, at)).await
    }

    async fn delete_retired_signing_keys(&self, retired_before: Timestamp) -> Result<u64, StorageError> {
        self.write(Lock::Nothing, move |c| signing_keys::delete_retired(c, retired_before)).await
    }
}
