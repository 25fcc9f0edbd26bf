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

/// How many files are read at once, and how many may wait to be indexed before further ones are read.
const READ_AT_ONCE: usize = 4;
const UNSETTLED_AT_ONCE: usize = 256;
const POLL: Duration = Duration::from_millis(50);
/// So many images are asked after at once whether searches find them.
const FOUND_AT_ONCE: usize = 500;
/// A server may do the work after which searches find images. An import stops waiting when the server finished nothing in
/// two such periods: it may not do this work at all, because its settings differ.
const FOUND_WAIT: Duration = Duration::from_secs(30);

/// A file that did not come into the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedFile {
    /// Where it stands.
    pub path: PathBuf,
    /// Why, in words for its owner.
    pub error: String,
}

/// What became of a folder import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// How many files are new in the library, or back in it.
    pub imported: u64,
    /// How many were there already.
    pub duplicates: u64,
    /// Those that failed; the others came in all the same.
    pub failed: Vec<FailedFile>,
    /// Why the import ended early, if it did: something other than the files was at fault. What came in until then
    /// stays, and a second run goes on.
    pub stopped: Option<String>,
}

/// How far a folder import has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    /// Files whose outcome is known.
    pub settled: u64,
    /// Files found.
    pub total: u64,
}

/// A file that waits to be indexed.
struct Waiting {
    image: ImageId,
    path: PathBuf,
    new: bool,
}

impl Library {
    /// Imports files and folders, folders with all they hold, and waits until every image is indexed, also for searches:
    /// somebody has to be indexing (see [`Library::start_indexing`]). Junk that file managers leave is passed over.
    pub async fn import_folder(
        &self,
        account: AccountId,
        paths: &[PathBuf],
        progress: impl FnMut(ImportProgress),
    ) -> ImportReport {
        let mut report = ImportReport::default();
        let photos = match found_photos(paths.to_vec(), &mut report.failed).await {
            Ok(photos) => photos,
            Err(error) => {
                report.stopped = Some(error.to_string());
                return report;
            }
        };
        if let Err(error) = self.import_found(account, photos, &mut report, progress).await {
            report.stopped = Some(error.to_string());
        }
        report
    }

    /// Imports photos and waits for each; what is known of them so far stands in `report` also when it fails.
    async fn import_found(
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
        let mut waiting: Vec<Waiting> = Vec::new();
        // Seen already, but not found yet by all that will find it.
        let mut unfound: Vec<ImageId> = Vec::new();
        let (mut found_last, mut jobs_left) = (Instant::now(), None);
        loop {
            while reading.len() < READ_AT_ONCE && reading.len() + waiting.len() < UNSETTLED_AT_ONCE {
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
            if reading.is_empty() && waiting.is_empty() && unfound.is_empty() {
                return Ok(());
            }
            tokio::select! {
                Some((path, received, unread)) = reading.next() => {
                    report.failed.extend(unread);
                    note(path, received, report, &mut waiting)?;
                }
                () = tokio::time::sleep(POLL) => {
                    let before = (waiting.len(), unfound.len());
                    self.settle(&mut waiting, &mut unfound, report).await?;
                    self.drop_found(&mut unfound).await?;
                    if before != (waiting.len(), unfound.len()) {
                        found_last = Instant::now();
                    }
                }
            }
            if reading.is_empty() && waiting.is_empty() && found_last.elapsed() > FOUND_WAIT {
                let left: u64 =
                    self.parts.store.stage_progress(None).await?.iter().map(|stage| stage.waiting).sum();
                if jobs_left == Some(left) {
                    tracing::warn!(images = unfound.len(), "searches do not know all about the images yet");
                    return Ok(());
                }
                (found_last, jobs_left) = (Instant::now(), Some(left));
            }
            let unsettled = (photos.len() + reading.len() + waiting.len() + unfound.len()) as u64;
            progress(ImportProgress { settled: total.saturating_sub(unsettled), total });
        }
    }

    /// Moves what was indexed meanwhile from the waiting to the report.
    async fn settle(
        &self,
        waiting: &mut Vec<Waiting>,
        unfound: &mut Vec<ImageId>,
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
                    unfound.push(file.image);
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

    /// Drops those of the longest known that searches find by now.
    async fn drop_found(&self, unfound: &mut Vec<ImageId>) -> Result<(), ImportError> {
        let rest = unfound.split_off(unfound.len().min(FOUND_AT_ONCE));
        *unfound = self.not_yet_found(unfound).await?;
        unfound.extend(rest);
        Ok(())
    }
}

fn note(
    path: PathBuf,
    received: Result<ImportOutcome, ImportError>,
    report: &mut ImportReport,
    waiting: &mut Vec<Waiting>,
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
        ImageState::Pending => waiting.push(Waiting { image, path, new }),
        ImageState::Ready if new => report.imported += 1,
        ImageState::Ready => report.duplicates += 1,
        ImageState::Failed { reason, .. } => report.failed.push(FailedFile { path, error: reason }),
    }
    Ok(())
}

/// All photos with what describes them, in a fixed order. Links to folders are not followed, so that none is walked
/// twice.
async fn found_photos(
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
        (sidecars::paired(files, &mut failed), failed)
    });
    let (photos, unreadable) = walked.await?;
    failed.extend(unreadable);
    Ok(photos)
}

fn walk(path: &Path, named: bool, files: &mut Vec<PathBuf>, failed: &mut Vec<FailedFile>) {
    let mut fail = |error: String| failed.push(FailedFile { path: path.to_owned(), error });
    // A path that somebody named is followed wherever it leads.
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
        // File managers leave it everywhere, and nobody misses it.
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
