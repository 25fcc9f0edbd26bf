//! Uploads in parts.

use std::{io, time::Duration};

use bytes::Bytes;
use domain::{AccountId, BlobKind, Timestamp};
use futures_util::{Stream, StreamExt as _, stream};
use library::{
    Caller, Chunk, ImportError, IngestLimits, Library, ManualClock, Progress, TusPart, Upload, UploadError,
    UploadOutcome, UploadProtocol,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use crate::{
    Process, blob_path, fixture, limited, process, process_at, process_with, scheduling::LONG_TIMEOUT, sha256,
};

const DAY_MS: i64 = 24 * 3600 * 1000;

pub(crate) fn photo() -> Vec<u8> {
    std::fs::read(fixture("media/grey.jpg")).unwrap()
}

pub(crate) fn whole(bytes: &[u8]) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let chunks: Vec<_> = bytes.chunks(1000).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
    stream::iter(chunks)
}

/// A stream that breaks after these bytes.
pub(crate) fn broken(bytes: &[u8]) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    whole(bytes).chain(stream::iter([Err(io::Error::from(io::ErrorKind::ConnectionReset))]))
}

/// An account of a process, with the calls of the upload protocol.
pub(crate) struct Client {
    pub(crate) library: Library,
    pub(crate) caller: Caller,
}

impl Client {
    pub(crate) async fn of(it: &Process, name: &str) -> Self {
        let account = it.account(name).await;
        Self { library: it.library.clone(), caller: Caller::operator(account) }
    }

    async fn begin(&self, name: &str, bytes: u64) -> Result<(), UploadError> {
        self.library.ingest.begin_upload(&self.caller, UploadProtocol::Tus, name, Some(bytes), "").await
    }

    async fn send(
        &self,
        name: &str,
        part: TusPart,
        stream: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<Progress, UploadError> {
        let file = Upload { name: Some(format!("{name}.jpg")), ..Upload::default() };
        self.library.ingest.continue_upload(self.caller.clone(), name.to_owned(), part, file, stream).await
    }

    async fn progress(&self, name: &str) -> Result<Progress, UploadError> {
        self.library.ingest.upload_progress(&self.caller, name, Upload::default()).await
    }

    pub(crate) async fn stored(&self) -> u64 {
        self.library.ingest.storage_use(&self.caller).await.unwrap().0
    }
}

fn at(offset: u64) -> TusPart {
    TusPart { offset, bytes: None, checksums: Vec::new() }
}

pub(crate) fn part_files(dir: &tempfile::TempDir) -> usize {
    std::fs::read_dir(dir.path().join("blobs/uploads")).unwrap().count()
}

fn outcome(progress: &Progress) -> Option<UploadOutcome> {
    progress.result.as_ref().map(|result| result.outcome)
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_become_one_photo_and_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    let bytes = photo();
    let total = bytes.len() as u64;
    ann.begin("a", total).await.unwrap();
    let progress = ann.send("a", at(0), whole(&bytes[..5000])).await.unwrap();
    assert_eq!((progress.received, progress.result), (5000, None));
    assert_eq!((ann.stored().await, part_files(&dir)), (5000, 1));
    let progress = ann.send("a", at(5000), whole(&bytes[5000..])).await.unwrap();
    assert_eq!((progress.received, outcome(&progress)), (total, Some(UploadOutcome::Imported)));
    assert_eq!(part_files(&dir), 0);
    assert_eq!(it.stored(BlobKind::Original).await, [blobs::content_hash(&bytes)]);
    // A client that lost the response gets the same result again.
    for again in [ann.progress("a").await, ann.send("a", at(total), whole(&[])).await] {
        assert_eq!(again.unwrap().result, progress.result);
    }
    // The account has these bytes, so a second upload is a duplicate.
    ann.begin("b", total).await.unwrap();
    let progress = ann.send("b", at(0), whole(&bytes)).await.unwrap();
    assert_eq!(outcome(&progress), Some(UploadOutcome::Duplicate));
    let hash = blobs::content_hash(&bytes);
    assert_eq!(ann.library.ingest.known_originals(&ann.caller, &[hash]).await.unwrap(), [hash]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_stream_keeps_its_bytes_unless_they_have_a_checksum() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    let bytes = photo();
    ann.begin("a", bytes.len() as u64).await.unwrap();
    let sent = ann.send("a", at(0), broken(&bytes[..7000])).await;
    assert!(matches!(sent, Err(UploadError::Import(ImportError::Interrupted(_)))), "{sent:?}");
    assert_eq!(ann.progress("a").await.unwrap().received, 7000);
    let checked = |offset, part: &[u8]| TusPart { checksums: vec![sha256(part)], ..at(offset) };
    assert!(ann.send("a", checked(7000, &bytes[7000..]), broken(&bytes[7000..9000])).await.is_err());
    let wrong = ann.send("a", checked(7000, b"other"), whole(&bytes[7000..])).await;
    assert!(matches!(wrong, Err(UploadError::Import(ImportError::ChecksumMismatch))), "{wrong:?}");
    assert_eq!((ann.progress("a").await.unwrap().received, part_files(&dir)), (7000, 1));
    let progress = ann.send("a", checked(7000, &bytes[7000..]), whole(&bytes[7000..])).await.unwrap();
    assert_eq!(outcome(&progress), Some(UploadOutcome::Imported));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_caller_loses_no_received_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    let bytes = photo();
    ann.begin("a", bytes.len() as u64).await.unwrap();
    let (sender, receiver) = mpsc::unbounded_channel();
    let (reading, is_read) = oneshot::channel();
    let open = stream::unfold((receiver, Some(reading)), |(mut receiver, reading)| async move {
        let chunk = receiver.recv().await?;
        if let Some(reading) = reading {
            reading.send(()).unwrap();
        }
        Some((chunk, (receiver, None)))
    });
    sender.send(Ok(Bytes::copy_from_slice(&bytes[..6000]))).unwrap();
    let client = Client { library: ann.library.clone(), caller: ann.caller.clone() };
    let caller = tokio::spawn(async move { client.send("a", at(0), open).await });
    is_read.await.unwrap();
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    sender.send(Err(io::ErrorKind::ConnectionReset.into())).unwrap();
    let received = async {
        loop {
            match ann.progress("a").await.unwrap().received {
                0 => tokio::task::yield_now().await,
                received => break received,
            }
        }
    };
    assert_eq!(timeout(LONG_TIMEOUT, received).await.unwrap(), 6000);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_format_is_detected_from_the_first_bytes_across_parts() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    let movie = [b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom".to_vec(), vec![0; 20_000]].concat();
    for first in [1, 100, 4095, 4096, 20_000] {
        ann.begin("a", movie.len() as u64).await.unwrap();
        let mut sent = ann.send("a", at(0), whole(&movie[..first])).await;
        if first < 4096 {
            assert_eq!(sent.unwrap().received, first as u64);
            sent = ann.send("a", at(first as u64), whole(&movie[first..])).await;
        }
        assert!(matches!(sent, Err(UploadError::Import(ImportError::Refused(_)))), "{first}: {sent:?}");
        assert!(matches!(ann.progress("a").await, Err(UploadError::NotFound)), "it is forgotten");
        assert_eq!((part_files(&dir), ann.stored().await), (0, 0));
    }
    // The format of a short file is judged from all of its bytes.
    ann.begin("short", 5).await.unwrap();
    let sent = ann.send("short", at(0), whole(b"hello")).await;
    assert!(matches!(sent, Err(UploadError::Import(ImportError::Refused(_)))), "{sent:?}");
    let empty = ann.begin("empty", 0).await;
    assert!(matches!(empty, Err(UploadError::Import(ImportError::Refused(_)))), "{empty:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lengths_and_offsets_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    let settings = limited(IngestLimits { max_upload_bytes: 40_000, ..IngestLimits::default() });
    let it = process_with(dir.path(), settings).await;
    let (ann, ben) = (Client::of(&it, "ann").await, Client::of(&it, "ben").await);
    let bytes = photo();
    let total = bytes.len() as u64;
    let long = ann.begin("long", 40_001).await;
    assert!(
        matches!(long, Err(UploadError::Import(ImportError::TooLarge { max_bytes: 40_000 }))),
        "{long:?}"
    );
    ann.begin("a", total).await.unwrap();
    assert!(matches!(ann.begin("a", total).await, Err(UploadError::Exists)));
    assert!(matches!(ben.progress("a").await, Err(UploadError::NotFound)), "it belongs to another account");
    assert!(matches!(ben.send("a", at(0), whole(&bytes)).await, Err(UploadError::NotFound)));
    let gap = ann.send("a", at(1), whole(&bytes)).await;
    assert!(matches!(gap, Err(UploadError::WrongOffset { received: 0 })), "{gap:?}");
    let announced = TusPart { bytes: Some(total + 1), ..at(0) };
    let more = ann.send("a", announced, whole(&bytes)).await;
    assert!(matches!(more, Err(UploadError::Import(ImportError::WrongLength { .. }))), "{more:?}");
    let more = ann.send("a", at(0), whole(&[&bytes[..], b"more"].concat())).await;
    assert!(matches!(more, Err(UploadError::Import(ImportError::TooLarge { .. }))), "{more:?}");
    assert_eq!((ann.progress("a").await.unwrap().received, part_files(&dir)), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_quota_counts_received_bytes_and_a_photo_may_fill_it() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = photo();
    let total = bytes.len() as u64;
    let settings = limited(IngestLimits { account_quota_bytes: Some(total), ..IngestLimits::default() });
    let it = process_with(dir.path(), settings).await;
    let ann = Client::of(&it, "ann").await;
    let full = |result: Result<(), UploadError>| matches!(result, Err(UploadError::Import(ImportError::QuotaExceeded { quota_bytes })) if quota_bytes == total);
    assert!(full(ann.begin("more", total + 1).await));
    ann.begin("a", total).await.unwrap();
    ann.begin("b", total).await.unwrap();
    ann.send("a", at(0), whole(&bytes[..10_000])).await.unwrap();
    assert!(full(ann.send("b", at(0), whole(&bytes)).await.map(|_| ())), "parts count");
    let progress = ann.send("a", at(10_000), whole(&bytes[10_000..])).await.unwrap();
    assert_eq!(outcome(&progress), Some(UploadOutcome::Imported));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_between_import_and_finish_gives_one_photo() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = photo();
    // The photo fills the quota.
    let settings =
        || limited(IngestLimits { account_quota_bytes: Some(bytes.len() as u64), ..IngestLimits::default() });
    let it = process_with(dir.path(), settings()).await;
    let ann = Client::of(&it, "ann").await;
    ann.begin("a", bytes.len() as u64).await.unwrap();
    // All bytes are received and the photo is imported, as if the process had been killed before it finished the upload.
    let upload = ann.library.ingest.upload(&ann.caller, UploadProtocol::Tus, "a").await.unwrap().unwrap();
    let all = Chunk { number: 0, name: "0".to_owned(), bytes: None, checksums: Vec::new() };
    ann.library.ingest.put_chunk(ann.caller.clone(), upload, all, whole(&bytes)).await.unwrap();
    let account = ann.caller.account.id;
    ann.library.ingest.import_stream(account, Upload::default(), whole(&bytes)).await.unwrap();
    let caller = ann.caller;
    drop((ann.library, it));
    let restarted = process_with(dir.path(), settings()).await;
    restarted.library.roles.recover().await.unwrap();
    let ann = Client { library: restarted.library.clone(), caller };
    let progress = ann.progress("a").await.unwrap();
    assert_eq!(outcome(&progress), Some(UploadOutcome::Duplicate));
    assert_eq!(ann.progress("a").await.unwrap().result, progress.result);
    assert_eq!((restarted.stored(BlobKind::Original).await.len(), part_files(&dir)), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_part_cancels_the_upload() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    let bytes = photo();
    ann.begin("a", bytes.len() as u64).await.unwrap();
    ann.send("a", at(0), whole(&bytes[..10_000])).await.unwrap();
    for file in std::fs::read_dir(dir.path().join("blobs/uploads")).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    let sent = ann.send("a", at(10_000), whole(&bytes[10_000..])).await;
    assert!(matches!(sent, Err(UploadError::Lost)), "{sent:?}");
    assert!(matches!(ann.progress("a").await, Err(UploadError::NotFound)));
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_uploads_and_orphaned_files_are_swept() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(Timestamp::from_millis(1_800_000_000_000).unwrap());
    let (it, clock) = process_at(dir.path(), clock).await;
    let ann = Client::of(&it, "ann").await;
    let bytes = photo();
    ann.begin("tus", bytes.len() as u64).await.unwrap();
    ann.send("tus", at(0), whole(&bytes[..10_000])).await.unwrap();
    ann.library.ingest.begin_upload(&ann.caller, UploadProtocol::Chunked, "chunked", None, "").await.unwrap();
    let folder = dir.path().join("blobs/uploads");
    // Files of a process that was killed before it recorded them in the store.
    for (name, age_ms) in [("part-old", DAY_MS + 1000), ("part-new", 1000)] {
        let file = std::fs::File::create(folder.join(name)).unwrap();
        let modified = u64::try_from(1_800_000_000_000 - age_ms).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_millis(modified)).unwrap();
    }
    for file in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        // Even an old file is kept while the store refers to it.
        if !["part-old", "part-new"].contains(&file.file_name().to_str().unwrap()) {
            let file = std::fs::File::options().write(true).open(file.path()).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        }
    }
    ann.library.upkeep.delete_expired_uploads().await.unwrap();
    assert_eq!(part_files(&dir), 2);
    assert!(!folder.join("part-old").exists());
    assert_eq!(ann.progress("tus").await.unwrap().received, 10_000);

    clock.advance_ms(DAY_MS + 1);
    ann.library.upkeep.delete_expired_uploads().await.unwrap();
    assert!(matches!(ann.progress("tus").await, Err(UploadError::NotFound)));
    assert_eq!((part_files(&dir), ann.stored().await), (0, 0));
    let chunked = || ann.library.ingest.upload(&ann.caller, UploadProtocol::Chunked, "chunked");
    assert!(chunked().await.unwrap().is_some());
    clock.advance_ms(2 * DAY_MS);
    ann.library.upkeep.delete_expired_uploads().await.unwrap();
    assert_eq!(chunked().await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_original_does_not_count_as_known_and_is_stored_again() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    let bytes = photo();
    let hash = blobs::content_hash(&bytes);
    for (name, is_lost) in [("a", false), ("b", true)] {
        if is_lost {
            std::fs::remove_file(blob_path(dir.path(), "originals", hash)).unwrap();
            assert_eq!(ann.library.ingest.known_originals(&ann.caller, &[hash]).await.unwrap(), []);
        }
        ann.begin(name, bytes.len() as u64).await.unwrap();
        ann.send(name, at(0), whole(&bytes)).await.unwrap();
        assert_eq!(ann.library.ingest.known_originals(&ann.caller, &[hash]).await.unwrap(), [hash]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_of_an_unknown_account_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let mut ann = Client::of(&it, "ann").await;
    ann.caller.account.id = AccountId(9_999_999);
    assert!(matches!(ann.begin("a", 5).await, Err(UploadError::Import(ImportError::AccountGone))));
}
