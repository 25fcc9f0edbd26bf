use async_trait::async_trait;
use domain::{AccountId, Timestamp};
use storage::{LoginFlow, LoginFlowStore, LoginTokenHash, NewLoginFlow, StorageError};

use crate::SqliteStore;

#[async_trait]
impl LoginFlowStore for SqliteStore {
    async fn begin_login_flow(&self, _flow: NewLoginFlow) -> Result<(), StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn login_flow(
        &self,
        _page: LoginTokenHash,
        _at: Timestamp,
    ) -> Result<Option<LoginFlow>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn confirm_login_flow(
        &self,
        _page: LoginTokenHash,
        _account: AccountId,
        _at: Timestamp,
    ) -> Result<bool, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn take_login_flow(
        &self,
        _poll: LoginTokenHash,
        _at: Timestamp,
    ) -> Result<Option<(AccountId, String)>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn sweep_login_flows(&self, _before: Timestamp, _max: u32) -> Result<u64, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
}
