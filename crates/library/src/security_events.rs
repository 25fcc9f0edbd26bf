use std::net::IpAddr;

use domain::{AccountId, SecurityEventKind};
use storage::{NewSecurityEvent, SecurityEvent, StorageError};

use crate::Library;

/// The most characters that are kept of the name of an app or a key.
const MAX_DETAIL_CHARS: usize = 200;

impl Library {
    /// Writes down what happened to an account, for its owner to see: from which address (none when it was done on the
    /// machine itself), and to which app or key. What cannot be written is left out, and the log says so: the thing
    /// itself has happened already.
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
            tracing::warn!(%error, kind = kind.as_str(), "a security event was not noted");
        }
    }

    /// The newest events of an account, newest first.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn security_events(
        &self,
        account: AccountId,
        max: u32,
    ) -> Result<Vec<SecurityEvent>, StorageError> {
        self.parts.store.security_events(account, max).await
    }
}
