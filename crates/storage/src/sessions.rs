use std::fmt;

use async_trait::async_trait;
use domain::{Account, AccountId, Timestamp};

use crate::StorageError;

/// The SHA-256 of a session's secret. These are long and random, so that a fast hash is enough; the secret itself is
/// stored nowhere.
pub type SessionHash = [u8; 32];

/// How many sessions an account has at most.
pub const MAX_SESSIONS: u32 = 100;

/// A session that is about to be.
#[derive(Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The hash of its secret.
    pub hash: SessionHash,
    /// Who signed in.
    pub account: AccountId,
    /// What the browser calls itself.
    pub user_agent: Option<String>,
    /// Where it came from.
    pub address: String,
    /// Now.
    pub at: Timestamp,
    /// When it ends unless it is prolonged.
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

/// Who a session speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHolder {
    /// Who signed in.
    pub account: Account,
    /// When.
    pub created_at: Timestamp,
    /// About when it was last used.
    pub last_seen_at: Timestamp,
    /// When it ends unless it is prolonged.
    pub expires_at: Timestamp,
}

/// What an owner sees of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// The hash of its secret, which names it.
    pub hash: SessionHash,
    /// What the browser called itself.
    pub user_agent: Option<String>,
    /// Where it came from.
    pub address: String,
    /// When it was signed in.
    pub created_at: Timestamp,
    /// About when it was last used.
    pub last_seen_at: Timestamp,
    /// When it ends unless it is prolonged.
    pub expires_at: Timestamp,
}

/// Who is signed in at a browser.
///
/// A change of the password and the deletion of an account end its sessions:
/// [`set_password_hash`](crate::AccountStore::set_password_hash) and
/// [`delete_account`](crate::AccountStore::delete_account) see to that.
#[async_trait]
pub trait SessionStore: Send + Sync + 'static {
    /// Begins a session; `false` when the account is gone. Of more than [`MAX_SESSIONS`] the oldest end.
    async fn add_session(&self, session: NewSession) -> Result<bool, StorageError>;

    /// Whose session this is; `None` from the moment on when it expires.
    async fn session(&self, hash: &SessionHash, at: Timestamp)
    -> Result<Option<SessionHolder>, StorageError>;

    /// Notes that a session was used and prolongs it. Later moments that are noted already stay.
    async fn touch_session(
        &self,
        hash: &SessionHash,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StorageError>;

    /// The sessions of an account, newest first; expired ones until they are swept.
    async fn sessions(&self, account: AccountId) -> Result<Vec<SessionInfo>, StorageError>;

    /// Ends a session; `false` when there is none.
    async fn end_session(&self, hash: &SessionHash) -> Result<bool, StorageError>;

    /// Ends the sessions of an account but that one; gives how many.
    async fn end_sessions(
        &self,
        account: AccountId,
        except: Option<SessionHash>,
    ) -> Result<u64, StorageError>;

    /// Deletes up to `max` sessions that expired before that moment; gives how many.
    async fn sweep_sessions(&self, before: Timestamp, max: u32) -> Result<u64, StorageError>;
}
