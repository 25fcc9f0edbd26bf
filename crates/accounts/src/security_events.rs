use std::net::IpAddr;

use domain::{AccountId, SecurityEventKind};
use storage::{NewSecurityEvent, SecurityEvent, StorageError};

use crate::Accounts;

/// The stored name of a client or key is cut to this many characters.
const MAX_DETAIL_CHARS: usize = 200;

impl Accounts {
    /// Records a security event for the account's owner to see. `address` is `None` if the event was caused on the
    /// machine itself; `detail` names the client or key. A failed write is only logged, because the event itself has
    /// already happened.
    pub async fn record_security_event(
        &self,
        account: AccountId,
        kind: SecurityEventKind,
        address: Option<IpAddr>,
        detail: Option<&str>,
    ) {
        let event = NewSecurityEvent {
            account,
            kind,
            address: address.map(|address| address.to_canonical().to_string()),
            detail: detail.map(|detail| detail.chars().take(MAX_DETAIL_CHARS).collect()),
            at: self.parts.clock.now(),
        };
        if let Err(error) = self.parts.store.record_security_event(event).await {
            tracing::warn!(%error, kind = kind.as_str(), "a security event was not recorded");
        }
    }

    /// The newest events of an account, newest first.
    pub async fn security_events(
        &self,
        account: AccountId,
        max: u32,
    ) -> Result<Vec<SecurityEvent>, StorageError> {
        self.parts.store.security_events(account, max).await
    }
}
