use async_trait::async_trait;
use domain::{Account, AccountId, Email, KeyName, Plan, Timestamp};

use crate::StorageError;

/// The SHA-256 of an API key. Keys are long and random, so that a fast hash is enough; the key itself is stored
/// nowhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyHash(pub [u8; 32]);

/// Names a stored API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyId(pub i64);

/// An account that is about to be.
#[derive(Clone)]
pub struct NewAccount {
    /// What its owner signs in with.
    pub email: Email,
    /// The argon2id hash of its password in PHC form.
    pub password_hash: String,
    /// What it pays for.
    pub plan: Plan,
    /// Now.
    pub created_at: Timestamp,
}

/// Why an account was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateAccountError {
    /// Another account has this address.
    #[error("there is already an account for this email")]
    EmailTaken,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An API key that is about to be.
#[derive(Clone)]
pub struct NewKey {
    /// Whose key it is.
    pub account: AccountId,
    /// What its owner calls it.
    pub name: KeyName,
    /// Its hash.
    pub hash: KeyHash,
    /// Now.
    pub created_at: Timestamp,
}

/// Why an API key was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateKeyError {
    /// A key of that name is in use.
    #[error("there is already a key of this name; revoke it or choose another name")]
    NameTaken,
    /// The account is gone.
    #[error("there is no such account")]
    NoAccount,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What an owner sees of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its name.
    pub name: KeyName,
    /// When it was made.
    pub created_at: Timestamp,
    /// About when it was last used.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// Who a key speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHolder {
    /// The key.
    pub key: KeyId,
    /// Its owner.
    pub account: Account,
    /// When its use was last written down.
    pub last_used_at: Option<Timestamp>,
}

/// Accounts and their API keys.
#[async_trait]
pub trait AccountStore: Send + Sync + 'static {
    /// Makes an account.
    async fn create_account(&self, account: NewAccount) -> Result<Account, CreateAccountError>;

    /// All accounts, by email.
    async fn accounts(&self) -> Result<Vec<Account>, StorageError>;

    /// The account with this address.
    async fn account_by_email(&self, email: &Email) -> Result<Option<Account>, StorageError>;

    /// The account of that number.
    async fn account(&self, account: AccountId) -> Result<Option<Account>, StorageError>;

    /// The account with this address and the hash of its password, to be checked against what its owner typed.
    async fn password_hash_by_email(&self, email: &Email) -> Result<Option<(Account, String)>, StorageError>;

    /// Changes what an account pays for; `false` when there is none.
    async fn set_plan(&self, account: AccountId, plan: Plan) -> Result<bool, StorageError>;

    /// Changes an account's password hash and ends its sessions; `false` when there is none, or when another hash than
    /// the one that is expected is to be replaced, and then nothing changes.
    async fn set_password_hash(
        &self,
        account: AccountId,
        password_hash: String,
        expected: Option<String>,
    ) -> Result<bool, StorageError>;

    /// Ends an account: from now on its keys open nothing, its sessions are over, its grants are revoked, its images
    /// and albums are nobody's, and its address is free. What it held goes batch by batch with [`purge_images`](crate::ImageStore::purge_images). `false` when
    /// there is none.
    async fn delete_account(&self, account: AccountId, at: Timestamp) -> Result<bool, StorageError>;

    /// Notes the first sync; later ones change nothing.
    async fn mark_synced(&self, account: AccountId, at: Timestamp) -> Result<(), StorageError>;

    /// Makes an API key. Its name must differ from that of every unrevoked key of the account.
    async fn create_key(&self, key: NewKey) -> Result<(), CreateKeyError>;

    /// The keys of an account, newest first, revoked ones included.
    async fn keys(&self, account: AccountId) -> Result<Vec<KeyInfo>, StorageError>;

    /// Revokes the unrevoked key of that name; `false` when there is none.
    async fn revoke_key(
        &self,
        account: AccountId,
        name: &KeyName,
        at: Timestamp,
    ) -> Result<bool, StorageError>;

    /// Whose unrevoked key this is.
    async fn key_holder(&self, hash: &KeyHash) -> Result<Option<KeyHolder>, StorageError>;

    /// Notes that a key was used.
    async fn touch_key(&self, key: KeyId, at: Timestamp) -> Result<(), StorageError>;
}
