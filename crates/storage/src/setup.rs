use async_trait::async_trait;
use domain::{Account, Timestamp};

use crate::{NewAccount, StorageError};

/// The SHA-256 of the secret in a set-up link; the secret itself is never stored.
pub type SetupHash = [u8; 32];

/// Maximum number of valid set-up links; the oldest beyond it become invalid.
pub const MAX_SETUP_LINKS: u32 = 16;

/// Links that create the first account of a service that has none.
///
/// They are valid until the first account exists, however it was created, and never again afterwards.
#[async_trait]
pub trait SetupStore: Send + Sync + 'static {
    /// Whether an account exists.
    async fn has_account(&self) -> Result<bool, StorageError>;

    /// Adds a valid link; returns `false` and changes nothing when an account exists.
    async fn create_setup_link(&self, link: SetupHash, at: Timestamp) -> Result<bool, StorageError>;

    async fn is_setup_link_valid(&self, link: SetupHash) -> Result<bool, StorageError>;

    /// Creates the first account if the link is valid; only one of several concurrent calls succeeds. Otherwise returns
    /// `None` and changes nothing.
    async fn create_first_account(
        &self,
        link: SetupHash,
        account: NewAccount,
    ) -> Result<Option<Account>, StorageError>;
}
