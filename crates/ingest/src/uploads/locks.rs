use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use storage::{UploadId, UploadState};

/// The uploads that requests to this process write to now.
#[derive(Debug, Default, Clone)]
pub(crate) struct UploadLocks(Arc<Mutex<HashSet<UploadId>>>);

/// An upload that no other request of this process may complete.
#[derive(Debug)]
pub struct LockedUpload {
    /// Its state since it was locked.
    pub state: UploadState,
    pub(super) _lock: UploadLock,
}

#[derive(Debug)]
pub(super) struct UploadLock {
    locks: UploadLocks,
    upload: UploadId,
}

impl UploadLocks {
    pub(super) fn try_lock(&self, upload: UploadId) -> Option<UploadLock> {
        let mut locked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        locked.insert(upload).then(|| UploadLock { locks: self.clone(), upload })
    }
}

impl Drop for UploadLock {
    fn drop(&mut self) {
        self.locks.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.upload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_has_one_writer() {
        let locks = UploadLocks::default();
        let first = locks.try_lock(UploadId(1));
        assert!(first.is_some() && locks.try_lock(UploadId(1)).is_none());
        assert!(locks.try_lock(UploadId(2)).is_some());
        drop(first);
        assert!(locks.try_lock(UploadId(1)).is_some());
    }
}
