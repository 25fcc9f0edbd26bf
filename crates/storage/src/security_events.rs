use async_trait::async_trait;
use domain::{AccountId, SecurityEventKind, Timestamp};

use crate::StorageError;

/// How many events of each kind an account keeps: a flood of one kind does not push the others out.
pub const MAX_EVENTS_PER_KIND: u32 = 30;
/// The same thing within so many milliseconds of the last time is counted there: an hour.
pub const EVENT_MERGE_WINDOW_MS: i64 = 3_600_000;

/// Something that happened to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSecurityEvent {
    /// The account.
    pub account: AccountId,
    /// What happened.
    pub kind: SecurityEventKind,
    /// Where it came from; `None` when it was done on the machine itself.
    pub address: Option<String>,
    /// What it was about: the name of an app or a key.
    pub detail: Option<String>,
    /// Now.
    pub at: Timestamp,
}

/// Something that happened to an account, once or several times in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityEvent {
    /// What happened.
    pub kind: SecurityEventKind,
    /// Where it came from; `None` when it was done on the machine itself.
    pub address: Option<String>,
    /// What it was about: the name of an app or a key.
    pub detail: Option<String>,
    /// When it happened last.
    pub at: Timestamp,
    /// How often.
    pub count: u32,
}

/// What owners are told of the safety of their accounts. It goes with the account.
#[async_trait]
pub trait SecurityEventStore: Send + Sync + 'static {
    /// Notes an event. When the newest of its kind has the same address and detail and is not older than
    /// [`EVENT_MERGE_WINDOW_MS`], that one counts it. The newest [`MAX_EVENTS_PER_KIND`] stay. Nothing happens when the
    /// account is gone.
    async fn record_security_event(&self, event: NewSecurityEvent) -> Result<(), StorageError>;

    /// The newest events of an account, newest first.
    async fn security_events(&self, account: AccountId, max: u32)
    -> Result<Vec<SecurityEvent>, StorageError>;
}
