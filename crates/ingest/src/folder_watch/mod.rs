//! Imports what is in a folder and then every file that is added or changed, until it is stopped.
//!
//! A file that vanishes changes nothing in the library. Changes are reported by the operating system, and the whole
//! folder is scanned from time to time: network file systems report no changes of other machines.
//!
//! A file is imported once length and modification time have been unchanged for some seconds. The store remembers which
//! versions of files were imported, so that they are not read again after a restart. A photo that its owner deleted stays
//! deleted, also if another file with its bytes is added.

mod changes;
mod scan;
mod seen_files;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    io,
    path::{Path, PathBuf},
    pin::{Pin, pin},
    time::Duration,
};

use domain::{AccountId, Timestamp};
use storage::{FileVersion, StorageError, WatchedFile};
use tokio::time::Instant;

use crate::{ImportError, ImportReport, Ingest};
use changes::{Change, Changes};
use scan::{NewPhoto, Scanner, Visit};

/// How many photos are imported before their outcome is reported.
const BATCH: usize = 100;
/// How many versions the store is asked for at once.
const VERSIONS_PER_QUERY: usize = 500;
/// After this time, the store is queried again about files that it knew, and its record of a file is renewed: 30 days.
const REFRESH: Duration = Duration::from_secs(30 * 24 * 3600);
/// How long the store remembers files that no longer exist: a year.
pub const FORGET_MS: i64 = 365 * 24 * 3600 * 1000;

/// The pause after a store failed.
const RETRY_PAUSE: Duration = Duration::from_secs(10);
/// Maximum number of changed folders to remember. If there are more, the whole folder is scanned.
const MAX_CHANGED_FOLDERS: usize = 10_000;

/// How a folder is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchOptions {
    /// How long length and modification time of a file must be unchanged before it is imported. A file that was modified
    /// more than ten minutes ago is imported at once.
    pub settle: Duration,
    /// How often the whole folder is scanned.
    pub rescan: Duration,
}

impl Default for WatchOptions {
    /// Files settle in three seconds, and the folder is scanned every ten minutes.
    fn default() -> Self {
        Self { settle: Duration::from_secs(3), rescan: Duration::from_secs(600) }
    }
}

/// What happens while a folder is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// Files of a folder were imported, or failed.
    Imported {
        folder: PathBuf,
        /// Their outcome.
        report: ImportReport,
    },
    /// The whole folder was scanned for the first time, and the library is up to date.
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
    Paused { reason: String },
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

impl Ingest {
    /// Imports what is in a folder, and then what is added or changed, until `stop` completes. An indexer must be running
    /// (see [`Indexer::start_indexing`](indexer::Indexer::start_indexing)).
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
            ingest: self,
            account,
            options,
            scanner: Some(Scanner::new(watcher, account, options.settle)),
            changes,
            queue: VecDeque::new(),
            later: HashMap::new(),
            next_scan: Instant::now(),
            next_refresh: Instant::now() + REFRESH,
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
    ingest: &'a Ingest,
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
    /// When the store is asked again about all files.
    next_refresh: Instant,
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
                    change = self.changes.next() => match change {
                        Change::In(folder) => self.schedule(folder, self.options.settle),
                        Change::Lost => self.scan_soon(),
                    },
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
            self.scan_soon();
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

    /// Scans the whole folder, after a pause so that many changes cause one scan.
    fn scan_soon(&mut self) {
        self.next_scan = self.next_scan.min(Instant::now() + self.options.settle);
    }

    fn start_full_scan(&mut self, now: Instant) {
        if let Some(scanner) = &mut self.scanner {
            scanner.forget_folders();
            if self.next_refresh <= now {
                self.next_refresh = now + REFRESH;
                scanner.forget_imported();
            }
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
        let (path, now) = (folder.clone(), self.ingest.parts.clock.now());
        let report_unmatched = self.full_scan.is_some();
        let visiting = tokio::task::spawn_blocking(move || {
            let visit = scanner.visit(&path, now, report_unmatched);
            (scanner, visit)
        });
        let (scanner, visit) = visiting.await?;
        self.scanner = Some(scanner);
        let Visit { photos, folders, failed, skipped, unsettled, not_notified } = visit;
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
        self.record(&folder, ImportReport { failed, skipped, ..ImportReport::default() });
        self.import(&folder, photos).await
    }

    async fn import(&mut self, folder: &Path, photos: Vec<NewPhoto>) -> Result<(), WatchError> {
        let mut photos = photos.into_iter();
        loop {
            let batch: Vec<NewPhoto> = photos.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(());
            }
            match self.import_batch(folder, batch).await {
                Ok(()) => {}
                Err(ImportError::AccountGone) => return Err(WatchError::AccountGone),
                Err(error) => {
                    (self.on_event)(WatchEvent::Paused { reason: error.to_string() });
                    self.later.insert(folder.to_owned(), Instant::now() + RETRY_PAUSE);
                    return Ok(());
                }
            }
        }
    }

    /// Imports the photos of a batch that the store does not remember, and remembers them.
    async fn import_batch(&mut self, folder: &Path, batch: Vec<NewPhoto>) -> Result<(), ImportError> {
        let batch = self.leave_out_known(batch).await?;
        if batch.is_empty() {
            return Ok(());
        }
        let paths = batch.iter().flat_map(|photo| photo.files.iter().map(|(path, _)| path.clone()));
        let mut report = ImportReport::default();
        let imported = self.ingest.import_files(self.account, paths.collect(), &mut report).await;
        let versions = match &mut self.scanner {
            Some(scanner) if imported.is_ok() => scanner.settle_batch(&batch, &mut report),
            _ => Vec::new(),
        };
        self.record(folder, report);
        imported?;
        self.store_versions(&versions).await?;
        if let Some(scanner) = &mut self.scanner {
            scanner.remember(versions);
        }
        Ok(())
    }

    /// Leaves out the photos whose files the store remembers. Renews old records, so that the store keeps them for
    /// longer.
    async fn leave_out_known(&mut self, mut batch: Vec<NewPhoto>) -> Result<Vec<NewPhoto>, StorageError> {
        let versions: Vec<FileVersion> = batch.iter().flat_map(NewPhoto::versions).collect();
        let mut found: Vec<WatchedFile> = Vec::new();
        for versions in versions.chunks(VERSIONS_PER_QUERY) {
            found.extend(self.ingest.parts.store.watched_files(self.account, versions).await?);
        }
        let known: HashSet<FileVersion> = found.iter().map(|file| file.version).collect();
        let refreshed_before = self.refreshed_before();
        let old: Vec<FileVersion> =
            found.iter().filter(|file| file.seen_at < refreshed_before).map(|file| file.version).collect();
        self.store_versions(&old).await?;
        batch.retain(|photo| {
            let is_known = photo.versions().all(|version| known.contains(&version));
            if let Some(scanner) = self.scanner.as_mut().filter(|_| is_known) {
                scanner.remember(photo.versions());
            }
            !is_known
        });
        Ok(batch)
    }

    fn refreshed_before(&self) -> Timestamp {
        let age_ms = i64::try_from(REFRESH.as_millis()).unwrap_or(i64::MAX);
        self.ingest.parts.clock.now().plus_millis(-age_ms)
    }

    /// Remembers in the store that versions were imported and exist now.
    async fn store_versions(&mut self, versions: &[FileVersion]) -> Result<(), StorageError> {
        let parts = &self.ingest.parts;
        for versions in versions.chunks(VERSIONS_PER_QUERY) {
            parts.store.remember_watched_files(self.account, versions, parts.clock.now()).await?;
        }
        Ok(())
    }

    fn record(&mut self, folder: &Path, report: ImportReport) {
        if report == ImportReport::default() {
            return;
        }
        self.totals.add(&report);
        (self.on_event)(WatchEvent::Imported { folder: folder.to_owned(), report });
    }
}
