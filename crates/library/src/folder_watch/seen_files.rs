use std::{
    collections::{HashMap, HashSet},
    fs::Metadata,
    hash::{BuildHasher as _, RandomState},
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use domain::Timestamp;
use tokio::time::Instant;

/// How many versions are remembered: about 40 MB. With more, all are forgotten, and the next scan hashes every file again.
const MAX_REMEMBERED: usize = 2_000_000;

/// A version of a file: a hash of path, length and modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FileVersion(u64);

impl FileVersion {
    /// Stands for the fact that this version of a sidecar was reported to have no photo.
    fn reported(self) -> Self {
        Self(!self.0)
    }
}

/// A file as it is now.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenFile {
    pub(super) version: FileVersion,
    /// Milliseconds since 1970; `None` if the file system has no times.
    modified_ms: Option<i64>,
}

/// Remembers which versions of files were imported.
#[derive(Debug, Default)]
pub(super) struct SeenFiles {
    hasher: RandomState,
    imported: HashSet<FileVersion>,
    /// Versions that are too new to be imported, and when each was first seen.
    unsettled: HashMap<FileVersion, Instant>,
}

impl SeenFiles {
    pub(super) fn file(&self, path: &Path, metadata: &Metadata) -> SeenFile {
        let modified = metadata.modified().ok();
        let version = FileVersion(self.hasher.hash_one((path, metadata.len(), modified)));
        let since_epoch = modified.and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
        let modified_ms = since_epoch.and_then(|since| i64::try_from(since.as_millis()).ok());
        SeenFile { version, modified_ms }
    }

    pub(super) fn is_imported(&self, version: FileVersion) -> bool {
        self.imported.contains(&version)
    }

    /// Whether there is nothing to do for a file until another one changes.
    pub(super) fn is_done(&self, version: FileVersion) -> bool {
        self.is_imported(version) || self.imported.contains(&version.reported())
    }

    pub(super) fn remember(&mut self, version: FileVersion) {
        if self.imported.len() >= MAX_REMEMBERED {
            self.imported.clear();
        }
        self.unsettled.remove(&version);
        self.imported.insert(version);
    }

    /// Remembers that a sidecar without a photo was reported; returns whether this is new.
    pub(super) fn remember_report(&mut self, version: FileVersion) -> bool {
        let is_new = !self.imported.contains(&version.reported());
        self.remember(version.reported());
        is_new
    }

    /// Whether a file has been unchanged for a time. A file that is being written has a new modification time, which tools
    /// that copy times set at the end. `at` is the current time, too.
    pub(super) fn has_settled(
        &mut self,
        file: SeenFile,
        (now, at): (Timestamp, Instant),
        settle: Duration,
    ) -> bool {
        let settle_ms = i64::try_from(settle.as_millis()).unwrap_or(i64::MAX);
        let age_ms = file.modified_ms.map(|modified_ms| now.millis().saturating_sub(modified_ms));
        if age_ms.is_some_and(|age_ms| age_ms >= settle_ms) {
            return true;
        }
        at.saturating_duration_since(*self.unsettled.entry(file.version).or_insert(at)) >= settle
    }

    /// Forgets versions that files no longer have.
    pub(super) fn forget_unsettled(&mut self, at: Instant, older_than: Duration) {
        self.unsettled.retain(|_, seen| at.saturating_duration_since(*seen) < older_than);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTLE: Duration = Duration::from_secs(3);

    fn seen(seen: &SeenFiles, path: &Path) -> SeenFile {
        seen.file(path, &std::fs::metadata(path).unwrap())
    }

    #[test]
    fn a_changed_file_has_another_version() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&a, "1").unwrap();
        std::fs::copy(&a, &b).unwrap();
        let mut files = SeenFiles::default();
        let first = seen(&files, &a);
        files.remember(first.version);
        assert!(files.is_imported(first.version) && files.is_done(first.version));
        assert!(!files.is_imported(seen(&files, &b).version), "another path");
        std::fs::write(&a, "12").unwrap();
        assert!(!files.is_imported(seen(&files, &a).version), "another length");
        std::fs::write(&a, "1").unwrap();
        let other = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(7);
        std::fs::File::options().write(true).open(&a).unwrap().set_modified(other).unwrap();
        assert!(!files.is_imported(seen(&files, &a).version), "another time");
    }

    #[test]
    fn a_file_settles_by_its_age_or_while_it_is_watched() {
        let version = FileVersion(1);
        let now = Timestamp::from_millis(1_000_000).unwrap();
        let mut files = SeenFiles::default();
        let file = |modified_ms| SeenFile { version, modified_ms };
        let at = Instant::now();
        assert!(files.has_settled(file(Some(997_000)), (now, at), SETTLE));
        for modified_ms in [Some(999_000), Some(5_000_000), None] {
            let mut files = SeenFiles::default();
            assert!(!files.has_settled(file(modified_ms), (now, at), SETTLE));
            let later = at + SETTLE;
            assert!(files.has_settled(file(modified_ms), (now, later), SETTLE), "{modified_ms:?}");
            files.forget_unsettled(later, SETTLE);
            assert!(files.unsettled.is_empty());
        }
    }

    #[test]
    fn a_sidecar_without_a_photo_is_reported_once() {
        let (mut files, version) = (SeenFiles::default(), FileVersion(1));
        assert!(files.remember_report(version) && !files.remember_report(version));
        assert!(files.is_done(version) && !files.is_imported(version));
    }
}
