use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use domain::{AccountId, ImageId};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use storage::ImageState;
use tokio::time::Instant;

use crate::{
    ImportError, ImportOutcome, Library,
    sidecars::{self, Photo},
};

/// How many files are read at once.
const MAX_READING: usize = 4;
/// No further files are read while this many are being read or waiting to be indexed.
const MAX_PENDING: usize = 256;
/// How often the states of waiting images are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How many images are checked at once for pending search stages.
const SEARCH_CHECK_BATCH: usize = 500;
/// Another process may run the search stages. The import stops waiting if that process finishes nothing in two such
/// periods: with other settings it may not run these stages at all.
const SEARCH_WAIT: Duration = Duration::from_secs(30);

/// A file that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedFile {
    /// The file's path.
    pub path: PathBuf,
    /// The reason, in words for the user.
    pub error: String,
}

/// The outcome of a folder import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// How many files were added or restored.
    pub imported: u64,
    /// How many files the library already had.
    pub duplicates: u64,
    /// The files that failed. They do not affect other files.
    pub failed: Vec<FailedFile>,
    /// Why the import ended early, if it did. The cause is not a file. Files imported until then stay, and a second run
    /// continues.
    pub stopped: Option<String>,
}

/// The progress of a folder import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    /// Files whose outcome is known.
    pub settled: u64,
    /// Files found.
    pub total: u64,
}

/// A file whose image is waiting to be indexed.
pub(crate) struct PendingFile {
    image: ImageId,
    path: PathBuf,
    new: bool,
}

impl Library {
    /// Imports files and folders, including subfolders, and waits until every image is visible and searchable. An indexer
    /// must be running (see [`Library::start_indexing`]). Junk files of file managers are skipped.
    pub async fn import_folder(
        &self,
        account: AccountId,
        paths: &[PathBuf],
        progress: impl FnMut(ImportProgress),
    ) -> ImportReport {
        let mut report = ImportReport::default();
        let photos = match find_photos(paths.to_vec(), &mut report.failed).await {
            Ok(photos) => photos,
            Err(error) => {
                report.stopped = Some(error.to_string());
                return report;
            }
        };
        if let Err(error) = self.import_photos(account, photos, &mut report, progress).await {
            report.stopped = Some(error.to_string());
        }
        report
    }

    /// Imports photos and waits for each one. `report` is filled even if this fails.
    async fn import_photos(
        &self,
        account: AccountId,
        photos: Vec<Photo>,
        report: &mut ImportReport,
        mut progress: impl FnMut(ImportProgress),
    ) -> Result<(), ImportError> {
        self.mark_synced(account).await?;
        let total = photos.len() as u64 + report.failed.len() as u64;
        let mut photos = photos.into_iter();
        let mut reading = FuturesUnordered::new();
        let mut waiting: Vec<PendingFile> = Vec::new();
        // Visible, but not yet searchable.
        let mut unsearchable: Vec<ImageId> = Vec::new();
        let (mut last_progress, mut jobs_before) = (Instant::now(), None);
        loop {
            while reading.len() < MAX_READING && reading.len() + waiting.len() < MAX_PENDING {
                let Some(photo) = photos.next() else { break };
                reading.push(async move {
                    let Photo { path, sidecars } = photo;
                    let read = tokio::task::spawn_blocking(move || sidecars::read(&sidecars));
                    let (received, unread) = match read.await {
                        Ok((sidecars, unread)) => {
                            (self.import_local_file(account, &path, sidecars).await, unread)
                        }
                        Err(error) => (Err(ImportError::Read(io::Error::other(error))), Vec::new()),
                    };
                    (path, received, unread)
                });
            }
            if reading.is_empty() && waiting.is_empty() && unsearchable.is_empty() {
                return Ok(());
            }
            tokio::select! {
                Some((path, received, unread)) = reading.next() => {
                    report.failed.extend(unread);
                    record_outcome(path, received, report, &mut waiting)?;
                }
                () = tokio::time::sleep(POLL_INTERVAL) => {
                    let before = (waiting.len(), unsearchable.len());
                    self.settle(&mut waiting, &mut unsearchable, report).await?;
                    self.remove_searchable(&mut unsearchable).await?;
                    if before != (waiting.len(), unsearchable.len()) {
                        last_progress = Instant::now();
                    }
                }
            }
            if reading.is_empty() && waiting.is_empty() && last_progress.elapsed() > SEARCH_WAIT {
                let jobs: u64 =
                    self.parts.store.stage_progress(None).await?.iter().map(|stage| stage.waiting).sum();
                if jobs_before == Some(jobs) {
                    tracing::warn!(images = unsearchable.len(), "some images are not fully searchable yet");
                    return Ok(());
                }
                (last_progress, jobs_before) = (Instant::now(), Some(jobs));
            }
            let unsettled = (photos.len() + reading.len() + waiting.len() + unsearchable.len()) as u64;
            progress(ImportProgress { settled: total.saturating_sub(unsettled), total });
        }
    }

    /// Moves indexed files from `waiting` to `report`.
    pub(crate) async fn settle(
        &self,
        waiting: &mut Vec<PendingFile>,
        unsearchable: &mut Vec<ImageId>,
        report: &mut ImportReport,
    ) -> Result<(), ImportError> {
        let ids: Vec<ImageId> = waiting.iter().map(|file| file.image.clone()).collect();
        let states: std::collections::HashMap<ImageId, ImageState> =
            self.parts.store.image_states(&ids).await?.into_iter().collect();
        let mut still = Vec::with_capacity(waiting.len());
        for file in waiting.drain(..) {
            match states.get(&file.image) {
                Some(ImageState::Pending) => still.push(file),
                Some(ImageState::Ready) => {
                    if file.new {
                        report.imported += 1;
                    } else {
                        report.duplicates += 1;
                    }
                    unsearchable.push(file.image);
                }
                Some(ImageState::Failed { reason, .. }) => {
                    report.failed.push(FailedFile { path: file.path, error: reason.clone() });
                }
                None => report
                    .failed
                    .push(FailedFile { path: file.path, error: "the account was deleted".into() }),
            }
        }
        *waiting = still;
        Ok(())
    }

    /// Removes images from the front of the list that are searchable now.
    async fn remove_searchable(&self, unsearchable: &mut Vec<ImageId>) -> Result<(), ImportError> {
        let rest = unsearchable.split_off(unsearchable.len().min(SEARCH_CHECK_BATCH));
        *unsearchable = self.not_yet_searchable(unsearchable).await?;
        unsearchable.extend(rest);
        Ok(())
    }
}

pub(crate) fn record_outcome(
    path: PathBuf,
    received: Result<ImportOutcome, ImportError>,
    report: &mut ImportReport,
    waiting: &mut Vec<PendingFile>,
) -> Result<(), ImportError> {
    let (image, state, new) = match received {
        Ok(ImportOutcome::Queued(image)) => (image, ImageState::Pending, true),
        Ok(ImportOutcome::Restored(image, state)) => (image, state, true),
        Ok(ImportOutcome::Duplicate(image, state)) => (image, state, false),
        Err(error) if error.is_outage() => return Err(error),
        Err(error) => {
            report.failed.push(FailedFile { path, error: error.to_string() });
            return Ok(());
        }
    };
    match state {
        ImageState::Pending => waiting.push(PendingFile { image, path, new }),
        ImageState::Ready if new => report.imported += 1,
        ImageState::Ready => report.duplicates += 1,
        ImageState::Failed { reason, .. } => report.failed.push(FailedFile { path, error: reason }),
    }
    Ok(())
}

/// All photos with their sidecars, in a fixed order. Links to folders are not followed, so that no folder is walked twice.
async fn find_photos(
    paths: Vec<PathBuf>,
    failed: &mut Vec<FailedFile>,
) -> Result<Vec<Photo>, tokio::task::JoinError> {
    let walked = tokio::task::spawn_blocking(move || {
        let (mut files, mut failed) = (Vec::new(), Vec::new());
        for path in paths {
            walk(&path, true, &mut files, &mut failed);
        }
        let mut seen = HashSet::new();
        files.retain(|path| seen.insert(path.clone()));
        (sidecars::pair(files, &mut failed), failed)
    });
    let (photos, unreadable) = walked.await?;
    failed.extend(unreadable);
    Ok(photos)
}

fn walk(path: &Path, named: bool, files: &mut Vec<PathBuf>, failed: &mut Vec<FailedFile>) {
    let mut fail = |error: String| failed.push(FailedFile { path: path.to_owned(), error });
    // A link that the user named is followed.
    let metadata = if named { std::fs::metadata(path) } else { std::fs::symlink_metadata(path) };
    let kind = match metadata {
        Ok(metadata) => metadata.file_type(),
        Err(error) => return fail(format!("cannot be read: {error}")),
    };
    if kind.is_dir() {
        match entries(path) {
            Ok(inner) => inner.iter().for_each(|path| walk(path, false, files, failed)),
            Err(error) => fail(format!("cannot be read: {error}")),
        }
    } else if path.file_name().is_some_and(|name| media::is_junk_file_name(&name.to_string_lossy())) {
        // Skipped without a report.
    } else if kind.is_file() {
        files.push(path.to_owned());
    } else if kind.is_symlink() {
        match std::fs::metadata(path) {
            Ok(target) if target.is_file() => files.push(path.to_owned()),
            Ok(_) => {
                fail("is a link to a folder, which is not followed; name the folder to import it".into());
            }
            Err(error) => fail(format!("is a link that leads nowhere: {error}")),
        }
    } else {
        fail("is neither a file nor a folder".into());
    }
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    Ok(paths)
}
