use async_trait::async_trait;
use domain::{AccountId, FilePath, Timestamp};
use storage::{
    FileChange, FileCondition, FileEntry, FileId, FileListing, FileLock, FileMove, FileRefusal, FileStore,
    FileTimes, FileWritten, NewFile, StorageError,
};

use crate::SqliteStore;

#[async_trait]
impl FileStore for SqliteStore {
    async fn file(&self, _account: AccountId, _path: &FilePath) -> Result<Option<FileEntry>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn file_by_id(&self, _account: AccountId, _id: FileId) -> Result<Option<FileEntry>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn list_files(
        &self,
        _account: AccountId,
        _path: &FilePath,
    ) -> Result<Option<FileListing>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn files_with_prefix(
        &self,
        _account: AccountId,
        _folder: &FilePath,
        _prefix: &str,
        _max: u32,
    ) -> Result<Vec<FileEntry>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn sidecar_content(
        &self,
        _account: AccountId,
        _id: FileId,
    ) -> Result<Option<Vec<u8>>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn put_file(
        &self,
        _change: FileChange,
        _file: NewFile,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn create_folder(
        &self,
        _change: FileChange,
        _path: &FilePath,
        _create_folders: bool,
    ) -> Result<Result<FileEntry, FileRefusal>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn move_file(
        &self,
        _change: FileChange,
        _to: FileMove,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn copy_file(
        &self,
        _change: FileChange,
        _to: FileMove,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn delete_file(
        &self,
        _change: FileChange,
        _path: &FilePath,
        _condition: FileCondition,
    ) -> Result<Result<(), FileRefusal>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn sweep_deleted_files(
        &self,
        _account: Option<AccountId>,
        _at: Timestamp,
        _max: u32,
    ) -> Result<u32, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn set_file_times(
        &self,
        _change: FileChange,
        _path: &FilePath,
        _times: FileTimes,
    ) -> Result<Result<FileEntry, FileRefusal>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn lock_file(
        &self,
        _change: FileChange,
        _lock: FileLock,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn refresh_lock(
        &self,
        _change: FileChange,
        _path: &FilePath,
        _token: &str,
        _expires_at: Timestamp,
    ) -> Result<Option<FileLock>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn unlock_file(
        &self,
        _change: FileChange,
        _path: &FilePath,
        _token: &str,
    ) -> Result<bool, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn file_locks(
        &self,
        _account: AccountId,
        _path: &FilePath,
        _at: Timestamp,
    ) -> Result<Vec<FileLock>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
    async fn account_locks(
        &self,
        _account: AccountId,
        _at: Timestamp,
    ) -> Result<Vec<FileLock>, StorageError> {
        Err(StorageError::Unavailable("photo sync is not built yet".to_owned()))
    }
}
