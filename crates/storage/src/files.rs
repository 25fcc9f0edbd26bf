use async_trait::async_trait;
use domain::{AccountId, ContentHash, FileName, FilePath, ImageId, SidecarKind, Timestamp};

use crate::{NewImage, StorageError};

/// The id of a synced file or folder. Ids are never reused, and clients may see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub i64);

/// The times of a file as its client sent them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileTimes {
    /// When it was last modified.
    pub modified_at: Option<Timestamp>,
    pub created_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    Photo {
        original: ContentHash,
        /// Its image; `None` when that was permanently removed after its deletion.
        image: Option<FileImage>,
    },
    /// A photo under the temporary name of an upload. It becomes an image when it is moved to its final name.
    Partial {
        original: ContentHash,
        /// The media type, detected from its content.
        media_type: String,
    },
    /// A sidecar. The store holds its whole content.
    Sidecar(SidecarKind),
    /// A file that a file manager made for itself. Its bytes are not stored.
    Junk,
    /// A file without bytes, which many clients write before the content.
    Placeholder,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileImage {
    pub id: ImageId,
    /// Whether it is indexed and not deleted, so that it may have renditions.
    pub is_live: bool,
    /// Whether it is deleted and may still be restored.
    pub is_deleted: bool,
    pub is_favorite: bool,
}

/// A folder, or a file with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    Folder,
    File(FileContent),
}

/// A synced file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Its id, which stays the same when the entry is moved or its content is replaced.
    pub id: FileId,
    /// Its name; `None` for the root folder.
    pub name: Option<FileName>,
    pub kind: FileKind,
    /// Its length in bytes; of a folder, the sum of all files below it.
    pub bytes: u64,
    /// Increases with every change of the file. The version of a folder increases with every change of anything below
    /// it. A moved entry keeps its version, so that clients do not treat it as changed.
    pub version: u64,
    /// Its times as sent.
    pub times: FileTimes,
    /// When the service received it.
    pub received_at: Timestamp,
    /// The SHA-1 of its bytes, if the client sent one.
    pub sha1: Option<[u8; 20]>,
}

impl FileEntry {
    /// When it was modified, as its client said, or else when the service received it.
    pub fn modified_at(&self) -> Timestamp {
        self.times.modified_at.unwrap_or(self.received_at)
    }
}

/// A folder and its direct members, by name. A file has no members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileListing {
    pub entry: FileEntry,
    pub members: Vec<FileEntry>,
}

/// A condition on what is at a path before a change (RFC 9110 §13.1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FileCondition {
    /// No condition.
    #[default]
    Any,
    /// Nothing is there.
    Absent,
    /// Something is there.
    Present,
    /// The entry that is there has one of these ids and versions.
    Version(Vec<(FileId, u64)>),
}

impl FileCondition {
    /// Whether the condition is met by what is at the path.
    pub fn is_met(&self, present: Option<(FileId, u64)>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => present.is_none(),
            Self::Present => present.is_some(),
            Self::Version(allowed) => present.is_some_and(|present| allowed.contains(&present)),
        }
    }
}

/// A lock token, a URI that this service made.
pub type LockToken = String;

pub const MAX_FILE_LOCKS: u32 = 1000;

/// An exclusive write lock (RFC 4918 §6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLock {
    pub token: LockToken,
    /// The path of the locked file or folder.
    pub root: FilePath,
    /// Whether it also locks everything below.
    pub is_deep: bool,
    /// The owner element that the client sent, as XML that the caller has checked.
    pub owner: Option<String>,
    pub expires_at: Timestamp,
}

impl FileLock {
    /// Whether it locks a path: its own, or with a deep lock one below.
    pub fn applies_to(&self, path: &FilePath) -> bool {
        self.root == *path || (self.is_deep && path.starts_with(&self.root))
    }
}

/// The parameters that all changes of files have in common.
#[derive(Debug, Clone)]
pub struct FileChange {
    pub account: AccountId,
    /// The lock tokens that the client sent. If an unexpired lock protects against the change and its token is not
    /// among these, the change is refused as [`Locked`](FileRefusal::Locked).
    pub lock_tokens: Vec<LockToken>,
    pub at: Timestamp,
    /// Maximum number of bytes that the account may store, for sidecars and partial files; `None` for no limit. A new
    /// image has its own limit.
    pub quota_bytes: Option<u64>,
}

/// The content of a file to put.
#[derive(Debug, Clone)]
pub enum NewFileContent {
    /// A photo, whose original is announced and written. If the account deleted the image with these bytes elsewhere,
    /// the image stays deleted and the file is listed all the same.
    Photo(NewImage),
    /// A photo under a temporary name, whose original is announced and written.
    Partial {
        original: ContentHash,
        /// The media type, detected from its content.
        media_type: &'static str,
    },
    /// A sidecar with its content; the caller limits its length.
    Sidecar(SidecarKind, Vec<u8>),
    /// Junk. Only its name and length are stored.
    Junk,
    /// No bytes.
    Placeholder,
}

#[derive(Debug, Clone)]
pub struct NewFile {
    /// Its path, not the root.
    pub path: FilePath,
    pub content: NewFileContent,
    pub bytes: u64,
    /// Its times as sent.
    pub times: FileTimes,
    /// The SHA-1 of its bytes, if the client sent one.
    pub sha1: Option<[u8; 20]>,
    /// Whether missing folders above it are created.
    pub create_folders: bool,
    /// What must be at the path.
    pub condition: FileCondition,
}

/// Where a file or folder is moved or copied to.
#[derive(Debug, Clone)]
pub struct FileMove {
    /// The present path, not the root.
    pub from: FilePath,
    /// The new path, not the root.
    pub to: FilePath,
    /// Whether an entry at the new path is replaced.
    pub overwrite: bool,
    /// Whether missing folders above the new path are created.
    pub create_folders: bool,
    /// What must be at the new path.
    pub condition: FileCondition,
    /// The image to add when the file is [`Partial`](FileContent::Partial) and the new name is final. Its original must
    /// be that of the file.
    pub image: Option<NewImage>,
}

/// The outcome of a change that leaves an entry at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWritten {
    pub entry: FileEntry,
    /// Whether nothing was at the path before.
    pub is_new: bool,
}

/// Why a change of files was refused. Nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRefusal {
    /// Nothing is at the path.
    NotFound,
    /// A folder above the path is missing, or is a file.
    NoParent,
    /// Something is at the path and must not be replaced.
    Exists,
    /// The content of a file would replace a folder, or the root folder would be deleted.
    IsFolder,
    /// The source and the destination are the same, or one is below the other.
    IntoItself,
    /// The [`FileCondition`] is not met.
    Condition,
    /// A lock protects the path, its folder or something below it, and its token was not sent.
    Locked,
    QuotaExceeded,
    /// The copied folder has too many entries or too many bytes of sidecars, there are too many locks, or an entry would
    /// have too many folders above it.
    TooMany,
    /// The account would have too many entries that take no room in its quota: see [`MAX_EMPTY_FILES`] and
    /// [`MAX_FILES_PER_PHOTO`].
    TooManyEntries,
    /// The original was removed in the meantime: announce and write it again.
    OriginalGone,
    AccountGone,
}

/// Maximum number of entries that one copy creates. A copy is one write, for which all other writes wait.
pub const MAX_COPIED_FILES: u32 = 10_000;

/// Maximum number of entries of an account that store nothing: folders, placeholders and junk. One more is allowed for each of
/// its visible images, because Finder writes junk for each photo.
pub const MAX_EMPTY_FILES: u32 = 20_000;

/// Maximum number of files of an account that have the same photo.
pub const MAX_FILES_PER_PHOTO: u32 = 1000;

/// Maximum number of bytes of sidecars that one copy creates.
pub const MAX_COPIED_SIDECAR_BYTES: u64 = 64 * 1024 * 1024;

/// Kinds of files that belong together by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairedKind {
    Photo,
    Sidecar,
}

/// A file or folder with its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedFile {
    pub path: FilePath,
    pub entry: FileEntry,
}

impl LocatedFile {
    /// A member of a folder; `None` if its path would be too deep.
    pub fn in_folder(folder: &FilePath, entry: FileEntry) -> Option<Self> {
        let names = folder.names().iter().chain(&entry.name).cloned().collect();
        Some(Self { path: FilePath::new(names).ok()?, entry })
    }
}

/// A position in the order of files by [`FileEntry::modified_at`], and among equal times by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePosition {
    pub modified_at: Timestamp,
    pub id: FileId,
}

impl FilePosition {
    /// The position after all files of this time.
    pub const fn after(modified_at: Timestamp) -> Self {
        Self { modified_at, id: FileId(i64::MAX) }
    }

    pub fn of(entry: &FileEntry) -> Self {
        Self { modified_at: entry.modified_at(), id: entry.id }
    }
}

/// A part of the files and folders of an account, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentFiles {
    /// The files and folders, without the root folder. There may be fewer than were requested.
    pub files: Vec<LocatedFile>,
    /// Where the next part begins; `None` if there are no more.
    pub next: Option<FilePosition>,
}

/// The synced files and folders of an account, as a tree.
///
/// Several files may contain the same image. When the last file of an image is deleted or replaced, the image is
/// deleted, too; it can be restored for 30 days, and is restored when its bytes are added again in any way. An image
/// that was deleted otherwise stays deleted when its bytes are put again as a file; the file is listed all the same.
///
/// Every change of an entry increases the version of all folders above the entry and updates their sums of bytes.
///
/// An operation that would be refused for several reasons is refused for the first in this order: the account is gone,
/// nothing is at the source, source and destination are the same or one is below the other, a folder above is missing,
/// the entry at the destination must not be replaced, the condition is not met, a lock, and then the reasons that
/// depend on the content.
#[async_trait]
pub trait FileStore: Send + Sync + 'static {
    /// The entry at a path. The root folder always exists.
    async fn file(&self, account: AccountId, path: &FilePath) -> Result<Option<FileEntry>, StorageError>;

    async fn file_by_id(&self, account: AccountId, id: FileId) -> Result<Option<FileEntry>, StorageError>;

    /// The entry with this id and its path.
    async fn located_file(&self, account: AccountId, id: FileId)
    -> Result<Option<LocatedFile>, StorageError>;

    /// Reads up to `max` files and folders before a position that were modified at `since` or later, from the newest to
    /// the oldest. Those that are no longer in the tree are left out.
    async fn recent_files(
        &self,
        account: AccountId,
        since: Timestamp,
        before: FilePosition,
        max: u32,
    ) -> Result<RecentFiles, StorageError>;

    /// The entry at a path and its members, from one snapshot.
    async fn list_files(
        &self,
        account: AccountId,
        path: &FilePath,
    ) -> Result<Option<FileListing>, StorageError>;

    /// Up to `max` files of a kind in a folder whose names begin with `prefix`, by name.
    async fn files_with_prefix(
        &self,
        account: AccountId,
        folder: &FilePath,
        kind: PairedKind,
        prefix: &str,
        max: u32,
    ) -> Result<Vec<FileEntry>, StorageError>;

    /// The content of a sidecar; `None` if there is no such sidecar.
    async fn sidecar_content(&self, account: AccountId, id: FileId) -> Result<Option<Vec<u8>>, StorageError>;

    /// Creates or replaces a file. If a photo already has these bytes, only its version and times change.
    async fn put_file(
        &self,
        change: FileChange,
        file: NewFile,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError>;

    /// Creates a folder, and with `create_folders` those above it.
    async fn create_folder(
        &self,
        change: FileChange,
        path: &FilePath,
        create_folders: bool,
    ) -> Result<Result<FileEntry, FileRefusal>, StorageError>;

    /// Moves a file, or a folder with everything below it. Its locks end.
    async fn move_file(
        &self,
        change: FileChange,
        to: FileMove,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError>;

    /// Copies a file, or a folder with everything below it. The copies have new ids.
    async fn copy_file(
        &self,
        change: FileChange,
        to: FileMove,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError>;

    /// Removes a file or folder from the tree at once. [`sweep_deleted_files`](Self::sweep_deleted_files) deletes the
    /// entries below a removed folder, and the images whose last file was below it.
    async fn delete_file(
        &self,
        change: FileChange,
        path: &FilePath,
        condition: FileCondition,
    ) -> Result<Result<(), FileRefusal>, StorageError>;

    /// Deletes up to `max` files that are no longer in the tree, with the images whose last file they were; returns the
    /// number of deleted files and folders. With an account, only its files.
    async fn sweep_deleted_files(
        &self,
        account: Option<AccountId>,
        at: Timestamp,
        max: u32,
    ) -> Result<u32, StorageError>;

    /// Changes the times of a file or folder; a time that is `None` stays.
    async fn set_file_times(
        &self,
        change: FileChange,
        path: &FilePath,
        times: FileTimes,
    ) -> Result<Result<FileEntry, FileRefusal>, StorageError>;

    /// Locks a file or folder. If nothing is at the path, a placeholder is created first, and `is_new` is true.
    async fn lock_file(
        &self,
        change: FileChange,
        lock: FileLock,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError>;

    /// Extends a lock that applies to a path; `None` if there is no such unexpired lock.
    async fn refresh_lock(
        &self,
        change: FileChange,
        path: &FilePath,
        token: &str,
        expires_at: Timestamp,
    ) -> Result<Option<FileLock>, StorageError>;

    /// Ends a lock that applies to a path; `false` if there is no such unexpired lock.
    async fn unlock_file(
        &self,
        change: FileChange,
        path: &FilePath,
        token: &str,
    ) -> Result<bool, StorageError>;

    /// The unexpired locks that apply to a path: its own, and deep ones above it.
    async fn file_locks(
        &self,
        account: AccountId,
        path: &FilePath,
        at: Timestamp,
    ) -> Result<Vec<FileLock>, StorageError>;

    /// All unexpired locks of an account, at most [`MAX_FILE_LOCKS`].
    async fn account_locks(&self, account: AccountId, at: Timestamp) -> Result<Vec<FileLock>, StorageError>;
}
