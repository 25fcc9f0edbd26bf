mod attempts;
mod security_events;
mod sessions;
mod signing_keys;

pub(crate) use security_events::delete_all as delete_security_events;
pub(crate) use sessions::end_all as end_all_sessions;

use domain::{AccountId, Timestamp};
use storage::{
    AttemptId, NewSecurityEvent, NewSession, NewSigningKey, SecurityEvent, SecurityEventStore, SessionHash,
    SessionHolder, SessionInfo, SessionStore, SignInAttempt, SignInDecision, SignInLimits, SignInStore,
    SigningKeyStore, StorageError, StoredSigningKey,
};

use crate::Lock;

operations! {
    impl SessionStore {
        write(Lock::Account(session.account.0)) add_session(session: NewSession as ref) -> bool
            = sessions::add;
        query_inline session(hash: &SessionHash, at: Timestamp) -> Option<SessionHolder> = sessions::holder;
        write(Lock::Nothing) touch_session(hash: &SessionHash, at: Timestamp, expires_at: Timestamp) -> ()
            = sessions::touch;
        query sessions(account: AccountId) -> Vec<SessionInfo> = sessions::all;
        write(Lock::Nothing) end_session(hash: &SessionHash) -> bool = sessions::end;
        write(Lock::Nothing) end_sessions(account: AccountId, except: Option<SessionHash>) -> u64
            = sessions::end_all;
        write(Lock::Nothing) sweep_sessions(before: Timestamp, max: u32) -> u64 = sessions::sweep;
    }
}

operations! {
    impl SignInStore {
        write(Lock::Nothing) record_sign_in_success(attempt: AttemptId) -> () = attempts::delete;
        write(Lock::Nothing) sweep_sign_in_attempts(before: Timestamp, max: u32) -> u64 = attempts::sweep;
    }
    by hand {
        async fn begin_sign_in(
            &self,
            attempt: &SignInAttempt,
            at: Timestamp,
            limits: SignInLimits,
        ) -> Result<SignInDecision, StorageError> {
            let attempt = *attempt;
            // A locked-out attempt is refused without the write lock, so that guessing passwords does not
            // delay other writes.
            if let Some(until) = self.read(move |c| attempts::locked_until(c, &attempt, at, limits)).await? {
                return Ok(SignInDecision::LockedUntil(until));
            }
            self.write(Lock::SignIn(attempt.network), move |c| attempts::begin(c, &attempt, at, limits)).await
        }
    }
}

operations! {
    impl SecurityEventStore {
        write(Lock::Account(event.account.0)) record_security_event(event: NewSecurityEvent as ref) -> ()
            = security_events::record;
        query security_events(account: AccountId, max: u32) -> Vec<SecurityEvent> = security_events::newest;
    }
}

operations! {
    impl SigningKeyStore {
        query_inline signing_keys() -> Vec<StoredSigningKey> = signing_keys::all;
        write(Lock::SigningKeys) add_signing_key(
            key: NewSigningKey as ref, only_if_none_active: bool, at: Timestamp
        ) -> bool = signing_keys::add;
        write(Lock::Nothing) delete_retired_signing_keys(retired_before: Timestamp) -> u64
            = signing_keys::delete_retired;
    }
}
