mod content;
mod copies;
mod error;
mod folders;
mod free_entries;
mod locking;
mod locks;
mod lookup;
mod put;
mod recent;
mod removal;
mod rows;
mod sweep;
mod times;
mod trail;
mod transfer;
mod tree;

use async_trait::async_trait;
use domain::{AccountId, FilePath, Timestamp};
use storage::{
    FileChange, FileCondition, FileEntry, FileId, FileListing, FileLock, FileMove, FilePosition, FileRefusal,
    FileStore, FileTimes, FileWritten, LocatedFile, NewFile, PairedKind, RecentFiles, StorageError,
};

use crate::{Lock, SqlStore};

pub(crate) use folders::create_root_folder;
pub(crate) use sweep::remove_all_files;

#[async_trait]
impl FileStore for SqlStore {
    async fn file(&self, account: AccountId, path: &FilePath) -> Result<Option<FileEntry>, StorageError> {
        let path = path.clone();
        self.read(move |c| lookup::file(c, account, &path)).await
    }

    async fn file_by_id(&self, account: AccountId, id: FileId) -> Result<Option<FileEntry>, StorageError> {
        self.read(move |c| lookup::by_id(c, account, id)).await
    }

    async fn located_file(
        &self,
        account: AccountId,
        id: FileId,
    ) -> Result<Option<LocatedFile>, StorageError> {
        self.read(move |c| lookup::located(c, account, id)).await
    }

    async fn recent_files(
        &self,
        account: AccountId,
        since: Timestamp,
        before: FilePosition,
        max: u32,
    ) -> Result<RecentFiles, StorageError> {
        self.read(move |c| recent::page(c, account, since, before, max)).await
    }

    async fn list_files(
        &self,
        account: AccountId,
        path: &FilePath,
    ) -> Result<Option<FileListing>, StorageError> {
        let path = path.clone();
        self.read(move |c| lookup::list(c, account, &path)).await
    }

    async fn files_with_prefix(
        &self,
        account: AccountId,
        folder: &FilePath,
        kind: PairedKind,
        prefix: &str,
        max: u32,
    ) -> Result<Vec<FileEntry>, StorageError> {
        let (folder, prefix) = (folder.clone(), prefix.to_owned());
        self.read(move |c| lookup::with_prefix(c, account, &folder, kind, &prefix, max)).await
    }

    async fn sidecar_content(&self, account: AccountId, id: FileId) -> Result<Option<Vec<u8>>, StorageError> {
        self.read(move |c| lookup::sidecar(c, account, id)).await
    }

    async fn put_file(
        &self,
        change: FileChange,
        file: NewFile,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError> {
        self.write(Lock::Account(change.account.0), move |c| {
            error::change(c, |c| put::put(c, &change, &file))
        })
        .await
    }

    async fn create_folder(
        &self,
        change: FileChange,
        path: &FilePath,
        create_folders: bool,
    ) -> Result<Result<FileEntry, FileRefusal>, StorageError> {
        let path = path.clone();
        self.write(Lock::Account(change.account.0), move |c| {
            error::change(c, |c| folders::create(c, &change, &path, create_folders))
        })
        .await
    }

    async fn move_file(
        &self,
        change: FileChange,
        to: FileMove,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError> {
        self.write(Lock::Account(change.account.0), move |c| {
            error::change(c, |c| transfer::rename(c, &change, &to))
        })
        .await
    }

    async fn copy_file(
        &self,
        change: FileChange,
        to: FileMove,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError> {
        self.write(Lock::Account(change.account.0), move |c| {
            error::change(c, |c| transfer::copy(c, &change, &to))
        })
        .await
    }

    async fn delete_file(
        &self,
        change: FileChange,
        path: &FilePath,
        condition: FileCondition,
    ) -> Result<Result<(), FileRefusal>, StorageError> {
        let path = path.clone();
        self.write(Lock::Account(change.account.0), move |c| {
            error::change(c, |c| removal::delete(c, &change, &path, &condition))
        })
        .await
    }

    async fn sweep_deleted_files(
        &self,
        account: Option<AccountId>,
        at: Timestamp,
        max: u32,
    ) -> Result<u32, StorageError> {
        self.write(account.map_or(Lock::Nothing, |account| Lock::Account(account.0)), move |c| {
            sweep::sweep(c, account, at, max)
        })
        .await
    }

    async fn set_file_times(
        &self,
        change: FileChange,
        path: &FilePath,
        times: FileTimes,
    ) -> Result<Result<FileEntry, FileRefusal>, StorageError> {
        let path = path.clone();
        self.write(Lock::Account(change.account.0), move |c| {
            error::change(c, |c| times::set(c, &change, &path, times))
        })
        .await
    }

    async fn lock_file(
        &self,
        change: FileChange,
        lock: FileLock,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError> {
        self.write(Lock::Account(change.account.0), move |c| {
            error::change(c, |c| locking::lock(c, &change, &lock))
        })
        .await
    }

    async fn refresh_lock(
        &self,
        change: FileChange,
        path: &FilePath,
        token: &str,
        expires_at: Timestamp,
    ) -> Result<Option<FileLock>, StorageError> {
        let (path, token) = (path.clone(), token.to_owned());
        self.write(Lock::Account(change.account.0), move |c| {
            locking::refresh(c, &change, &path, &token, expires_at)
        })
        .await
    }

    async fn unlock_file(
        &self,
        change: FileChange,
        path: &FilePath,
        token: &str,
    ) -> Result<bool, StorageError> {
        let (path, token) = (path.clone(), token.to_owned());
        self.write(Lock::Account(change.account.0), move |c| locking::unlock(c, &change, &path, &token)).await
    }

    async fn file_locks(
        &self,
        account: AccountId,
        path: &FilePath,
        at: Timestamp,
    ) -> Result<Vec<FileLock>, StorageError> {
        let path = path.clone();
        self.read(move |c| locking::applying(c, account, &path, at)).await
    }

    async fn account_locks(&self, account: AccountId, at: Timestamp) -> Result<Vec<FileLock>, StorageError> {
        self.read(move |c| locking::all(c, account, at)).await
    }
}
