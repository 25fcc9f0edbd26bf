//! Folders that are watched, with real changes.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use domain::Account;
use library::{IndexingScope, WatchEvent, WatchOptions, WatchTotals};
use tempfile::TempDir;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use crate::{Process, fixture, process};

const OPTIONS: WatchOptions =
    WatchOptions { settle: Duration::from_millis(200), rescan: Duration::from_secs(3600) };
/// A test fails if an event does not arrive within this time.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running watch on the folder `photos`.
struct Watching {
    it: Process,
    ann: Account,
    dir: TempDir,
    events: mpsc::UnboundedReceiver<WatchEvent>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<WatchTotals>,
}

impl Watching {
    /// Watches a folder that already has these files. Returns when the library is in step with it.
    async fn start(files: &[(&str, &str)], options: WatchOptions) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let photos = dir.path().join("photos");
        fs::create_dir(&photos).unwrap();
        for (name, source) in files {
            copy(&photos.join(name), source);
        }
        let it = process(dir.path()).await;
        let ann = it.account("ann").await;
        Self::resume(dir, it, ann, options).await
    }

    /// Watches the folder of an earlier run.
    async fn resume(dir: TempDir, it: Process, ann: Account, options: WatchOptions) -> Self {
        let photos = dir.path().join("photos");
        let (sender, events) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let (library, account) = (it.library.clone(), ann.id);
        let running = tokio::spawn(async move {
            let indexing = library.indexer.start_indexing(IndexingScope::Search).unwrap();
            let stopped = async { stopped.await.unwrap_or_default() };
            let send = |event| sender.send(event).unwrap_or_default();
            let totals = library.ingest.watch_folder(account, &photos, options, stopped, send).await.unwrap();
            indexing.stop().await;
            totals
        });
        let mut watching = Self { it, ann, dir, events, stop, running };
        watching.wait_for(|event| matches!(event, WatchEvent::InStep { .. })).await;
        watching
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("photos").join(name)
    }

    /// Waits for an event that matches. Returns all events up to it.
    async fn wait_for(&mut self, matches: impl Fn(&WatchEvent) -> bool) -> Vec<WatchEvent> {
        let mut seen = Vec::new();
        loop {
            let event = tokio::time::timeout(PATIENCE, self.events.recv()).await;
            let event = event.unwrap_or_else(|_| panic!("no such event after {seen:?}")).unwrap();
            seen.push(event);
            if seen.last().is_some_and(&matches) {
                return seen;
            }
        }
    }

    /// Waits until this many files were imported, and returns the folder of each import.
    async fn wait_for_imports(&mut self, number: u64) -> Vec<PathBuf> {
        let (mut imported, mut folders) = (0, Vec::new());
        while imported < number {
            let is_import = |event: &WatchEvent| matches!(event, WatchEvent::Imported { .. });
            if let Some(WatchEvent::Imported { folder, report }) = self.wait_for(is_import).await.pop() {
                imported += report.imported;
                folders.push(folder);
            }
        }
        assert_eq!(imported, number);
        folders
    }

    async fn stop(self) -> (Process, Account, WatchTotals) {
        let (_, it, ann, totals) = self.pause().await;
        (it, ann, totals)
    }

    /// Stops watching, and returns the folder and the process for another run.
    async fn pause(self) -> (TempDir, Process, Account, WatchTotals) {
        self.stop.send(()).unwrap();
        (self.dir, self.it, self.ann, self.running.await.unwrap())
    }
}

fn copy(to: &Path, source: &str) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    // `fs::copy` would also copy the permissions.
    fs::write(to, fs::read(fixture(source)).unwrap()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn existing_new_and_changed_files_are_imported_once() {
    let mut it = Watching::start(
        &[
            ("a.jpg", "media/grey.jpg"),
            ("inner/b.jpg", "media/cmyk.jpg"),
            (".hidden.jpg", "media/progressive.jpg"),
        ],
        OPTIONS,
    )
    .await;
    copy(&it.path("c.jpg"), "media/landscape-1.jpg");
    assert_eq!(it.wait_for_imports(1).await, [it.path("")]);
    copy(&it.path("inner/b.jpg"), "media/landscape-2.jpg");
    assert_eq!(it.wait_for_imports(1).await, [it.path("inner")]);
    // A file that is moved into place is complete, so it is imported at once.
    copy(&it.path("upload.part"), "media/landscape-3.jpg");
    fs::rename(it.path("upload.part"), it.path("d.jpg")).unwrap();
    it.wait_for_imports(1).await;
    fs::remove_file(it.path("a.jpg")).unwrap();
    copy(&it.path("e.jpg"), "media/landscape-4.jpg");
    it.wait_for_imports(1).await;
    let (it, ann, totals) = it.stop().await;
    assert_eq!(totals, WatchTotals { imported: 6, duplicates: 0, failed: 0 });
    let ann = library::Caller::operator(it.library.accounts.account(&ann.email).await.unwrap());
    assert_eq!(
        it.library.catalogue.info(&ann).await.unwrap().total_images,
        6,
        "a vanished file stays in the library"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn new_folders_are_watched() {
    let mut it = Watching::start(&[], OPTIONS).await;
    copy(&it.path("x/y/z/a.jpg"), "media/grey.jpg");
    it.wait_for_imports(1).await;
    copy(&it.path("x/y/z/b.jpg"), "media/cmyk.jpg");
    it.wait_for_imports(1).await;
    fs::rename(it.path("x/y"), it.path("renamed")).unwrap();
    copy(&it.path("renamed/z/c.jpg"), "media/progressive.jpg");
    it.wait_for_imports(1).await;
    let (_, _, totals) = it.stop().await;
    assert_eq!((totals.imported, totals.failed), (3, 0), "{totals:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sidecar_that_arrives_later_is_applied() {
    const XMP: &str = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' \
        xmlns:dc='http://purl.org/dc/elements/1.1/'><rdf:Description><dc:description><rdf:Alt><rdf:li xml:lang='x-default'>\
        Harbour at dawn</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>";
    let mut it = Watching::start(&[("a.jpg", "media/grey.jpg")], OPTIONS).await;
    fs::write(it.path("a.jpg.xmp"), XMP).unwrap();
    it.wait_for(|event| matches!(event, WatchEvent::Imported { report, .. } if report.duplicates == 1)).await;
    let caller = library::Caller::operator(it.it.library.accounts.account(&it.ann.email).await.unwrap());
    let described = async {
        loop {
            let page = it.it.library.catalogue.list(&caller, &domain::ListQuery::default()).await.unwrap();
            if page[0].image.details.description.as_deref() == Some("Harbour at dawn") {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, described).await.unwrap();
    // A sidecar without a photo is not reported at once, because the photo may follow.
    fs::write(it.path("b.jpg.xmp"), XMP).unwrap();
    copy(&it.path("b.jpg"), "media/cmyk.jpg");
    it.wait_for_imports(1).await;
    let (_, _, totals) = it.stop().await;
    assert_eq!(totals, WatchTotals { imported: 2, duplicates: 1, failed: 0 });
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_no_photos_are_reported_once() {
    let options = WatchOptions { rescan: Duration::from_millis(300), ..OPTIONS };
    let mut it = Watching::start(&[], options).await;
    fs::write(it.path("notes.txt"), "no picture").unwrap();
    let is_failure =
        |event: &WatchEvent| matches!(event, WatchEvent::Imported { report, .. } if report.failed.len() == 1);
    it.wait_for(is_failure).await;
    copy(&it.path("a.jpg"), "media/grey.jpg");
    it.wait_for_imports(1).await;
    let (_, _, totals) = it.stop().await;
    assert_eq!(totals, WatchTotals { imported: 1, duplicates: 0, failed: 1 });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_growing_file_is_imported_when_it_is_complete() {
    let mut it = Watching::start(&[], OPTIONS).await;
    let bytes = fs::read(fixture("media/landscape-5.jpg")).unwrap();
    let (first, second) = bytes.split_at(bytes.len() / 2);
    fs::write(it.path("a.jpg"), first).unwrap();
    fs::write(it.path("a.jpg"), [first, second].concat()).unwrap();
    it.wait_for_imports(1).await;
    let (it, _, totals) = it.stop().await;
    assert_eq!(totals, WatchTotals { imported: 1, duplicates: 0, failed: 0 });
    let original = it.stored(domain::BlobKind::Original).await;
    assert_eq!(original, [blobs::content_hash(&bytes)]);
}

/// Replaces the bytes of a file, and keeps its length and its modification time.
fn falsify(path: &Path) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes.fill(0);
    fs::write(path, bytes).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn imported_files_are_not_read_again_after_a_restart() {
    let files = [("a.jpg", "media/grey.jpg"), ("inner/b.jpg", "media/cmyk.jpg")];
    let it = Watching::start(&files, OPTIONS).await;
    let (a, b) = (it.path("a.jpg"), it.path("inner/b.jpg"));
    let (dir, it, ann, totals) = it.pause().await;
    assert_eq!(totals, WatchTotals { imported: 2, duplicates: 0, failed: 0 });
    // Importing these files would fail if they were read again.
    falsify(&a);
    falsify(&b);
    let mut it = Watching::resume(dir, it, ann, OPTIONS).await;
    copy(&it.path("c.jpg"), "media/landscape-1.jpg");
    it.wait_for_imports(1).await;
    let (_, _, totals) = it.stop().await;
    assert_eq!(totals, WatchTotals { imported: 1, duplicates: 0, failed: 0 });
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_files_are_reported_again_after_a_restart() {
    let it = Watching::start(&[("a.jpg", "media/grey.jpg")], OPTIONS).await;
    fs::write(it.path("notes.jpg"), "no picture").unwrap();
    let (dir, it, ann, _) = it.pause().await;
    let it = Watching::resume(dir, it, ann, OPTIONS).await;
    let (_, _, totals) = it.stop().await;
    assert_eq!(totals, WatchTotals { imported: 0, duplicates: 0, failed: 1 });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_photo_stays_deleted_until_it_is_imported_by_hand() {
    let it = Watching::start(&[("a.jpg", "media/grey.jpg")], OPTIONS).await;
    let (dir, it, ann, _) = it.pause().await;
    let caller = library::Caller::operator(it.library.accounts.account(&ann.email).await.unwrap());
    let id = it.first_image(&ann).await;
    it.library.catalogue.delete_image(&caller, &id).await.unwrap();
    let mut it = Watching::resume(dir, it, ann, OPTIONS).await;
    let number = async |it: &Process| it.library.catalogue.info(&caller).await.unwrap().total_images;
    assert_eq!(number(&it.it).await, 0, "a restart restores nothing");
    copy(&it.path("b.jpg"), "media/grey.jpg");
    it.wait_for(|event| matches!(event, WatchEvent::Imported { report, .. } if report.duplicates == 1)).await;
    assert_eq!(number(&it.it).await, 0, "nor does a second file with these bytes");
    let (dir, it, ann, totals) = it.pause().await;
    assert_eq!(totals, WatchTotals { imported: 0, duplicates: 1, failed: 0 });
    assert_eq!(it.import(&ann, &[dir.path().join("photos/a.jpg")]).await.imported, 1);
    assert_eq!((number(&it).await, it.first_image(&ann).await), (1, id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_replaces_another_is_imported_and_watched() {
    let mut it = Watching::start(&[("inner/a.jpg", "media/grey.jpg")], OPTIONS).await;
    let other = it.dir.path().join("other");
    copy(&other.join("b.jpg"), "media/cmyk.jpg");
    fs::rename(it.path("inner"), it.dir.path().join("away")).unwrap();
    fs::rename(other, it.path("inner")).unwrap();
    it.wait_for_imports(1).await;
    copy(&it.path("inner/c.jpg"), "media/landscape-1.jpg");
    it.wait_for_imports(1).await;
    let (_, _, totals) = it.stop().await;
    assert_eq!(totals, WatchTotals { imported: 3, duplicates: 0, failed: 0 });
}
