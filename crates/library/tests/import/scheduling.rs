//! New photos never wait for work that can wait. The OCR worker has read a photo when the test says so.

use std::{path::Path, time::Duration};

use domain::Account;
use library::{ImportReport, IndexingScope, SearchStage, Settings};
use tokio::{
    io::AsyncReadExt as _,
    net::{TcpListener, TcpStream},
    time::timeout,
};

use crate::{Process, example, fixture, process_with};

/// A time-out that is never reached, on any machine, unless a test fails.
pub(crate) const LONG_TIMEOUT: Duration = Duration::from_secs(600);

/// Memory for reading a photo that leaves room for decoding another one.
const LITTLE: u64 = 40 << 20;
/// The share of the memory budget for deferrable work, without the memory that a process itself needs.
const NEARLY_ALL: u64 = 120 << 20;
/// More than the whole memory budget.
const TOO_MUCH: u64 = 1 << 30;

/// OCR that waits until the test lets it continue.
struct BlockedOcr {
    listener: TcpListener,
}

impl BlockedOcr {
    /// OCR that needs this much memory per photo, and the settings of a service that uses it.
    async fn new(decode_workers: usize, memory_bytes: u64) -> (Self, Settings) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut ocr = example("blocked_reader");
        ocr.args = vec![address.to_string().into(), memory_bytes.to_string().into()];
        let mut settings = Settings::new(example("library_decoder"));
        settings.indexer.decode_workers = decode_workers;
        settings.indexer.ocr_worker = Some(ocr);
        (Self { listener }, settings)
    }

    /// Waits until OCR of the next photo has begun. It ends when the test drops the connection.
    async fn next(&self) -> TcpStream {
        timeout(LONG_TIMEOUT, self.listener.accept()).await.unwrap().unwrap().0
    }
}

/// Whether the worker at the other end was killed.
fn is_killed(reading: &mut TcpStream) -> bool {
    !matches!(reading.try_read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}

/// Imports a photo, and waits until it is visible.
async fn add(it: &Process, account: &Account, name: &str) {
    let paths = [fixture(name)];
    let import = it.library.ingest.import_folder(account.id, &paths, IndexingScope::Images, |_| {});
    let report = timeout(LONG_TIMEOUT, import).await.unwrap();
    assert_eq!(report, ImportReport { imported: 1, ..ImportReport::default() }, "{name}");
}

/// Waits until all photos have their embeddings. Otherwise an embedding would need memory beside the next photo.
async fn wait_for_appearance(it: &Process, account: &Account) {
    let is_done = async || {
        let stages = it.library.indexer.search_progress(Some(account.id)).await.unwrap();
        stages.iter().all(|stage| stage.stage != SearchStage::Appearance || stage.waiting == 0)
    };
    while !is_done().await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Imports a known photo again. This waits until its text has been read.
async fn wait_for_text(it: &Process, account: &Account, name: &str) {
    let paths = [fixture(name)];
    let import = it.library.ingest.import_folder(account.id, &paths, IndexingScope::Search, |_| {});
    assert_eq!(timeout(LONG_TIMEOUT, import).await.unwrap().duplicates, 1);
}

async fn start(dir: &Path, settings: Settings) -> (Process, Account) {
    let it = process_with(dir, settings).await;
    let ann = it.account("ann").await;
    (it, ann)
}

async fn text_waits(it: &Process, account: &Account) -> u64 {
    it.library.indexer.awaiting_recognition(account.id).await.unwrap()
}

/// Tests a server, a worker, and an import that waits for everything, each with one processor and with more.
#[tokio::test(flavor = "multi_thread")]
async fn photos_become_visible_while_ocr_reads_an_earlier_one() {
    for scope in [IndexingScope::Everything, IndexingScope::Worker, IndexingScope::Search] {
        for (decode_workers, memory_bytes) in [(1, LITTLE), (1, NEARLY_ALL), (2, LITTLE)] {
            let dir = tempfile::tempdir().unwrap();
            let (ocr, settings) = BlockedOcr::new(decode_workers, memory_bytes).await;
            let (it, ann) = start(dir.path(), settings).await;
            let indexing = it.library.indexer.start_indexing(scope).unwrap();
            add(&it, &ann, "media/grey.jpg").await;
            let mut reading = ocr.next().await;
            for name in ["media/landscape-6.jpg", "samples/wisteria.jpg", "samples/cyclamen.jpg"] {
                add(&it, &ann, name).await;
                wait_for_appearance(&it, &ann).await;
            }
            assert!(!is_killed(&mut reading), "there was room for both: {scope:?}, {memory_bytes} bytes");
            assert_eq!(text_waits(&it, &ann).await, 4);
            drop((reading, ocr));
            indexing.stop().await;
        }
    }
}

/// OCR holds all of the memory. It is stopped, and reads the photo again later.
#[tokio::test(flavor = "multi_thread")]
async fn ocr_stops_for_a_photo_that_needs_its_memory() {
    let dir = tempfile::tempdir().unwrap();
    let (ocr, settings) = BlockedOcr::new(1, TOO_MUCH).await;
    let (it, ann) = start(dir.path(), settings).await;
    let indexing = it.library.indexer.start_indexing(IndexingScope::Everything).unwrap();
    add(&it, &ann, "media/grey.jpg").await;
    let mut stopped = ocr.next().await;
    add(&it, &ann, "samples/wisteria.jpg").await;
    let read = timeout(LONG_TIMEOUT, stopped.read(&mut [0])).await.unwrap();
    assert!(matches!(read, Ok(0) | Err(_)), "its process has ended");
    assert_eq!(text_waits(&it, &ann).await, 2);
    let read_all = async {
        loop {
            drop(ocr.next().await);
        }
    };
    let wait_for_both = async {
        wait_for_text(&it, &ann, "media/grey.jpg").await;
        wait_for_text(&it, &ann, "samples/wisteria.jpg").await;
    };
    tokio::select! {
        () = wait_for_both => {}
        () = read_all => {}
    }
    indexing.stop().await;
    assert_eq!(
        it.library.indexer.search_progress(None).await.unwrap().iter().map(|stage| stage.failed).sum::<u64>(),
        0
    );
}

/// As many photos are read at once as processors and memory allow.
#[tokio::test(flavor = "multi_thread")]
async fn idle_processors_run_ocr() {
    let dir = tempfile::tempdir().unwrap();
    let (ocr, settings) = BlockedOcr::new(2, LITTLE / 2).await;
    let (it, ann) = start(dir.path(), settings).await;
    let indexing = it.library.indexer.start_indexing(IndexingScope::Everything).unwrap();
    add(&it, &ann, "media/grey.jpg").await;
    let first = ocr.next().await;
    add(&it, &ann, "samples/wisteria.jpg").await;
    let second = ocr.next().await;
    drop((first, second));
    indexing.stop().await;
}

/// An import ends when its photos are visible. The next server reads their text.
#[tokio::test(flavor = "multi_thread")]
async fn an_import_leaves_ocr_to_the_next_server() {
    let dir = tempfile::tempdir().unwrap();
    let (ocr, settings) = BlockedOcr::new(1, LITTLE).await;
    let (it, ann) = start(dir.path(), settings).await;
    let indexing = it.library.indexer.start_indexing(IndexingScope::Images).unwrap();
    add(&it, &ann, "media/grey.jpg").await;
    indexing.stop().await;
    assert_eq!((text_waits(&it, &ann).await, it.library.indexer.has_indexing_service()), (1, false));

    let server = it.library.indexer.start_indexing(IndexingScope::Everything).unwrap();
    drop(ocr.next().await);
    wait_for_text(&it, &ann, "media/grey.jpg").await;
    server.stop().await;
}

/// The server indexes the photo of the import, another process. It notices the photo by polling.
#[tokio::test(flavor = "multi_thread")]
async fn an_import_does_not_wait_for_the_ocr_of_a_server() {
    let dir = tempfile::tempdir().unwrap();
    let (ocr, settings) = BlockedOcr::new(1, LITTLE).await;
    let (server, ann) = start(dir.path(), settings.clone()).await;
    let serving = server.library.indexer.start_indexing(IndexingScope::Everything).unwrap();
    add(&server, &ann, "media/grey.jpg").await;
    let reading = ocr.next().await;
    let import = process_with(dir.path(), settings).await;
    let indexing = import.library.indexer.start_indexing(IndexingScope::Images).unwrap();
    add(&import, &ann, "samples/wisteria.jpg").await;
    assert!(import.library.indexer.has_indexing_service());
    indexing.stop().await;
    drop((reading, ocr));
    serving.stop().await;
}
