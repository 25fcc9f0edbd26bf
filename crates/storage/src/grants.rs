use async_trait::async_trait;
use domain::{Account, Timestamp};
use oauth_core::Grant;

use crate::StorageError;

/// A grant with the account that gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantHolder {
    pub account: Account,
    /// The grant. It may have been revoked.
    pub grant: Grant,
    /// The last recorded use.
    pub last_used_at: Option<Timestamp>,
}

/// Grants with the accounts that gave them.
#[async_trait]
pub trait GrantHolderStore: Send + Sync + 'static {
    /// The holder of a grant, even of a revoked one: everything that a bearer check needs, in one read. `None` when
    /// there is no such grant or its account was deleted.
    async fn grant_holder(&self, grant_id: &str) -> Result<Option<GrantHolder>, StorageError>;
}
