use async_trait::async_trait;
use domain::{Account, Timestamp};
use oauth_core::Grant;

use crate::StorageError;

/// Who a grant speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantHolder {
    /// Who gave it.
    pub account: Account,
    /// The grant. It may have been revoked.
    pub grant: Grant,
    /// When its use was last written down.
    pub last_used_at: Option<Timestamp>,
}

/// Grants with the accounts that gave them.
#[async_trait]
pub trait GrantStore: Send + Sync + 'static {
    /// Whose grant this is, revoked ones included: all that a bearer check needs, in one read. `None` when there is
    /// no such grant or its account was deleted.
    async fn grant_holder(&self, grant_id: &str) -> Result<Option<GrantHolder>, StorageError>;
}
