use async_trait::async_trait;
use domain::Timestamp;

use crate::StorageError;

/// A signing key that is about to be the active one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSigningKey {
    /// Its name in tokens and in the published key set, unlike any other's.
    pub kid: String,
    /// The private key, sealed by a secret that the store does not have.
    pub sealed: Vec<u8>,
}

/// A signing key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSigningKey {
    /// Its name in tokens and in the published key set.
    pub kid: String,
    /// The private key, sealed by a secret that the store does not have.
    pub sealed: Vec<u8>,
    /// When it came.
    pub created_at: Timestamp,
    /// When another took its place; `None` of the active one. What it signed before holds.
    pub retired_at: Option<Timestamp>,
}

/// The keys that access tokens are signed with. One at most is active, also when several processes make one at once.
#[async_trait]
pub trait SigningKeyStore: Send + Sync + 'static {
    /// All keys, newest first.
    async fn signing_keys(&self) -> Result<Vec<StoredSigningKey>, StorageError>;

    /// Makes a key the active one and retires the one before it. With `only_if_none_active` a key that is active
    /// stays so: then it is `false` and nothing changes.
    async fn add_signing_key(
        &self,
        key: NewSigningKey,
        only_if_none_active: bool,
        at: Timestamp,
    ) -> Result<bool, StorageError>;

    /// Deletes keys that were retired before that moment; gives how many.
    async fn delete_retired_signing_keys(&self, retired_before: Timestamp) -> Result<u64, StorageError>;
}
