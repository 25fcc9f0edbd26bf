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

use domain::{AccountId, FilePath, Timestamp};
use storage::{
    FileChange, FileCondition, FileEntry, FileId, FileListing, FileLock, FileMove, FilePosition, FileRefusal,
    FileStore, FileTimes, FileWritten, LocatedFile, NewFile, PairedKind, RecentFiles,
};

use crate::Lock;

pub(crate) use folders::create_root_folder;
pub(crate) use recent::Folders;
pub(crate) use sweep::remove_all_files;

operations! {
    impl FileStore {
        read file(account: AccountId, path: &FilePath) -> Option<FileEntry> = lookup::file;
        read file_by_id(account: AccountId, id: FileId) -> Option<FileEntry> = lookup::by_id;
        read located_file(account: AccountId, id: FileId) -> Option<LocatedFile> = lookup::located;
        read recent_files(account: AccountId, since: Timestamp, before: FilePosition, max: u32) -> RecentFiles
            = recent::page;
        read list_files(account: AccountId, path: &FilePath) -> Option<FileListing> = lookup::list;
        read files_with_prefix(
            account: AccountId, folder: &FilePath, kind: PairedKind, prefix: &str, max: u32
        ) -> Vec<FileEntry> = lookup::with_prefix;
        read sidecar_content(account: AccountId, id: FileId) -> Option<Vec<u8>> = lookup::sidecar;
        write(Lock::Account(change.account.0)) put_file(
            change: FileChange, file: NewFile
        ) -> Result<FileWritten, FileRefusal> { |c| error::change(c, |c| put::put(c, &change, &file)) }
        write(Lock::Account(change.account.0)) create_folder(
            change: FileChange, path: &FilePath, create_folders: bool
        ) -> Result<FileEntry, FileRefusal> {
            |c| error::change(c, |c| folders::create(c, &change, &path, create_folders))
        }
        write(Lock::Account(change.account.0)) move_file(
            change: FileChange, to: FileMove
        ) -> Result<FileWritten, FileRefusal> { |c| error::change(c, |c| transfer::rename(c, &change, &to)) }
        write(Lock::Account(change.account.0)) copy_file(
            change: FileChange, to: FileMove
        ) -> Result<FileWritten, FileRefusal> { |c| error::change(c, |c| transfer::copy(c, &change, &to)) }
        write(Lock::Account(change.account.0)) delete_file(
            change: FileChange, path: &FilePath, condition: FileCondition
        ) -> Result<(), FileRefusal> {
            |c| error::change(c, |c| removal::delete(c, &change, &path, &condition))
        }
        write(account.map_or(Lock::Nothing, |account| Lock::Account(account.0))) sweep_deleted_files(
            account: Option<AccountId>, at: Timestamp, max: u32
        ) -> u32 = sweep::sweep;
        write(Lock::Account(change.account.0)) set_file_times(
            change: FileChange, path: &FilePath, times: FileTimes
        ) -> Result<FileEntry, FileRefusal> { |c| error::change(c, |c| times::set(c, &change, &path, times)) }
        write(Lock::Account(change.account.0)) lock_file(
            change: FileChange, lock: FileLock
        ) -> Result<FileWritten, FileRefusal> { |c| error::change(c, |c| locking::lock(c, &change, &lock)) }
        write(Lock::Account(change.account.0)) refresh_lock(
            change: FileChange as ref, path: &FilePath, token: &str, expires_at: Timestamp
        ) -> Option<FileLock> = locking::refresh;
        write(Lock::Account(change.account.0)) unlock_file(
            change: FileChange as ref, path: &FilePath, token: &str
        ) -> bool = locking::unlock;
        read file_locks(account: AccountId, path: &FilePath, at: Timestamp) -> Vec<FileLock>
            = locking::applying;
        read account_locks(account: AccountId, at: Timestamp) -> Vec<FileLock> = locking::all;
    }
}
