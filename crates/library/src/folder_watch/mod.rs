//! Imports what is in a folder and then every file that is added or changed, until it is stopped.
//!
//! A file that vanishes changes nothing in the library. Changes are reported by the operating system, and the whole
//! folder is scanned from time to time: network file systems report no changes of other machines.
//!
//! A file is imported once length and modification time have been unchanged for some seconds. Which versions of files
//! were imported is remembered for the run, as one number of 64 bits each. After a restart, all files are hashed again.

mod changes;
mod scan;
mod seen_files;

use std::{
    collections::{HashMap, VecDeque},
    io,
    path::{Path, PathBuf},
    pin::{Pin, pin},
    time::Duration,
};

use domain::AccountId;
use tokio::time::Instant;

use crate::{ImportError, ImportReport, Library};
use changes::Changes;
use scan::{Scanner, Visit};

/// How many photos are imported before their outcome is reported.
const BATCH: usize = 100;

/// The pause after a store failed.
const RETRY_PAUSE: Duration = Duration::from_secs(10);
/// No more changed folders than this are remembered. With more, the whole folder is scanned.
const MAX_CHANGED_FOLDERS: usize = 10_000;

/// How a folder is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchOptions {
    /// How long length and modification time of a file must be unchanged before it is imported.
    pub settle: Duration,
    /// How often the whole folder is scanned.
    pub rescan: Duration,
}

impl Default for WatchOptions {
    /// Three seconds, and ten minutes.
    fn default() -> Self {
        Self { settle: Duration::from_secs(3), rescan: Duration::from_secs(600) }
    }
}

/// What happens while a folder is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// Files of a folder were imported, or failed.
    Imported {
        /// The folder.
        folder: PathBuf,
        /// Their outcome.
        report: ImportReport,
    },
    /// The whole folder was scanned for the first time and is in step.
    InStep {
        /// How many folders were scanned.
        folders: u64,
    },
    /// The operating system reports no more changes. Regular scans find them.
    NotNotified {
        /// The reason, and what to do.
        reason: String,
    },
    /// A store failed; it will be retried.
    Paused {
        /// The reason.
        reason: String,
    },
}

/// How many files a watch imported in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WatchTotals {
    /// Files added or restored.
    pub imported: u64,
    /// Files that the library already had.
    pub duplicates: u64,
    /// Files that failed.
    pub failed: u64,
}

impl WatchTotals {
    fn add(&mut self, report: &ImportReport) {
        self.imported += report.imported;
        self.duplicates += report.duplicates;
        self.failed += report.failed.len() as u64;
    }
}

/// Why a watch ended before it was stopped.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The folder cannot be read at the start.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The account was deleted.
    #[error("the account was deleted")]
    AccountGone,
    /// A part of the program failed.
    #[error("the folder cannot be scanned: {0}")]
    Scan(#[from] tokio::task::JoinError),
}

impl Library {
    /// Imports what is in a folder, and then what is added or changed, until `stop` completes. An indexer must be running
    /// (see [`Library::start_indexing`]).
    ///
    /// # Errors
    /// [`WatchError`]. Files imported until then stay.
    pub async fn watch_folder(
        &self,
        account: AccountId,
        folder: &Path,
        options: WatchOptions,
        stop: impl Future<Output = ()>,
        mut on_event: impl FnMut(WatchEvent) + Send,
    ) -> Result<WatchTotals, WatchError> {
        let unreadable = |source| WatchError::Unreadable { path: folder.to_owned(), source };
        let root = std::path::absolute(folder).map_err(unreadable)?;
        std::fs::read_dir(&root).map_err(unreadable)?;
        let (changes, watcher) = Changes::start(&root);
        let mut watch = Watch {
            library: self,
            account,
            options,
            scanner: Some(Scanner::new(watcher, options.settle)),
            changes,
            queue: VecDeque::new(),
            later: HashMap::new(),
            next_scan: Instant::now(),
            full_scan: None,
            in_step: false,
            root,
            totals: WatchTotals::default(),
            on_event: &mut on_event,
        };
        watch.run(pin!(stop)).await?;
        Ok(watch.totals)
    }
}

struct Watch<'a> {
    library: &'a Library,
    account: AccountId,
    root: PathBuf,
    options: WatchOptions,
    /// `None` while a folder is being scanned.
    scanner: Option<Scanner>,
    changes: Changes,
    /// Folders to visit now.
    queue: VecDeque<PathBuf>,
    /// Folders to visit later.
    later: HashMap<PathBuf, Instant>,
    next_scan: Instant,
    /// The number of visited folders, while the whole folder is being scanned.
    full_scan: Option<u64>,
    /// Whether the first full scan has ended.
    in_step: bool,
    totals: WatchTotals,
    on_event: &'a mut (dyn FnMut(WatchEvent) + Send),
}

impl Watch<'_> {
    async fn run(&mut self, mut stop: Pin<&mut impl Future<Output = ()>>) -> Result<(), WatchError> {
        loop {
            self.take_due();
            let Some(folder) = self.queue.pop_front() else {
                self.end_full_scan();
                let wake = self.later.values().copied().min().unwrap_or(self.next_scan).min(self.next_scan);
                tokio::select! {
                    () = &mut stop => return Ok(()),
                    Some(folder) = self.changes.next() => self.schedule(folder, self.options.settle),
                    () = tokio::time::sleep_until(wake) => {}
                }
                continue;
            };
            tokio::select! {
                () = &mut stop => return Ok(()),
                visited = self.visit(folder) => visited?,
            }
        }
    }

    /// Moves the folders whose time has come to the queue.
    fn take_due(&mut self) {
        while let Some(folder) = self.changes.try_next() {
            self.schedule(folder, self.options.settle);
        }
        let now = Instant::now();
        if self.changes.take_overflow() || self.later.len() > MAX_CHANGED_FOLDERS {
            self.next_scan = now;
        }
        // Not while folders wait to be visited, so that each scan ends.
        if self.next_scan <= now && self.queue.is_empty() {
            self.start_full_scan(now);
        }
        let due: Vec<PathBuf> =
            self.later.iter().filter(|(_, at)| **at <= now).map(|(folder, _)| folder.clone()).collect();
        for folder in due {
            self.later.remove(&folder);
            self.queue.push_back(folder);
        }
    }

    fn schedule(&mut self, folder: PathBuf, after: Duration) {
        self.later.entry(folder).or_insert_with(|| Instant::now() + after);
    }

    fn start_full_scan(&mut self, now: Instant) {
        if let Some(scanner) = &mut self.scanner {
            scanner.forget_folders();
        }
        self.later.clear();
        self.queue.push_back(self.root.clone());
        self.full_scan = Some(0);
        self.next_scan = now + self.options.rescan;
    }

    fn end_full_scan(&mut self) {
        if let Some(folders) = self.full_scan
            && self.later.is_empty()
        {
            self.full_scan = None;
            self.next_scan = Instant::now() + self.options.rescan;
            if !self.in_step {
                self.in_step = true;
                (self.on_event)(WatchEvent::InStep { folders });
            }
        }
    }

    /// Lists a folder and imports its new files.
    async fn visit(&mut self, folder: PathBuf) -> Result<(), WatchError> {
        let Some(mut scanner) = self.scanner.take() else { return Ok(()) };
        let (path, now) = (folder.clone(), self.library.parts.clock.now());
        let report_unmatched = self.full_scan.is_some();
        let visiting = tokio::task::spawn_blocking(move || {
            let visit = scanner.visit(&path, now, report_unmatched);
            (scanner, visit)
        });
        let (scanner, visit) = visiting.await?;
        self.scanner = Some(scanner);
        let Visit { photos, folders, failed, unsettled, not_notified } = visit;
        self.queue.extend(folders);
        if let Some(visited) = &mut self.full_scan {
            *visited += 1;
        }
        if unsettled {
            self.schedule(folder.clone(), self.options.settle);
        }
        if let Some(reason) = not_notified {
            (self.on_event)(WatchEvent::NotNotified { reason });
        }
        self.record(&folder, ImportReport { failed, ..ImportReport::default() });
        self.import(&folder, photos).await
    }

    async fn import(&mut self, folder: &Path, photos: Vec<scan::NewPhoto>) -> Result<(), WatchError> {
        let mut photos = photos.into_iter();
        loop {
            let batch: Vec<scan::NewPhoto> = photos.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let versions: Vec<_> = batch.iter().flat_map(|new| new.versions.clone()).collect();
            let paths = batch.into_iter().flat_map(|new| new.paths).collect();
            let mut report = ImportReport::default();
            let imported = self.library.import_files(self.account, paths, &mut report).await;
            self.record(folder, report);
            match imported {
                Ok(()) => self.remember(&versions),
                Err(ImportError::AccountGone) => return Err(WatchError::AccountGone),
                Err(error) => {
                    (self.on_event)(WatchEvent::Paused { reason: error.to_string() });
                    self.later.insert(folder.to_owned(), Instant::now() + RETRY_PAUSE);
                    return Ok(());
                }
            }
        }
    }

    fn remember(&mut self, versions: &[seen_files::FileVersion]) {
        if let Some(scanner) = &mut self.scanner {
            scanner.remember(versions);
        }
    }

    fn record(&mut self, folder: &Path, report: ImportReport) {
        if report == ImportReport::default() {
            return;
        }
        self.totals.add(&report);
        (self.on_event)(WatchEvent::Imported { folder: folder.to_owned(), report });
    }
}
