use async_trait::async_trait;
use domain::{Account, AccountId, Email, KeyName, Plan, SyncHandle, Timestamp};

use crate::StorageError;

/// The SHA-256 of an API key. Keys are long and random, so a fast hash is enough. The key itself is never stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyHash(pub [u8; 32]);

/// What a key authenticates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// An API key: the API, MCP and photo sync.
    Api,
    /// A sync password: photo sync only.
    Sync,
}

impl KeyKind {
    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Sync => "sync",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Api, Self::Sync].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The id of a stored API key or sync password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyId(pub i64);

#[derive(Clone)]
pub struct NewAccount {
    /// The address its owner signs in with.
    pub email: Email,
    /// The argon2id hash of its password in PHC form.
    pub password_hash: String,
    pub plan: Plan,
    /// The name of the account in sync apps; no other account has it.
    pub sync_handle: SyncHandle,
    pub created_at: Timestamp,
}

#[derive(Debug, thiserror::Error)]
pub enum CreateAccountError {
    /// Another account uses this address.
    #[error("there is already an account for this email")]
    EmailTaken,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An API key or sync password to create.
#[derive(Clone)]
pub struct NewKey {
    pub account: AccountId,
    pub kind: KeyKind,
    /// The name its owner chose.
    pub name: KeyName,
    pub hash: KeyHash,
    pub created_at: Timestamp,
}

/// Why an API key or sync password was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateKeyError {
    /// The account has an unrevoked key of that kind and name.
    #[error("there is already a key of this name; revoke it or choose another name")]
    NameTaken,
    #[error("there is no such account")]
    NoAccount,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An API key or sync password as listed for its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    pub name: KeyName,
    pub created_at: Timestamp,
    /// When it was last used, approximately.
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// An API key or sync password with the account that it authenticates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHolder {
    pub key: KeyId,
    pub kind: KeyKind,
    pub account: Account,
    /// The last recorded use.
    pub last_used_at: Option<Timestamp>,
}

/// Accounts, their API keys and sync passwords.
#[async_trait]
pub trait AccountStore: Send + Sync + 'static {
    async fn create_account(&self, account: NewAccount) -> Result<Account, CreateAccountError>;

    /// All accounts, by email.
    async fn accounts(&self) -> Result<Vec<Account>, StorageError>;

    /// The account with this address.
    async fn account_by_email(&self, email: &Email) -> Result<Option<Account>, StorageError>;

    async fn account(&self, account: AccountId) -> Result<Option<Account>, StorageError>;

    async fn password_hash_by_email(&self, email: &Email) -> Result<Option<(Account, String)>, StorageError>;

    /// Changes the plan of an account; `false` when there is no such account.
    async fn set_plan(&self, account: AccountId, plan: Plan) -> Result<bool, StorageError>;

    /// Changes the password hash of an account and ends its sessions. Returns `false` and changes nothing when the
    /// account does not exist or its current hash differs from `expected`.
    async fn set_password_hash(
        &self,
        account: AccountId,
        password_hash: String,
        expected: Option<String>,
    ) -> Result<bool, StorageError>;

    /// Deletes an account: its API keys stop working, its sessions end, its grants are revoked, its images and albums
    /// become invisible, and its address can be used again. [`purge_images`](crate::ImageStore::purge_images) removes
    /// its data in batches. `false` when there is no such account.
    async fn delete_account(&self, account: AccountId, at: Timestamp) -> Result<bool, StorageError>;

    /// Records the time of the first sync; later calls change nothing.
    async fn mark_synced(&self, account: AccountId, at: Timestamp) -> Result<(), StorageError>;

    /// Creates a key. Its name must differ from that of every unrevoked key of the account and kind.
    async fn create_key(&self, key: NewKey) -> Result<(), CreateKeyError>;

    /// The keys of an account, newest first, revoked ones included.
    async fn keys(&self, account: AccountId, kind: KeyKind) -> Result<Vec<KeyInfo>, StorageError>;

    /// Revokes the unrevoked key of that name; `false` when there is none.
    async fn revoke_key(
        &self,
        account: AccountId,
        kind: KeyKind,
        name: &KeyName,
        at: Timestamp,
    ) -> Result<bool, StorageError>;

    /// Revokes an unrevoked key and returns its name; `None` when there is none with this id.
    async fn revoke_key_by_id(&self, key: KeyId, at: Timestamp) -> Result<Option<KeyName>, StorageError>;

    /// The holder of an unrevoked key.
    async fn key_holder(&self, hash: &KeyHash) -> Result<Option<KeyHolder>, StorageError>;

    /// The name of an API key or sync password.
    async fn key_name(&self, key: KeyId) -> Result<Option<KeyName>, StorageError>;

    /// Records the use of a key.
    async fn touch_key(&self, key: KeyId, at: Timestamp) -> Result<(), StorageError>;
}
