use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use blobs::content_hash;
use bytes::Bytes;
use domain::{Account, BlobKind, Checksum, ChecksumAlgorithm};
use futures_util::{Stream, StreamExt as _, stream};
use library::{ImportError, ImportOutcome, ImportReport, IndexingScope, IngestLimits, Upload};
use tokio::time::timeout;

use crate::{Process, fixture, limited, process, process_with, scheduling::LONG_TIMEOUT, sha256};

/// A stream of chunks, and the number of chunks that were read from it.
fn chunks(bytes: &[u8], length: usize) -> (impl Stream<Item = io::Result<Bytes>> + use<>, Arc<AtomicUsize>) {
    let read = Arc::new(AtomicUsize::new(0));
    let chunks: Vec<Bytes> = bytes.chunks(length).map(Bytes::copy_from_slice).collect();
    let counter = read.clone();
    let stream = stream::iter(chunks).map(move |chunk| {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(chunk)
    });
    (stream, read)
}

fn photo() -> Vec<u8> {
    std::fs::read(fixture("media/grey.jpg")).unwrap()
}

fn upload(name: &str) -> Upload {
    Upload { name: Some(name.to_owned()), ..Upload::default() }
}

/// Imports the photo, and returns the outcome and how many chunks of 1,000 bytes were read.
async fn import(
    it: &Process,
    account: &Account,
    upload: Upload,
    bytes: &[u8],
) -> (Result<ImportOutcome, ImportError>, usize) {
    let (stream, read) = chunks(bytes, 1000);
    let outcome = it.library.ingest.import_stream(account.id, upload, stream).await;
    (outcome, read.load(Ordering::SeqCst))
}

async fn assert_nothing_is_stored(it: &Process, dir: &Path) {
    assert_eq!(std::fs::read_dir(dir.join("blobs/staging")).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(dir.join("blobs/originals")).unwrap().count(), 0);
    assert_eq!(it.stored(BlobKind::Original).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_bytes_twice_are_one_image() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = it.account("ann").await;
    let bytes = photo();
    let checked =
        Upload { bytes: Some(bytes.len() as u64), checksums: vec![sha256(&bytes)], ..upload("first.jpg") };
    let (outcome, read) = import(&it, &ann, checked, &bytes).await;
    let ImportOutcome::Queued(id) = outcome.unwrap() else { panic!("not queued") };
    assert_eq!(read, bytes.len().div_ceil(1000));
    let (outcome, _) = import(&it, &ann, upload("second.jpg"), &bytes).await;
    assert!(matches!(outcome.unwrap(), ImportOutcome::Duplicate(known, _) if known == id));
    assert_eq!(it.stored(BlobKind::Original).await, [content_hash(&bytes)]);
    assert_eq!(std::fs::read_dir(dir.path().join("blobs/staging")).unwrap().count(), 0);

    // A folder import of the same file waits for the same image.
    let report = it.import(&ann, &[fixture("media/grey.jpg")]).await;
    assert_eq!(report, ImportReport { duplicates: 1, ..ImportReport::default() });
    assert_eq!(it.first_image(&ann).await, id.to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsupported_type_is_refused_before_the_rest_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = it.account("ann").await;
    let (outcome, read) = import(&it, &ann, upload("film.mp4"), &[b'x'; 1_000_000]).await;
    assert!(matches!(outcome, Err(ImportError::Refused(_))), "{outcome:?}");
    assert_eq!(read, 5, "4 KB are enough");
    for short in [&b""[..], b"x", b"\xff\xd8"] {
        let (outcome, _) = import(&it, &ann, upload("short.jpg"), short).await;
        assert!(matches!(outcome, Err(ImportError::Refused(_))), "{outcome:?}");
    }
    assert_nothing_is_stored(&it, dir.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_above_the_limit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = photo();
    let max_bytes = bytes.len() as u64 - 1;
    let it = process_with(
        dir.path(),
        limited(IngestLimits { max_upload_bytes: max_bytes, ..IngestLimits::default() }),
    )
    .await;
    let ann = it.account("ann").await;
    let (outcome, _) = import(&it, &ann, upload("photo.jpg"), &bytes).await;
    assert!(matches!(outcome, Err(ImportError::TooLarge { max_bytes: limit }) if limit == max_bytes));
    let announced = Upload { bytes: Some(max_bytes + 1), ..upload("photo.jpg") };
    let (outcome, read) = import(&it, &ann, announced, &bytes).await;
    assert!(matches!(outcome, Err(ImportError::TooLarge { .. })));
    assert_eq!(read, 0, "the announced length is enough");
    let report = it
        .library
        .ingest
        .import_folder(ann.id, &[fixture("media/grey.jpg")], IndexingScope::Search, |_| {})
        .await;
    assert_eq!(report.failed[0].error, format!("the file is larger than the limit of {max_bytes} bytes"));
    assert_nothing_is_stored(&it, dir.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_must_have_the_announced_length_and_checksum() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = it.account("ann").await;
    let bytes = photo();
    for expected in [bytes.len() as u64 - 1, bytes.len() as u64 + 1] {
        let wrong = Upload { bytes: Some(expected), ..upload("photo.jpg") };
        let (outcome, _) = import(&it, &ann, wrong, &bytes).await;
        assert!(matches!(outcome, Err(ImportError::WrongLength { .. })), "{outcome:?}");
    }
    for checksum in [Checksum::new(ChecksumAlgorithm::Sha1, vec![7; 20]).unwrap(), sha256(b"another file")] {
        let wrong = Upload { checksums: vec![checksum], ..upload("photo.jpg") };
        let (outcome, _) = import(&it, &ann, wrong, &bytes).await;
        assert!(matches!(outcome, Err(ImportError::ChecksumMismatch)), "{outcome:?}");
    }
    assert_nothing_is_stored(&it, dir.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_upload_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = it.account("ann").await;
    let (start, _) = chunks(&photo()[..20_000], 1000);
    let reset = stream::iter([Err(io::Error::from(io::ErrorKind::ConnectionReset))]);
    let broken = start.chain(reset);
    let outcome = it.library.ingest.import_stream(ann.id, upload("photo.jpg"), broken).await;
    assert!(matches!(outcome, Err(ImportError::Interrupted(_))), "{outcome:?}");
    assert_nothing_is_stored(&it, dir.path()).await;

    // The client disconnects, and its request is cancelled.
    let (start, _) = chunks(&photo()[..20_000], 1000);
    let mut endless = Box::pin(it.library.ingest.import_stream(
        ann.id,
        upload("photo.jpg"),
        start.chain(stream::pending()),
    ));
    let staging = dir.path().join("blobs/staging");
    let staged = || std::fs::read_dir(&staging).unwrap().count();
    let begun = async {
        while staged() == 0 {
            assert!(futures_util::poll!(&mut endless).is_pending());
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG_TIMEOUT, begun).await.unwrap();
    drop(endless);
    // The file is deleted only after a write in progress has ended.
    let deleted = async {
        while staged() > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG_TIMEOUT, deleted).await.unwrap();
    assert_nothing_is_stored(&it, dir.path()).await;
}
