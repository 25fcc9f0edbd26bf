use std::fmt;

use async_trait::async_trait;
use domain::{Account, AccountId, Timestamp};

use crate::StorageError;

/// The SHA-256 of a session's secret. Secrets are long and random, so a fast hash is enough. The secret itself is
/// never stored.
pub type SessionHash = [u8; 32];

pub const MAX_SESSIONS: u32 = 100;

#[derive(Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The hash of its secret.
    pub hash: SessionHash,
    pub account: AccountId,
    /// The browser's `User-Agent`.
    pub user_agent: Option<String>,
    /// The client's address.
    pub address: String,
    pub at: Timestamp,
    /// When it expires unless it is extended.
    pub expires_at: Timestamp,
}

impl fmt::Debug for NewSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewSession")
            .field("account", &self.account)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

/// A session with the account that it authenticates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHolder {
    pub account: Account,
    pub created_at: Timestamp,
    /// When it was last used, approximately.
    pub last_seen_at: Timestamp,
    /// When it expires unless it is extended.
    pub expires_at: Timestamp,
}

/// A session as listed for its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// The hash of its secret, which identifies it.
    pub hash: SessionHash,
    /// The browser's `User-Agent`.
    pub user_agent: Option<String>,
    /// The client's address.
    pub address: String,
    pub created_at: Timestamp,
    /// When it was last used, approximately.
    pub last_seen_at: Timestamp,
    /// When it expires unless it is extended.
    pub expires_at: Timestamp,
}

/// Sessions of browsers.
///
/// [`set_password_hash`](crate::AccountStore::set_password_hash) and
/// [`delete_account`](crate::AccountStore::delete_account) end the sessions of the account like [`end_sessions`].
///
/// [`end_sessions`]: SessionStore::end_sessions
#[async_trait]
pub trait SessionStore: Send + Sync + 'static {
    /// Starts a session; `false` when the account does not exist. The oldest sessions beyond [`MAX_SESSIONS`] end.
    async fn add_session(&self, session: NewSession) -> Result<bool, StorageError>;

    /// The holder of a session; `None` if it has expired.
    async fn session(&self, hash: &SessionHash, at: Timestamp)
    -> Result<Option<SessionHolder>, StorageError>;

    /// Records the use of a session and extends it. Recorded times never move back.
    async fn touch_session(
        &self,
        hash: &SessionHash,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StorageError>;

    /// The sessions of an account, newest first. Expired ones are included until they are swept.
    async fn sessions(&self, account: AccountId) -> Result<Vec<SessionInfo>, StorageError>;

    /// Ends a session; `false` when there is no such session.
    async fn end_session(&self, hash: &SessionHash) -> Result<bool, StorageError>;

    /// Ends the sessions of an account, except one. Also deletes permissions that were given in a session and not used
    /// yet: confirmed login flows and unredeemed authorization codes. Returns the number of ended sessions.
    async fn end_sessions(
        &self,
        account: AccountId,
        except: Option<SessionHash>,
    ) -> Result<u64, StorageError>;

    /// Deletes up to `max` sessions that expired before `before`; returns their number.
    async fn sweep_sessions(&self, before: Timestamp, max: u32) -> Result<u64, StorageError>;
}
