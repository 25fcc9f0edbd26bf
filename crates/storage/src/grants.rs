use async_trait::async_trait;
use domain::{Account, AccountId, Timestamp};
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

/// Whether the app of a grant may edit the details of photos, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantEdits {
    pub is_allowed: bool,
    /// The name of the app; `None` if the store does not have it.
    pub client_name: Option<String>,
}

/// Grants with the accounts that gave them.
#[async_trait]
pub trait GrantHolderStore: Send + Sync + 'static {
    /// The holder of a grant, even of a revoked one: everything that a bearer check needs, in one read. `None` when
    /// there is no such grant or its account was deleted.
    async fn grant_holder(&self, grant_id: &str) -> Result<Option<GrantHolder>, StorageError>;

    /// Whether the app of a grant may edit the details of photos; `None` if there is no such grant.
    async fn grant_edits(&self, grant_id: &str) -> Result<Option<GrantEdits>, StorageError>;

    /// Allows or forbids the app of a grant of the account to edit the details of photos. `false` if there is no such grant.
    async fn set_grant_edits(
        &self,
        account: AccountId,
        grant_id: &str,
        allowed: bool,
    ) -> Result<bool, StorageError>;

    /// The ids of the grants of an account whose apps may edit the details of photos.
    async fn grants_with_edits(&self, account: AccountId) -> Result<Vec<String>, StorageError>;
}
