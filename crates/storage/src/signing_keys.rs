use async_trait::async_trait;
use domain::Timestamp;

use crate::StorageError;

/// A signing key to activate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSigningKey {
    /// Its unique id in tokens and in the published key set.
    pub kid: String,
    /// The private key, encrypted with a secret that is not in the store.
    pub sealed: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSigningKey {
    /// Its id in tokens and in the published key set.
    pub kid: String,
    /// The private key, encrypted with a secret that is not in the store.
    pub sealed: Vec<u8>,
    /// When it was added.
    pub created_at: Timestamp,
    /// When another key replaced it; `None` for the active key. Earlier signatures stay valid.
    pub retired_at: Option<Timestamp>,
}

/// The keys that sign access tokens. At most one is active, even when several processes add one at the same time.
#[async_trait]
pub trait SigningKeyStore: Send + Sync + 'static {
    /// All keys, newest first.
    async fn signing_keys(&self) -> Result<Vec<StoredSigningKey>, StorageError>;

    /// Adds a key as the active one and retires the previous active key. With `only_if_none_active` it returns
    /// `false` and changes nothing when a key is active.
    async fn add_signing_key(
        &self,
        key: NewSigningKey,
        only_if_none_active: bool,
        at: Timestamp,
    ) -> Result<bool, StorageError>;

    /// Deletes keys that were retired before `retired_before`; returns their number.
    async fn delete_retired_signing_keys(&self, retired_before: Timestamp) -> Result<u64, StorageError>;
}
