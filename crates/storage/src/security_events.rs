use async_trait::async_trait;
use domain::{AccountId, SecurityEventKind, Timestamp};

use crate::StorageError;

/// Number of events of each kind that an account keeps. The limit is per kind so that many events of one kind do not
/// displace the others.
pub const MAX_EVENTS_PER_KIND: u32 = 30;
/// Equal events within this many milliseconds (one hour) are counted as one.
pub const EVENT_MERGE_WINDOW_MS: i64 = 3_600_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSecurityEvent {
    pub account: AccountId,
    pub kind: SecurityEventKind,
    /// The client's address; `None` for commands run on the server itself.
    pub address: Option<String>,
    /// The name of the app or API key concerned.
    pub detail: Option<String>,
    pub at: Timestamp,
}

/// A recorded security event, which may have happened several times in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityEvent {
    pub kind: SecurityEventKind,
    /// The client's address; `None` for commands run on the server itself.
    pub address: Option<String>,
    /// The name of the app or API key concerned.
    pub detail: Option<String>,
    /// When it last happened.
    pub at: Timestamp,
    /// How many times it happened.
    pub count: u32,
}

/// Security events of accounts, shown to their owners. They are deleted with the account.
#[async_trait]
pub trait SecurityEventStore: Send + Sync + 'static {
    /// Records an event. If the newest event of its kind has the same address and detail and is not older than
    /// [`EVENT_MERGE_WINDOW_MS`], its count is incremented instead. The newest [`MAX_EVENTS_PER_KIND`] of the kind
    /// are kept. Does nothing when the account does not exist.
    async fn record_security_event(&self, event: NewSecurityEvent) -> Result<(), StorageError>;

    /// The newest events of an account, newest first.
    async fn security_events(&self, account: AccountId, max: u32)
    -> Result<Vec<SecurityEvent>, StorageError>;
}
