use async_trait::async_trait;
use domain::{AccountId, Timestamp};
use storage::{
    AddPart, BeginUpload, NewUpload, StorageError, Upload, UploadId, UploadPart, UploadProtocol, UploadStore,
};

use crate::SqliteStore;

#[async_trait]
impl UploadStore for SqliteStore {
    async fn begin_upload(&self, _upload: NewUpload) -> Result<BeginUpload, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn upload(
        &self,
        _account: AccountId,
        _protocol: UploadProtocol,
        _name: &str,
    ) -> Result<Option<Upload>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn add_part(&self, _upload: UploadId, _part: UploadPart) -> Result<AddPart, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn finish_upload(&self, _upload: UploadId, _at: Timestamp) -> Result<Vec<String>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn delete_upload(&self, _upload: UploadId) -> Result<Vec<String>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn sweep_uploads(&self, _before: Timestamp, _max: u32) -> Result<(u32, Vec<String>), StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn known_part_files(&self, _files: &[String]) -> Result<Vec<String>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn stored_bytes(&self, _account: AccountId) -> Result<u64, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
}
