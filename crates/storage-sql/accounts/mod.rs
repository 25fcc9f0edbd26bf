mod api_keys;
mod rows;
mod setup;

use async_trait::async_trait;
use domain::{Account, AccountId, Email, KeyName, Plan, Timestamp};
use storage::{
    AccountStore, CreateAccountError, CreateKeyError, KeyHash, KeyHolder, KeyId, KeyInfo, KeyKind,
    NewAccount, NewKey, SetupHash, SetupStore, StorageError,
};

use crate::{Lock, SqlStore};

#[async_trait]
impl AccountStore for SqlStore {
    async fn create_account(&self, account: NewAccount) -> Result<Account, CreateAccountError> {
        self.write(Lock::Setup, move |c| rows::create(c, &account))
            .await?
            .ok_or(CreateAccountError::EmailTaken)
    }

    async fn accounts(&self) -> Result<Vec<Account>, StorageError> {
        self.read(rows::all).await
    }

    async fn account_by_email(&self, email: &Email) -> Result<Option<Account>, StorageError> {
        let email = email.clone();
        self.read(move |c| rows::by_email(c, &email)).await
    }

    async fn account(&self, account: AccountId) -> Result<Option<Account>, StorageError> {
        self.query(move |c| rows::by_id(c, account)).await
    }

    async fn password_hash_by_email(&self, email: &Email) -> Result<Option<(Account, String)>, StorageError> {
        let email = email.clone();
        self.query(move |c| rows::password_hash(c, &email)).await
    }

    async fn set_plan(&self, account: AccountId, plan: Plan) -> Result<bool, StorageError> {
        self.write(Lock::Nothing, move |c| rows::set_plan(c, account, plan)).await
    }

    async fn set_password_hash(
        &self,
        account: AccountId,
        password_hash: String,
        expected: Option<String>,
    ) -> Result<bool, StorageError> {
        self.write(Lock::Account(account.0), move |c| {
            rows::set_password_hash(c, account, &password_hash, expected.as_deref())
        })
        .await
    }

    async fn delete_account(&self, account: AccountId, at: Timestamp) -> Result<bool, StorageError> {
        self.write(Lock::Account(account.0), move |c| rows::delete(c, account, at)).await
    }

    async fn mark_synced(&self, account: AccountId, at: Timestamp) -> Result<(), StorageError> {
        self.write(Lock::Nothing, move |c| rows::mark_synced(c, account, at)).await
    }

    async fn create_key(&self, key: NewKey) -> Result<(), CreateKeyError> {
        match self.write(Lock::Account(key.account.0), move |c| api_keys::create(c, &key)).await? {
            api_keys::Creation::Done => Ok(()),
            api_keys::Creation::NameTaken => Err(CreateKeyError::NameTaken),
            api_keys::Creation::NoAccount => Err(CreateKeyError::NoAccount),
        }
    }

    async fn keys(&self, account: AccountId, kind: KeyKind) -> Result<Vec<KeyInfo>, StorageError> {
        self.read(move |c| api_keys::all(c, account, kind)).await
    }

    async fn revoke_key(
        &self,
        account: AccountId,
        kind: KeyKind,
        name: &KeyName,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        let name = name.clone();
        self.write(Lock::Nothing, move |c| api_keys::revoke(c, account, kind, &name, at)).await
    }

    async fn revoke_key_by_id(&self, key: KeyId, at: Timestamp) -> Result<Option<KeyName>, StorageError> {
        self.write(Lock::Nothing, move |c| api_keys::revoke_by_id(c, key, at)).await
    }

    async fn key_holder(&self, hash: &KeyHash) -> Result<Option<KeyHolder>, StorageError> {
        let hash = *hash;
        self.query_inline(move |c| api_keys::holder(c, &hash)).await
    }

    async fn touch_key(&self, key: KeyId, at: Timestamp) -> Result<(), StorageError> {
        self.write(Lock::Nothing, move |c| api_keys::touch(c, key, at)).await
    }
}

#[async_trait]
impl SetupStore for SqlStore {
    async fn create_setup_link(&self, link: SetupHash, at: Timestamp) -> Result<bool, StorageError> {
        self.write(Lock::Setup, move |c| setup::create_link(c, &link, at)).await
    }

    async fn has_account(&self) -> Result<bool, StorageError> {
        self.query_inline(setup::has_account).await
    }

    async fn is_setup_link_valid(&self, link: SetupHash) -> Result<bool, StorageError> {
        self.read(move |c| setup::is_valid(c, &link)).await
    }

    async fn create_first_account(
        &self,
        link: SetupHash,
        account: NewAccount,
    ) -> Result<Option<Account>, StorageError> {
        self.write(Lock::Setup, move |c| setup::create_first_account(c, &link, &account)).await
    }
}
