//! Finds the new and changed files of a folder. Blocks.

use std::{
    collections::HashSet,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use domain::Timestamp;
use tokio::time::Instant;

use super::{
    changes::FolderWatcher,
    seen_files::{FileVersion, SeenFile, SeenFiles},
};
use crate::FailedFile;

/// Endings of files that other programs are still writing and rename at the end.
const PARTIAL_ENDINGS: [&str; 6] = ["part", "partial", "tmp", "crdownload", "filepart", "download"];

/// A photo to import, with the versions of its file and of its sidecars.
#[derive(Debug)]
pub(super) struct NewPhoto {
    /// The photo, then its sidecars.
    pub(super) paths: Vec<PathBuf>,
    pub(super) versions: Vec<FileVersion>,
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
    folders: HashSet<PathBuf>,
}

/// What a folder contains.
#[derive(Default)]
struct Listing {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    has_news: bool,
}

impl Scanner {
    pub(super) fn new(watcher: FolderWatcher, settle: Duration) -> Self {
        Self { seen: SeenFiles::default(), watcher, settle, folders: HashSet::new() }
    }

    /// Starts a full scan.
    pub(super) fn forget_folders(&mut self) {
        self.folders.clear();
        self.seen.forget_unsettled(Instant::now(), self.settle.saturating_mul(100));
    }

    pub(super) fn remember(&mut self, versions: &[FileVersion]) {
        versions.iter().for_each(|version| self.seen.remember(*version));
    }

    /// Lists a folder. It is watched first, so that no file is missed.
    pub(super) fn visit(&mut self, folder: &Path, now: Timestamp, report_unmatched: bool) -> Visit {
        self.watcher.watch(folder);
        let mut visit = Visit { not_notified: self.watcher.take_refusal(), ..Visit::default() };
        self.folders.insert(folder.to_owned());
        let listing = match self.list(folder) {
            Ok(listing) => listing,
            // It was deleted or renamed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return visit,
            Err(error) => {
                self.fail_once(folder, &error, &mut visit);
                return visit;
            }
        };
        visit.folders = listing.folders;
        visit.folders.retain(|folder| !self.folders.contains(folder));
        if listing.has_news {
            self.pair(&listing.files, now, report_unmatched, &mut visit);
        }
        visit
    }

    /// Reports a folder that cannot be read, once.
    fn fail_once(&mut self, folder: &Path, error: &io::Error, visit: &mut Visit) {
        let Ok(metadata) = fs::metadata(folder) else { return };
        if self.seen.remember_report(self.seen.file(folder, &metadata).version) {
            visit.failed.push(FailedFile::new(folder.to_owned(), format!("cannot be read: {error}")));
        }
    }

    /// The files and subfolders. Links to folders are not followed, so that no folder is listed twice.
    fn list(&self, folder: &Path) -> io::Result<Listing> {
        let mut listing = Listing::default();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                listing.folders.push(path);
            } else if !is_ignored(&path)
                && let Some(file) = self.file(&path)
            {
                listing.has_news |= !self.seen.is_done(file.version);
                listing.files.push(path);
            }
        }
        // A fixed order, so that reports do not depend on the file system.
        listing.files.sort();
        listing.folders.sort();
        Ok(listing)
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
            let paths: Vec<PathBuf> = std::iter::once(photo.path).chain(sidecars).collect();
            let seen: Vec<SeenFile> = paths.iter().filter_map(|path| self.file(path)).collect();
            if seen.iter().all(|file| self.seen.is_imported(file.version)) {
                continue;
            }
            // All of them, because each starts the time of its file.
            let unsettled =
                seen.iter().filter(|file| !self.seen.has_settled(**file, now, self.settle)).count();
            if unsettled > 0 {
                visit.unsettled = true;
                continue;
            }
            let versions = seen.iter().map(|file| file.version).collect();
            visit.photos.push(NewPhoto { paths, versions });
        }
        // Outside of a full scan, the photo may be about to arrive.
        if report_unmatched {
            for problem in failed.into_iter().chain(unmatched) {
                let Some(file) = self.file(&problem.path) else { continue };
                if self.seen.remember_report(file.version) {
                    visit.failed.push(FailedFile::unmatched(problem));
                }
            }
        }
    }
}

/// Hidden files, files of file managers, archives, and files that another program has not finished.
fn is_ignored(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let partial = path
        .extension()
        .is_some_and(|ending| PARTIAL_ENDINGS.iter().any(|partial| ending.eq_ignore_ascii_case(partial)));
    name.starts_with('.') || partial || exports::is_archive_name(path) || media::is_junk_file_name(&name)
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
        let name = |new: &NewPhoto| new.paths[0].file_name().map(|name| name.to_string_lossy().into_owned());
        visit.photos.iter().filter_map(name).collect()
    }

    #[test]
    fn scans_find_changes_after_the_limit_of_watches_is_reached() {
        let dir = tempfile::tempdir().unwrap();
        let limit = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        let mut scanner = Scanner::new(FolderWatcher::refused(&limit), Duration::ZERO);
        fs::write(dir.path().join("a.jpg"), "1").unwrap();
        let first = scanner.visit(dir.path(), NOW, true);
        assert_eq!(names(&first), ["a.jpg"]);
        assert!(first.not_notified.unwrap().contains("max_user_watches"));
        scanner.remember(&first.photos[0].versions);

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
        let mut scanner = Scanner::new(FolderWatcher::refused(&limit), Duration::from_secs(3600));
        fs::write(dir.path().join("a.jpg"), "1").unwrap();
        let visit = scanner.visit(dir.path(), Timestamp::MIN, true);
        assert!(visit.unsettled && visit.photos.is_empty());
        let visit = scanner.visit(dir.path(), NOW, true);
        assert!(!visit.unsettled);
        assert_eq!(names(&visit), ["a.jpg"]);
    }

    #[test]
    fn a_folder_that_vanished_is_no_failure() {
        let dir = tempfile::tempdir().unwrap();
        let limit = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        let mut scanner = Scanner::new(FolderWatcher::refused(&limit), Duration::ZERO);
        let visit = scanner.visit(&dir.path().join("gone"), NOW, true);
        assert!(visit.failed.is_empty() && visit.photos.is_empty());
    }
}
