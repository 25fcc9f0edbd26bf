use domain::AccountId;
use keys::session_hash;
use storage::{SessionHash, SessionHolder, SessionInfo, StorageError};

use crate::Accounts;

/// How long a session lasts after its last use: 30 days.
pub(crate) const SESSION_MS: i64 = 30 * 24 * 3600 * 1000;
/// The shortest time between two recorded uses of a session, in milliseconds.
const SESSION_USE_RESOLUTION_MS: i64 = 3600 * 1000;

impl Accounts {
    /// The session with this token; `None` if there is none. A session expires 30 days after its last use, up to one hour
    /// earlier: only one use per hour is recorded, which extends the session.
    ///
    /// # Errors
    /// [`StorageError`]; it does not mean that the token is wrong.
    pub async fn session(&self, token: &str) -> Result<Option<SessionHolder>, StorageError> {
        let holder = self.session_without_use(token).await?;
        let now = self.parts.clock.now();
        if let Some(holder) = &holder
            && now.millis() - holder.last_seen_at.millis() >= SESSION_USE_RESOLUTION_MS
        {
            let (store, hash) = (self.parts.store.clone(), session_hash(token));
            let expires_at = now.plus_millis(SESSION_MS);
            self.parts.session_uses.spawn(async move { store.touch_session(&hash, now, expires_at).await });
        }
        Ok(holder)
    }

    /// The session with this token; `None` if there is none. Does not extend the session: for requests that a page sends
    /// by itself.
    ///
    /// # Errors
    /// [`StorageError`]; it does not mean that the token is wrong.
    pub async fn session_without_use(&self, token: &str) -> Result<Option<SessionHolder>, StorageError> {
        self.parts.store.session(&session_hash(token), self.parts.clock.now()).await
    }

    /// Ends a session, from the next request on; `false` if there is none.
    pub async fn sign_out(&self, token: &str) -> Result<bool, StorageError> {
        self.parts.store.end_session(&session_hash(token)).await
    }

    /// The sessions of an account, newest first.
    pub async fn sessions(&self, account: AccountId) -> Result<Vec<SessionInfo>, StorageError> {
        let now = self.parts.clock.now();
        let mut sessions = self.parts.store.sessions(account).await?;
        sessions.retain(|session| session.expires_at > now);
        Ok(sessions)
    }

    /// Ends one session of an account, from the next request on; `false` if it has no such session.
    pub async fn end_session(&self, account: AccountId, session: &SessionHash) -> Result<bool, StorageError> {
        let is_theirs = self.parts.store.sessions(account).await?.iter().any(|own| own.hash == *session);
        if is_theirs { self.parts.store.end_session(session).await } else { Ok(false) }
    }

    /// Ends all sessions of an account except the one with this token, from the next request on. Returns how many.
    pub async fn end_sessions(&self, account: AccountId, except: Option<&str>) -> Result<u64, StorageError> {
        self.parts.store.end_sessions(account, except.map(session_hash)).await
    }
}
