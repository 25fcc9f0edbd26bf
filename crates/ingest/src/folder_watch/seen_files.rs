use std::{
    collections::{HashMap, HashSet},
    fs::Metadata,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use domain::{AccountId, Timestamp};
use storage::FileVersion;
use tokio::time::Instant;

/// How many versions of each kind are remembered in memory: about 36 MB. With more, all are forgotten; the store still knows
/// which were imported.
const MAX_REMEMBERED: usize = 1_000_000;
/// A file that was last modified this long ago is complete. Younger ones are looked at twice: the clock of a file server
/// may differ from ours, and a copy may stall.
const LONG_UNCHANGED: Duration = Duration::from_secs(600);

/// A file as it is now.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenFile {
    pub(super) version: FileVersion,
    /// Milliseconds since 1970; `None` if the file system has no times.
    modified_ms: Option<i64>,
}

/// Remembers which versions of files need no further work.
#[derive(Debug)]
pub(super) struct SeenFiles {
    account: AccountId,
    /// The store has remembered these as imported.
    imported: HashSet<FileVersion>,
    /// Refused files, and sidecars without a photo, which were reported.
    reported: HashSet<FileVersion>,
    /// Files that could not be read, which was reported. They are tried again.
    unread: HashSet<FileVersion>,
    /// Versions that are too new to be imported, and when each was first seen.
    unsettled: HashMap<FileVersion, Instant>,
}

impl SeenFiles {
    pub(super) fn new(account: AccountId) -> Self {
        Self {
            account,
            imported: HashSet::new(),
            reported: HashSet::new(),
            unread: HashSet::new(),
            unsettled: HashMap::new(),
        }
    }

    pub(super) fn file(&self, path: &Path, metadata: &Metadata) -> SeenFile {
        let modified = metadata.modified().ok();
        let nanos = modified.map(unix_nanos);
        let modified_ms = nanos.and_then(|nanos| i64::try_from(nanos / 1_000_000).ok());
        SeenFile { version: self.version(path, Some(metadata.len()), nanos), modified_ms }
    }

    /// A version for a path alone, without looking at its file.
    pub(super) fn path(&self, path: &Path) -> FileVersion {
        self.version(path, None, None)
    }

    /// The account is a part of the hash, so that equal paths of two accounts have nothing in common.
    fn version(&self, path: &Path, bytes: Option<u64>, modified: Option<i128>) -> FileVersion {
        let number = |number: Option<i128>| number.map(i128::to_be_bytes);
        let (bytes, modified) = (number(bytes.map(i128::from)), number(modified));
        let hash = keys::hash_parts(&[
            b"watched file",
            &self.account.0.to_be_bytes(),
            path.as_os_str().as_encoded_bytes(),
            bytes.as_ref().map_or(&[], <[u8; 16]>::as_slice),
            modified.as_ref().map_or(&[], <[u8; 16]>::as_slice),
        ]);
        let mut version = [0; 16];
        version.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        FileVersion(version)
    }

    /// Whether there is nothing to do for a file until another one changes.
    pub(super) fn is_done(&self, version: FileVersion) -> bool {
        self.imported.contains(&version) || self.reported.contains(&version)
    }

    /// Remembers a version that the store knows as imported.
    pub(super) fn remember(&mut self, version: FileVersion) {
        self.unsettled.remove(&version);
        self.unread.remove(&version);
        insert(&mut self.imported, version);
    }

    /// Remembers that a file was refused or has no photo; returns whether this is new.
    pub(super) fn remember_report(&mut self, version: FileVersion) -> bool {
        self.unsettled.remove(&version);
        insert(&mut self.reported, version)
    }

    /// Remembers that a file could not be read, and is to be tried again; returns whether this is new.
    pub(super) fn remember_unread(&mut self, version: FileVersion) -> bool {
        insert(&mut self.unread, version)
    }

    /// Forgets which versions the store knows, so that it is asked again.
    pub(super) fn forget_imported(&mut self) {
        self.imported.clear();
    }

    /// Whether a file has been unchanged for long enough. An old modification time suffices: a file that is being written
    /// has a new one, and tools that copy times set the old time at the end. `now` and `at` are the same moment.
    pub(super) fn has_settled(
        &mut self,
        file: SeenFile,
        (now, at): (Timestamp, Instant),
        settle: Duration,
    ) -> bool {
        let age_ms = file.modified_ms.and_then(|modified_ms| now.millis().checked_sub(modified_ms));
        let age = age_ms.and_then(|age_ms| u64::try_from(age_ms).ok()).map(Duration::from_millis);
        if age.is_some_and(|age| age >= LONG_UNCHANGED) {
            return true;
        }
        at.saturating_duration_since(*self.unsettled.entry(file.version).or_insert(at)) >= settle
    }

    /// Forgets versions that were first seen longer ago than `older_than`. Most of them are versions that files no longer
    /// have.
    pub(super) fn forget_unsettled(&mut self, at: Instant, older_than: Duration) {
        self.unsettled.retain(|_, seen| at.saturating_duration_since(*seen) < older_than);
    }
}

fn insert(versions: &mut HashSet<FileVersion>, version: FileVersion) -> bool {
    if versions.len() >= MAX_REMEMBERED {
        versions.clear();
    }
    versions.insert(version)
}

fn unix_nanos(time: SystemTime) -> i128 {
    let nanos = |duration: Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => nanos(after),
        Err(before) => -nanos(before.duration()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTLE: Duration = Duration::from_secs(3);

    fn of_account(account: i64) -> SeenFiles {
        SeenFiles::new(AccountId(account))
    }

    fn version(seen: &SeenFiles, path: &Path) -> FileVersion {
        seen.file(path, &std::fs::metadata(path).unwrap()).version
    }

    #[test]
    fn a_changed_file_has_another_version() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&a, "1").unwrap();
        std::fs::copy(&a, &b).unwrap();
        let files = of_account(1);
        let first = version(&files, &a);
        assert_eq!(version(&of_account(1), &a), first, "the same in the next run");
        assert_ne!(version(&of_account(2), &a), first, "another account");
        assert_ne!(version(&files, &b), first, "another path");
        assert_ne!(files.path(&a), first, "only its path");
        std::fs::write(&a, "12").unwrap();
        assert_ne!(version(&files, &a), first, "another length");
        std::fs::write(&a, "1").unwrap();
        let other = SystemTime::UNIX_EPOCH + Duration::from_secs(7);
        std::fs::File::options().write(true).open(&a).unwrap().set_modified(other).unwrap();
        assert_ne!(version(&files, &a), first, "another time");
    }

    #[test]
    fn only_a_file_that_is_long_unchanged_settles_at_the_first_look() {
        let now = Timestamp::from_millis(1_000_000_000).unwrap();
        let at = Instant::now();
        let file = |age_ms: Option<i64>| SeenFile {
            version: FileVersion([1; 16]),
            modified_ms: age_ms.map(|age_ms| now.millis() - age_ms),
        };
        assert!(of_account(1).has_settled(file(Some(600_000)), (now, at), SETTLE));
        for age_ms in [Some(599_999), Some(3000), Some(0), Some(-4000), Some(-9_000_000), None] {
            let mut files = of_account(1);
            assert!(!files.has_settled(file(age_ms), (now, at), SETTLE), "{age_ms:?}");
            assert!(!files.has_settled(file(age_ms), (now, at + SETTLE / 2), SETTLE), "{age_ms:?}");
            let later = at + SETTLE;
            assert!(files.has_settled(file(age_ms), (now, later), SETTLE), "{age_ms:?}");
            files.forget_unsettled(later, SETTLE);
            assert!(files.unsettled.is_empty());
        }
    }

    #[test]
    fn failures_are_reported_once_and_only_unread_files_are_tried_again() {
        let (mut files, version) = (of_account(1), FileVersion([1; 16]));
        assert!(files.remember_unread(version) && !files.remember_unread(version));
        assert!(!files.is_done(version));
        assert!(files.remember_report(version) && !files.remember_report(version));
        assert!(files.is_done(version));
        files.forget_imported();
        assert!(files.is_done(version), "it is not read again");
    }
}
