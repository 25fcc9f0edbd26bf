use async_trait::async_trait;
use domain::{Account, Timestamp};

use crate::{NewAccount, StorageError};

/// The SHA-256 of the secret in a set-up link; the secret itself is stored nowhere.
pub type SetupHash = [u8; 32];

/// How many set-up links hold at once; an older one is over then.
pub const MAX_SETUP_LINKS: u32 = 16;

/// Links that create the first account of a service that has none.
///
/// They hold until there is an account, however it was made, and never again after that.
#[async_trait]
pub trait SetupStore: Send + Sync + 'static {
    /// Has a link hold; `false` when there is an account, and then nothing changes.
    async fn create_setup_link(&self, link: SetupHash, at: Timestamp) -> Result<bool, StorageError>;

    /// Whether a link holds.
    async fn is_setup_link_valid(&self, link: SetupHash) -> Result<bool, StorageError>;

    /// Makes the first account if the link holds; of several at the same moment one does. `None` when it does not, and
    /// then nothing changes.
    async fn create_first_account(
        &self,
        link: SetupHash,
        account: NewAccount,
    ) -> Result<Option<Account>, StorageError>;
}
