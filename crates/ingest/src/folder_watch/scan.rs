//! Finds the new and changed files of a folder. Blocks.

use std::{
    collections::HashMap,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use domain::{AccountId, Timestamp};
use exports::Problem;
use storage::FileVersion;
use tokio::time::Instant;

use super::{
    changes::FolderWatcher,
    seen_files::{SeenFile, SeenFiles},
};
use crate::{FailedFile, FailedKind, ImportReport};

/// Endings of files that other programs are still writing and rename at the end.
const PARTIAL_ENDINGS: [&str; 6] = ["part", "partial", "tmp", "crdownload", "filepart", "download"];

/// Why archives are not imported.
const ARCHIVE: &str = "is an archive, which is not imported from a watched folder; \
    import it with `server import EMAIL FILE`";

/// A photo to import: the versions of its file, then of its sidecars.
#[derive(Debug)]
pub(super) struct NewPhoto {
    pub(super) files: Vec<(PathBuf, FileVersion)>,
}

impl NewPhoto {
    pub(super) fn versions(&self) -> impl Iterator<Item = FileVersion> {
        self.files.iter().map(|(_, version)| *version)
    }
}

/// The result of listing a folder.
#[derive(Debug, Default)]
pub(super) struct Visit {
    /// Photos that are new or have changed, or whose sidecars have.
    pub(super) photos: Vec<NewPhoto>,
    /// Subfolders that were not listed before.
    pub(super) folders: Vec<PathBuf>,
    /// Sidecars without a photo, and files that cannot be read.
    pub(super) failed: Vec<FailedFile>,
    /// Archives.
    pub(super) skipped: Vec<Problem>,
    /// Whether the folder has files that may still be written.
    pub(super) unsettled: bool,
    /// Why the system reports no changes of some folders.
    pub(super) not_notified: Option<String>,
}

/// Lists folders and remembers what was imported.
pub(super) struct Scanner {
    seen: SeenFiles,
    watcher: FolderWatcher,
    settle: Duration,
    /// The folders listed since the last full scan began.
    folders: HashMap<PathBuf, FolderIdentity>,
}

/// Identifies a folder, so that another folder that takes its name is noticed: device, inode, and time of creation,
/// because inodes are reused. `None` where the file system has no such value.
type FolderIdentity = (Option<(u64, u64)>, Option<SystemTime>);

fn identity(metadata: &Metadata) -> FolderIdentity {
    #[cfg(unix)]
    let inode = {
        use std::os::unix::fs::MetadataExt as _;
        Some((metadata.dev(), metadata.ino()))
    };
    #[cfg(not(unix))]
    let inode = None;
    (inode, metadata.created().ok())
}

/// What a folder contains.
#[derive(Default)]
struct Listing {
    files: Vec<PathBuf>,
    folders: Vec<(PathBuf, FolderIdentity)>,
    archives: Vec<PathBuf>,
    /// Files whose metadata cannot be read, with the error.
    unknown: Vec<(PathBuf, io::Error)>,
    has_news: bool,
}

impl Scanner {
    pub(super) fn new(watcher: FolderWatcher, account: AccountId, settle: Duration) -> Self {
        Self { seen: SeenFiles::new(account), watcher, settle, folders: HashMap::new() }
    }

    /// Starts a full scan.
    pub(super) fn forget_folders(&mut self) {
        self.folders.clear();
        self.seen.forget_unsettled(Instant::now(), self.settle.saturating_mul(100));
    }

    /// Forgets what the store knows, so that it is asked again.
    pub(super) fn forget_imported(&mut self) {
        self.seen.forget_imported();
    }

    pub(super) fn remember(&mut self, versions: impl IntoIterator<Item = FileVersion>) {
        versions.into_iter().for_each(|version| self.seen.remember(version));
    }

    /// Remembers the failures of a batch, and removes repeated failures from the report. Returns the versions that were
    /// imported without a failure.
    pub(super) fn settle_batch(&mut self, batch: &[NewPhoto], report: &mut ImportReport) -> Vec<FileVersion> {
        let failures: HashMap<PathBuf, FailedKind> =
            report.failed.iter().map(|file| (file.path.clone(), file.kind)).collect();
        let (mut imported, mut repeated) = (Vec::new(), Vec::new());
        for photo in batch {
            let kinds: Vec<FailedKind> =
                photo.files.iter().filter_map(|(path, _)| failures.get(path).copied()).collect();
            if kinds.is_empty() {
                imported.extend(photo.versions());
            } else if kinds.contains(&FailedKind::Unread) {
                let mut is_new = |(path, version): &(PathBuf, FileVersion)| {
                    failures.get(path) != Some(&FailedKind::Unread) || self.seen.remember_unread(*version)
                };
                let known = photo.files.iter().filter(|file| !is_new(file));
                repeated.extend(known.map(|(path, _)| path.clone()));
            } else {
                for version in photo.versions() {
                    self.seen.remember_report(version);
                }
            }
        }
        report.failed.retain(|file| !repeated.contains(&file.path));
        imported
    }

    /// Lists a folder. It is watched first, so that no file is missed.
    pub(super) fn visit(&mut self, folder: &Path, now: Timestamp, report_unmatched: bool) -> Visit {
        let before = fs::metadata(folder);
        self.watcher.watch(folder);
        let mut visit = Visit { not_notified: self.watcher.take_refusal(), ..Visit::default() };
        // If the folder is replaced from now on, the next list of its parent contains another identity.
        if let Ok(metadata) = before {
            self.folders.insert(folder.to_owned(), identity(&metadata));
        }
        let listing = match self.list(folder) {
            Ok(listing) => listing,
            // It was deleted or renamed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.folders.remove(folder);
                return visit;
            }
            Err(error) => {
                self.fail_once(folder, &error, &mut visit);
                return visit;
            }
        };
        let is_listed = |(path, identity): &(PathBuf, _)| self.folders.get(path) == Some(identity);
        let new = listing.folders.into_iter().filter(|folder| !is_listed(folder));
        visit.folders = new.map(|(path, _)| path).collect();
        self.report_skipped(listing.archives, listing.unknown, &mut visit);
        if listing.has_news {
            self.pair(&listing.files, now, report_unmatched, &mut visit);
        }
        visit
    }

    /// Reports archives, and files whose metadata cannot be read, once.
    fn report_skipped(
        &mut self,
        archives: Vec<PathBuf>,
        unknown: Vec<(PathBuf, io::Error)>,
        visit: &mut Visit,
    ) {
        for path in archives {
            if self.seen.remember_report(self.seen.path(&path)) {
                visit.skipped.push(Problem { path, reason: ARCHIVE.to_owned() });
            }
        }
        for (path, error) in unknown {
            if self.seen.remember_unread(self.seen.path(&path)) {
                visit.failed.push(FailedFile::unread(path, format!("cannot be read: {error}")));
            }
        }
    }

    /// Reports a folder that cannot be read, once.
    fn fail_once(&mut self, folder: &Path, error: &io::Error, visit: &mut Visit) {
        let Ok(metadata) = fs::metadata(folder) else { return };
        if self.seen.remember_unread(self.seen.file(folder, &metadata).version) {
            visit.failed.push(FailedFile::unread(folder.to_owned(), format!("cannot be read: {error}")));
        }
    }

    /// The files and subfolders. Links to folders are not followed, so that no folder is listed twice.
    fn list(&self, folder: &Path) -> io::Result<Listing> {
        let mut listing = Listing::default();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                // It may have been deleted in between.
                let Ok(metadata) = entry.metadata() else { continue };
                listing.folders.push((path, identity(&metadata)));
            } else if !is_ignored(&path) {
                self.list_file(path, &mut listing);
            }
        }
        // A fixed order, so that reports do not depend on the file system.
        listing.files.sort();
        listing.folders.sort();
        listing.archives.sort();
        Ok(listing)
    }

    fn list_file(&self, path: PathBuf, listing: &mut Listing) {
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() && exports::is_archive_name(&path) => {
                listing.archives.push(path);
            }
            Ok(metadata) if metadata.is_file() => {
                listing.has_news |= !self.seen.is_done(self.seen.file(&path, &metadata).version);
                listing.files.push(path);
            }
            Ok(_) => {}
            // It was deleted in between, or is a link to nothing.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => listing.unknown.push((path, error)),
        }
    }

    /// A file as it is now; `None` if it is gone or no file.
    fn file(&self, path: &Path) -> Option<SeenFile> {
        let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(self.seen.file(path, &metadata))
    }

    /// Assigns sidecars to photos, and selects the photos to import.
    fn pair(&mut self, files: &[PathBuf], now: Timestamp, report_unmatched: bool, visit: &mut Visit) {
        let now = (now, Instant::now());
        let exports::Plan { photos, failed, unmatched, .. } = exports::plan(files);
        for photo in photos {
            let sidecars = photo.sidecars.into_iter().map(|sidecar| sidecar.path);
            let paths = std::iter::once(photo.path).chain(sidecars);
            let seen: Vec<(PathBuf, SeenFile)> =
                paths.filter_map(|path| self.file(&path).map(|file| (path, file))).collect();
            if seen.iter().all(|(_, file)| self.seen.is_done(file.version)) {
                continue;
            }
            // Every file is checked, even after one that has not settled, because the check starts the time of each file.
            let unsettled =
                seen.iter().filter(|(_, file)| !self.seen.has_settled(*file, now, self.settle)).count();
            if unsettled > 0 {
                visit.unsettled = true;
                continue;
            }
            let files = seen.into_iter().map(|(path, file)| (path, file.version)).collect();
            visit.photos.push(NewPhoto { files });
        }
        // Outside of a full scan, the photo may be about to arrive.
        if report_unmatched {
            for problem in unmatched {
                let Some(file) = self.file(&problem.path) else { continue };
                if self.seen.remember_report(file.version) {
                    visit.failed.push(FailedFile::unmatched(problem));
                }
            }
            for Problem { path, reason } in failed {
                let Some(file) = self.file(&path) else { continue };
                if self.seen.remember_unread(file.version) {
                    visit.failed.push(FailedFile::unread(path, reason));
                }
            }
        }
    }
}

/// Hidden files, files of file managers, and files that another program has not finished.
fn is_ignored(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let partial = path
        .extension()
        .is_some_and(|ending| PARTIAL_ENDINGS.iter().any(|partial| ending.eq_ignore_ascii_case(partial)));
    name.starts_with('.') || partial || media::is_junk_file_name(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_and_hidden_files_are_ignored() {
        for name in [".IMG_1.jpg.Xa81", "IMG_1.jpg.part", "IMG_1.jpg.crdownload", "Thumbs.db", "a.TMP"] {
            assert!(is_ignored(Path::new(name)), "{name}");
        }
        for name in ["IMG_1.jpg", "party.jpg", "part", "a.tmp.jpg", "a.xmp"] {
            assert!(!is_ignored(Path::new(name)), "{name}");
        }
    }

    const NOW: Timestamp = Timestamp::MAX;

    fn names(visit: &Visit) -> Vec<String> {
        let name =
            |new: &NewPhoto| new.files[0].0.file_name().map(|name| name.to_string_lossy().into_owned());
        visit.photos.iter().filter_map(name).collect()
    }

    #[test]
    fn scans_find_changes_after_the_limit_of_watches_is_reached() {
        let dir = tempfile::tempdir().unwrap();
        let limit = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        let mut scanner = Scanner::new(FolderWatcher::refused(&limit), AccountId(1), Duration::ZERO);
        fs::write(dir.path().join("a.jpg"), "1").unwrap();
        let first = scanner.visit(dir.path(), NOW, true);
        assert_eq!(names(&first), ["a.jpg"]);
        assert!(first.not_notified.unwrap().contains("max_user_watches"));
        scanner.remember(first.photos[0].versions());

        fs::create_dir(dir.path().join("inner")).unwrap();
        fs::write(dir.path().join("b.jpg"), "2").unwrap();
        let second = scanner.visit(dir.path(), NOW, true);
        assert_eq!((names(&second), second.not_notified), (vec!["b.jpg".to_owned()], None), "reported once");
        assert_eq!(second.folders, [dir.path().join("inner")]);
        scanner.visit(&dir.path().join("inner"), NOW, true);
        assert!(scanner.visit(dir.path(), NOW, true).folders.is_empty(), "each is listed once");
        scanner.forget_folders();
        assert_eq!(scanner.visit(dir.path(), NOW, true).folders.len(), 1, "until the next full scan");
    }

    #[test]
    fn unsettled_files_and_their_photos_wait() {
        let dir = tempfile::tempdir().unwrap();
        let limit = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        let mut scanner =
            Scanner::new(FolderWatcher::refused(&limit), AccountId(1), Duration::from_secs(3600));
        fs::write(dir.path().join("a.jpg"), "1").unwrap();
        let visit = scanner.visit(dir.path(), Timestamp::MIN, true);
        assert!(visit.unsettled && visit.photos.is_empty());
        let visit = scanner.visit(dir.path(), NOW, true);
        assert!(!visit.unsettled);
        assert_eq!(names(&visit), ["a.jpg"]);
    }

    #[test]
    fn a_folder_that_vanished_is_not_reported() {
        let dir = tempfile::tempdir().unwrap();
        let limit = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        let mut scanner = Scanner::new(FolderWatcher::refused(&limit), AccountId(1), Duration::ZERO);
        let visit = scanner.visit(&dir.path().join("gone"), NOW, true);
        assert!(visit.failed.is_empty() && visit.photos.is_empty());
    }

    fn scanner() -> Scanner {
        let limit = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        Scanner::new(FolderWatcher::refused(&limit), AccountId(1), Duration::ZERO)
    }

    #[test]
    fn a_folder_that_takes_the_name_of_another_is_listed() {
        let dir = tempfile::tempdir().unwrap();
        let (root, inner, other) =
            (dir.path().join("root"), dir.path().join("root/inner"), dir.path().join("other"));
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir(&other).unwrap();
        let mut scanner = scanner();
        assert_eq!(scanner.visit(&root, NOW, true).folders, vec![inner.clone()]);
        scanner.visit(&inner, NOW, true);
        assert!(scanner.visit(&root, NOW, true).folders.is_empty());
        fs::rename(&inner, dir.path().join("away")).unwrap();
        fs::rename(&other, &inner).unwrap();
        assert_eq!(scanner.visit(&root, NOW, true).folders, vec![inner.clone()], "another folder");
        scanner.visit(&inner, NOW, true);
        fs::remove_dir(&inner).unwrap();
        fs::create_dir(&inner).unwrap();
        assert_eq!(
            scanner.visit(&root, NOW, true).folders,
            [inner],
            "a new folder, perhaps with the same inode"
        );
    }

    #[test]
    fn archives_are_reported_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("takeout-001.zip");
        fs::write(&path, "PK").unwrap();
        let mut scanner = scanner();
        let first = scanner.visit(dir.path(), NOW, true);
        assert_eq!(first.skipped.iter().map(|problem| &problem.path).collect::<Vec<_>>(), [&path]);
        assert!(first.skipped[0].reason.contains("server import") && first.photos.is_empty());
        fs::write(&path, "PK, and more of it").unwrap();
        assert_eq!(scanner.visit(dir.path(), NOW, true).skipped, []);
    }

    /// The report of an import in which this file failed.
    fn failure(path: &Path, kind: FailedKind) -> ImportReport {
        let file = FailedFile { path: path.to_owned(), error: "because".to_owned(), kind };
        ImportReport { failed: vec![file], ..ImportReport::default() }
    }

    #[test]
    fn files_that_could_not_be_read_are_tried_again_and_refused_ones_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jpg");
        fs::write(&path, "1").unwrap();
        let mut scanner = scanner();
        for is_reported in [true, false, false] {
            let visit = scanner.visit(dir.path(), NOW, true);
            assert_eq!(names(&visit), ["a.jpg"]);
            let mut report = failure(&path, FailedKind::Unread);
            assert_eq!(scanner.settle_batch(&visit.photos, &mut report), []);
            assert_eq!(!report.failed.is_empty(), is_reported, "a failure is reported once");
        }
        let visit = scanner.visit(dir.path(), NOW, true);
        let mut report = failure(&path, FailedKind::File);
        assert_eq!(scanner.settle_batch(&visit.photos, &mut report), []);
        assert_eq!(report.failed.len(), 1);
        assert_eq!(names(&scanner.visit(dir.path(), NOW, true)), [""; 0], "its content was refused");
        fs::write(&path, "22").unwrap();
        let visit = scanner.visit(dir.path(), NOW, true);
        assert_eq!(names(&visit), ["a.jpg"], "another content");
        assert_eq!(scanner.settle_batch(&visit.photos, &mut ImportReport::default()).len(), 1);
    }
}
