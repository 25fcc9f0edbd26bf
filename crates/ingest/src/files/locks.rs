use accounts::{Caller, Unavailable};
use domain::FilePath;
use storage::{FileLock, FileWritten, LockToken, StorageError};

use super::FileError;
use crate::Ingest;

/// A lock to take.
#[derive(Debug, Clone)]
pub struct LockFile {
    /// The path of the file or folder.
    pub path: FilePath,
    /// Whether it also locks everything below.
    pub is_deep: bool,
    /// Who locks, as XML that the caller has checked.
    pub owner: Option<String>,
    /// For how many milliseconds.
    pub duration_ms: i64,
}

impl Ingest {
    /// Locks a file or folder, which is created as a placeholder if nothing is there.
    pub async fn lock_file(
        &self,
        caller: &Caller,
        lock: LockFile,
        lock_tokens: &[LockToken],
    ) -> Result<(FileWritten, FileLock), FileError> {
        let change = self.change(caller, lock_tokens);
        let lock = FileLock {
            token: self.new_lock_token()?,
            root: lock.path,
            is_deep: lock.is_deep,
            owner: lock.owner,
            expires_at: change.at.plus_millis(lock.duration_ms),
        };
        let written = self.parts.store.lock_file(change, lock.clone()).await??;
        Ok((written, lock))
    }

    /// A random UUID as a URI (RFC 4918 §6.5, RFC 9562 §5.4).
    fn new_lock_token(&self) -> Result<LockToken, Unavailable> {
        let mut bytes = [0; 16];
        self.random().fill(&mut bytes).map_err(Unavailable::from)?;
        let random = u128::from_be_bytes(bytes);
        let uuid = (random & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
        let hex = format!("{uuid:032x}");
        let mut token = "urn:uuid:".to_owned();
        for (index, digit) in hex.chars().enumerate() {
            if matches!(index, 8 | 12 | 16 | 20) {
                token.push('-');
            }
            token.push(digit);
        }
        Ok(token)
    }

    /// Extends a lock that applies to a path for this many milliseconds from now; `None` if there is no such lock.
    pub async fn refresh_lock(
        &self,
        caller: &Caller,
        path: &FilePath,
        token: &str,
        duration_ms: i64,
    ) -> Result<Option<FileLock>, StorageError> {
        let change = self.change(caller, &[]);
        let expires_at = change.at.plus_millis(duration_ms);
        self.parts.store.refresh_lock(change, path, token, expires_at).await
    }

    /// Ends a lock that applies to a path; `false` if there is no such lock.
    pub async fn unlock_file(
        &self,
        caller: &Caller,
        path: &FilePath,
        token: &str,
    ) -> Result<bool, StorageError> {
        self.parts.store.unlock_file(self.change(caller, &[]), path, token).await
    }

    /// The locks that apply to a path.
    pub async fn file_locks(&self, caller: &Caller, path: &FilePath) -> Result<Vec<FileLock>, StorageError> {
        self.parts.store.file_locks(caller.account.id, path, self.parts.clock.now()).await
    }

    /// All locks of the caller's account.
    pub async fn account_locks(&self, caller: &Caller) -> Result<Vec<FileLock>, StorageError> {
        self.parts.store.account_locks(caller.account.id, self.parts.clock.now()).await
    }
}
