use std::{
    collections::{HashMap, HashSet},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use domain::{AccountId, ImageId, PhotoEdit, SidecarKind};
use exports::{EntryError, Plan, PlannedPhoto};
use futures_util::{StreamExt as _, future::BoxFuture, stream, stream::FuturesUnordered};
use indexer::IndexingScope;
use storage::{ImageState, RestoreDeleted};
use tokio::{
    sync::{mpsc, watch},
    task::JoinError,
    time::Instant,
};

use crate::{
    FailedFile, ImportError, ImportOutcome, ImportReport, Ingest, Upload,
    import_feed::{Content, FedPhoto, PhotoFeed},
    sidecars,
};

/// How many files are read at once.
const MAX_READING: usize = 4;
/// No further files are read while this many are being read or waiting to be indexed.
const MAX_PENDING: usize = 256;
/// How often the states of waiting images are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How many images are checked at once for pending search stages.
const SEARCH_CHECK_BATCH: usize = 500;
/// How long the import waits without progress. Another process may run the search stages. The import stops waiting if
/// that process finishes nothing in two such periods: with other settings it may not run these stages at all.
const SEARCH_WAIT: Duration = Duration::from_secs(30);

/// The progress of a folder import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportProgress {
    /// An archive is being listed. This takes minutes for a big compressed one.
    Listing {
        archive: Arc<Path>,
        /// How many entries are listed so far.
        entries: u64,
        /// The length of these entries, in bytes.
        bytes: u64,
    },
    /// Files are being imported.
    Importing {
        /// Files whose outcome is known.
        settled: u64,
        /// Files found.
        total: u64,
    },
}

/// A file whose image is waiting to be indexed.
pub(crate) struct PendingFile {
    image: ImageId,
    /// Its position in the plan.
    position: usize,
    is_new: bool,
}

/// The outcome of reading a file.
struct ReadFile {
    position: usize,
    outcome: Result<ImportOutcome, ImportError>,
    /// Corrections by people, from an export of this library.
    correction: Option<PhotoEdit>,
    /// Its sidecars that cannot be read.
    unread: Vec<FailedFile>,
}

impl Ingest {
    /// Imports files, folders with their subfolders, and archives, with the albums of exports. Waits until every image is
    /// visible, and is as searchable as an indexer of `scope` makes it. Such an indexer must be running (see
    /// [`Indexer::start_indexing`](indexer::Indexer::start_indexing)). Junk files of file managers are skipped.
    pub async fn import_folder(
        &self,
        account: AccountId,
        paths: &[PathBuf],
        scope: IndexingScope,
        mut progress: impl FnMut(ImportProgress),
    ) -> ImportReport {
        let mut plan = match plan(paths.to_vec(), &mut progress).await {
            Ok(plan) => plan,
            Err(error) => {
                return ImportReport { stopped: Some(error.to_string()), ..ImportReport::default() };
            }
        };
        let mut report = ImportReport::of(&mut plan);
        let mut import = FolderImport::new(self, account, Arc::new(plan), &mut report);
        // The indexing service of this machine may have other photos to process first.
        let is_done_when_visible =
            scope == IndexingScope::Images && self.parts.indexer.has_indexing_service();
        import.waits_for = (!is_done_when_visible).then_some(scope);
        let stopped = import.run(progress).await.err().map(|error| error.to_string());
        report.stopped = stopped;
        report
    }

    /// Imports these files on disk with the sidecars among them, and waits until each photo is visible. Images that their
    /// owner deleted stay deleted. `report` is filled even if this fails.
    pub(crate) async fn import_files(
        &self,
        account: AccountId,
        paths: Vec<PathBuf>,
        report: &mut ImportReport,
    ) -> Result<(), ImportError> {
        let planned = tokio::task::spawn_blocking(move || exports::plan(&paths)).await;
        let mut plan = planned.map_err(|error| ImportError::Read(io::Error::other(error)))?;
        *report = ImportReport::of(&mut plan);
        let mut import = FolderImport::new(self, account, Arc::new(plan), report);
        import.restore_deleted = RestoreDeleted::Never;
        import.run(|_| ()).await
    }
}

/// Plans an import on another thread. Skips progress that is outdated before it can be reported.
async fn plan(paths: Vec<PathBuf>, progress: &mut impl FnMut(ImportProgress)) -> Result<Plan, JoinError> {
    let (sender, mut listed) = watch::channel(None);
    let mut planning = tokio::task::spawn_blocking(move || {
        let mut archive: Arc<Path> = Arc::from(Path::new(""));
        exports::plan_with_progress(&paths, &mut |listed| {
            if *archive != *listed.path {
                archive = listed.path.into();
            }
            let (archive, entries, bytes) = (archive.clone(), listed.entries, listed.bytes);
            sender.send_replace(Some(ImportProgress::Listing { archive, entries, bytes }));
        })
    });
    loop {
        tokio::select! {
            plan = &mut planning => return plan,
            Ok(()) = listed.changed() => {
                let latest = listed.borrow_and_update().clone();
                latest.into_iter().for_each(&mut *progress);
            }
        }
    }
}

/// A running import.
struct FolderImport<'a> {
    ingest: &'a Ingest,
    account: AccountId,
    plan: Arc<Plan>,
    /// Filled even if the import stops early.
    report: &'a mut ImportReport,
    waiting: Vec<PendingFile>,
    /// Visible, but not yet searchable.
    unsearchable: Vec<ImageId>,
    /// The import waits for the search stages of this scope; `None` if it waits for no stage.
    waits_for: Option<IndexingScope>,
    restore_deleted: RestoreDeleted,
    /// The visible images of the planned photos, for albums.
    images: Vec<Option<ImageId>>,
    /// The corrections of photos that are not visible yet, by position.
    corrections: HashMap<usize, PhotoEdit>,
    /// Visible images with their corrections.
    to_correct: Vec<(ImageId, PhotoEdit)>,
}

impl<'a> FolderImport<'a> {
    fn new(ingest: &'a Ingest, account: AccountId, plan: Arc<Plan>, report: &'a mut ImportReport) -> Self {
        let images = vec![None; if plan.albums.is_empty() { 0 } else { plan.photos.len() }];
        Self {
            ingest,
            account,
            plan,
            report,
            waiting: Vec::new(),
            unsearchable: Vec::new(),
            waits_for: None,
            restore_deleted: RestoreDeleted::Always,
            images,
            corrections: HashMap::new(),
            to_correct: Vec::new(),
        }
    }

    /// Imports the photos, waits for each one, and then imports the corrections and the albums.
    async fn run(&mut self, progress: impl FnMut(ImportProgress)) -> Result<(), ImportError> {
        self.ingest.parts.store.mark_synced(self.account, self.ingest.parts.clock.now()).await?;
        self.import_photos(progress).await?;
        let to_correct = std::mem::take(&mut self.to_correct);
        self.ingest.parts.catalogue.restore_corrections(self.account, to_correct).await?;
        let plan = self.plan.clone();
        self.ingest.import_albums(self.account, &plan.albums, &self.images, self.report).await
    }

    async fn import_photos(&mut self, mut progress: impl FnMut(ImportProgress)) -> Result<(), ImportError> {
        let total = self.plan.photos.len() as u64 + self.report.failed.len() as u64;
        let mut feed = PhotoFeed::of(&self.plan);
        let mut reading: FuturesUnordered<BoxFuture<'a, ReadFile>> = FuturesUnordered::new();
        let (mut last_progress, mut jobs_before) = (Instant::now(), None);
        loop {
            let has_room = reading.len() < MAX_READING && reading.len() + self.waiting.len() < MAX_PENDING;
            let is_read = feed.is_finished() && reading.is_empty();
            if is_read && self.waiting.is_empty() && self.unsearchable.is_empty() {
                return if feed.left() == 0 { Ok(()) } else { Err(unread_archives()) };
            }
            tokio::select! {
                photo = feed.next(), if has_room && !feed.is_finished() => {
                    reading.extend(photo.map(|photo| self.read(photo)));
                }
                Some(read) = reading.next() => {
                    self.report.failed.extend(read.unread);
                    self.corrections.extend(read.correction.map(|correction| (read.position, correction)));
                    self.record_outcome(read.position, read.outcome)?;
                }
                () = tokio::time::sleep(POLL_INTERVAL) => {
                    let before = (self.waiting.len(), self.unsearchable.len());
                    self.settle().await?;
                    self.remove_searchable().await?;
                    if before != (self.waiting.len(), self.unsearchable.len()) {
                        last_progress = Instant::now();
                    }
                }
            }
            if is_read && self.waiting.is_empty() && last_progress.elapsed() > SEARCH_WAIT {
                let jobs = self.awaited_jobs().await?;
                if jobs_before.is_some_and(|before| jobs >= before) {
                    let images = self.unsearchable.len();
                    tracing::warn!(images, "some images are not fully searchable yet");
                    return Ok(());
                }
                (last_progress, jobs_before) = (Instant::now(), Some(jobs));
            }
            let unsettled = feed.left() + reading.len() + self.waiting.len() + self.unsearchable.len();
            progress(ImportProgress::Importing { settled: total.saturating_sub(unsettled as u64), total });
        }
    }

    /// Reads a photo and its sidecars, and adds it to the library.
    fn read(&self, photo: FedPhoto) -> BoxFuture<'a, ReadFile> {
        let (ingest, account, plan) = (self.ingest, self.account, self.plan.clone());
        let restore_deleted = self.restore_deleted;
        Box::pin(async move {
            let FedPhoto { position, content } = photo;
            let (owned, sidecars) = (plan.clone(), move |plan: &Plan| {
                plan.photos.get(position).map(|photo| sidecars::read(plan, photo)).unwrap_or_default()
            });
            let read = tokio::task::spawn_blocking(move || sidecars(&owned)).await;
            let mut correction = None;
            let (outcome, unread) = match (read, plan.photos.get(position)) {
                (Ok((sidecars, unread)), Some(planned)) => {
                    let mut xmp = sidecars.iter().filter(|sidecar| sidecar.kind == SidecarKind::Xmp);
                    correction = xmp.find_map(|sidecar| media::sidecar_corrections(&sidecar.content));
                    let upload = Upload { sidecars, restore_deleted, ..upload_of(planned) };
                    (import_one(ingest, account, planned, content, upload).await, unread)
                }
                (Ok(_), None) => (Err(unread_archives()), Vec::new()),
                (Err(error), _) => (Err(ImportError::Read(io::Error::other(error))), Vec::new()),
            };
            ReadFile { position, outcome, correction, unread }
        })
    }

    fn path(&self, position: usize) -> PathBuf {
        self.plan.photos.get(position).map(|photo| photo.path.clone()).unwrap_or_default()
    }

    fn is_trashed(&self, position: usize) -> bool {
        self.plan.photos.get(position).is_some_and(|photo| photo.is_trashed)
    }

    fn fail(&mut self, position: usize, error: impl std::fmt::Display) {
        self.report.failed.push(FailedFile::new(self.path(position), error));
    }

    fn succeed(&mut self, position: usize, image: &ImageId, is_new: bool) {
        match (is_new, self.is_trashed(position)) {
            (true, true) => self.report.trashed += 1,
            (true, false) => self.report.imported += 1,
            (false, _) => self.report.duplicates += 1,
        }
        if let Some(correction) = self.corrections.remove(&position) {
            self.to_correct.push((image.clone(), correction));
        }
        if let Some(known) = self.images.get_mut(position) {
            *known = Some(image.clone());
        }
    }

    /// Records a visible image, also one of an earlier import. Its search stages may still be waiting.
    fn finish(&mut self, position: usize, image: ImageId, is_new: bool) {
        self.succeed(position, &image, is_new);
        if self.waits_for.is_some() && !self.is_trashed(position) {
            self.unsearchable.push(image);
        }
    }

    fn record_outcome(
        &mut self,
        position: usize,
        outcome: Result<ImportOutcome, ImportError>,
    ) -> Result<(), ImportError> {
        let (image, state, is_new) = match outcome {
            Ok(ImportOutcome::Queued(image)) => (image, ImageState::Pending, true),
            // A ready image counts as pending, so that the import waits for its new job.
            Ok(ImportOutcome::Reindexed(image)) => (image, ImageState::Pending, false),
            Ok(ImportOutcome::Restored(image, ImageState::Ready)) => (image, ImageState::Pending, true),
            Ok(ImportOutcome::Restored(image, state)) => (image, state, true),
            Ok(ImportOutcome::Duplicate(image, state)) => (image, state, false),
            Err(error) if error.is_outage() => return Err(error),
            Err(error) => {
                self.report.failed.push(FailedFile::of(self.path(position), &error));
                return Ok(());
            }
        };
        match state {
            ImageState::Pending => self.waiting.push(PendingFile { image, position, is_new }),
            ImageState::Ready => self.finish(position, image, is_new),
            ImageState::Failed { reason, .. } => self.fail(position, reason),
        }
        Ok(())
    }

    /// Moves indexed files to the report.
    async fn settle(&mut self) -> Result<(), ImportError> {
        let ids: Vec<ImageId> = self.waiting.iter().map(|file| file.image.clone()).collect();
        let store = &self.ingest.parts.store;
        let states: HashMap<ImageId, ImageState> = store.image_states(&ids).await?.into_iter().collect();
        let is_ready = |id: &&ImageId| states.get(id) == Some(&ImageState::Ready);
        let ready: Vec<ImageId> = ids.iter().filter(is_ready).cloned().collect();
        // A ready image has a job if it is indexed again with a new sidecar.
        let queued: HashSet<ImageId> = store.queued_images(&ready).await?.into_iter().collect();
        for file in std::mem::take(&mut self.waiting) {
            match states.get(&file.image) {
                Some(ImageState::Pending) => self.waiting.push(file),
                Some(ImageState::Ready) if queued.contains(&file.image) => self.waiting.push(file),
                Some(ImageState::Ready) => {
                    self.finish(file.position, file.image, file.is_new);
                }
                Some(ImageState::Failed { reason, .. }) => self.fail(file.position, reason),
                None => self.fail(file.position, "the account was deleted"),
            }
        }
        Ok(())
    }

    /// How many jobs are queued in the stages that are waited for.
    async fn awaited_jobs(&self) -> Result<u64, ImportError> {
        let awaited = self
            .waits_for
            .and_then(|scope| self.ingest.parts.indexer.awaited_stages(scope))
            .unwrap_or_default();
        let progress = self.ingest.parts.store.stage_progress(None).await?;
        let progress = progress.iter().filter(|progress| awaited.contains(&progress.stage.id));
        Ok(progress.map(|progress| progress.waiting).sum())
    }

    /// Removes images from the front of the list that are searchable now.
    async fn remove_searchable(&mut self) -> Result<(), ImportError> {
        let Some(scope) = self.waits_for else { return Ok(()) };
        let rest = self.unsearchable.split_off(self.unsearchable.len().min(SEARCH_CHECK_BATCH));
        self.unsearchable = self.ingest.parts.indexer.not_yet_searchable(&self.unsearchable, scope).await?;
        self.unsearchable.extend(rest);
        Ok(())
    }
}

/// The error for the case that the thread that reads archives ended without a reason.
fn unread_archives() -> ImportError {
    ImportError::Read(io::Error::other("the archives were not read to their end"))
}

/// What the plan knows about a photo.
fn upload_of(photo: &PlannedPhoto) -> Upload {
    Upload {
        name: Some(photo.name.clone()),
        modified_at: photo.modified_at,
        sidecars_if_new: photo.listed.iter().cloned().collect(),
        is_trashed: photo.is_trashed,
        ..Upload::default()
    }
}

async fn import_one(
    ingest: &Ingest,
    account: AccountId,
    photo: &PlannedPhoto,
    content: Content,
    upload: Upload,
) -> Result<ImportOutcome, ImportError> {
    let max_bytes = ingest.parts.limits.max_upload_bytes;
    match content {
        Content::Disk => ingest.import_local_file(account, &photo.path, upload).await,
        Content::Archived(_) if photo.archived_bytes.is_some_and(|bytes| bytes > max_bytes) => {
            Err(ImportError::TooLarge { max_bytes })
        }
        Content::Archived(chunks) => {
            // The chunks also end when the thread that reads the archive fails, so their total length is checked.
            let upload = Upload { bytes: photo.archived_bytes, ..upload };
            ingest.import_stream(account, upload, stream_of(chunks)).await.map_err(|error| match error {
                ImportError::Interrupted(error) => ImportError::Entry(error.into()),
                ImportError::WrongLength { .. } => ImportError::Entry(EntryError::Missing),
                other => other,
            })
        }
        Content::Unreadable(error) => Err(ImportError::Entry(error)),
    }
}

fn stream_of(chunks: mpsc::Receiver<io::Result<Bytes>>) -> impl stream::Stream<Item = io::Result<Bytes>> {
    stream::unfold(chunks, async |mut chunks| {
        let chunk = chunks.recv().await?;
        Some((chunk, chunks))
    })
}

#[cfg(test)]
mod tests;
