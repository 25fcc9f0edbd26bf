//! Uploads in chunks, which a MOVE assembles to a file.

use std::path::PathBuf;

use bytes::Bytes;
use domain::FilePath;
use futures_util::StreamExt as _;
use library::{
    AssembleError, Chunk, FileError, FileWritten, ImportError, IngestLimits, PutFile, UploadError,
    UploadProtocol, UploadState,
};

use crate::{
    limited,
    parts::{Client, broken, part_files, photo, whole},
    process, process_with,
};

const CHUNKED: UploadProtocol = UploadProtocol::Chunked;

impl Client {
    async fn begin_chunks(&self, name: &str) {
        self.library.ingest.begin_upload(&self.caller, CHUNKED, name, None, "").await.unwrap();
    }

    async fn chunks(&self, name: &str) -> Option<UploadState> {
        self.library.ingest.upload(&self.caller, CHUNKED, name).await.unwrap()
    }

    async fn put_chunk(&self, name: &str, number: u64, bytes: &[u8]) -> Result<(), UploadError> {
        let upload = self.chunks(name).await.ok_or(UploadError::NotFound)?;
        let bytes_announced = Some(bytes.len() as u64);
        let chunk =
            Chunk { number, name: format!("{number:05}"), bytes: bytes_announced, checksums: Vec::new() };
        self.library.ingest.put_chunk(self.caller.clone(), upload, chunk, whole(bytes)).await
    }

    /// Assembles the chunks to a file at a path.
    async fn assemble(&self, name: &str, to: &str) -> Result<FileWritten, AssembleError> {
        let upload = self.library.ingest.lock_upload(&self.caller, CHUNKED, name).await?;
        let file = PutFile {
            path: FilePath::parse(to).unwrap(),
            bytes: Some(upload.state.received_bytes()),
            ..PutFile::default()
        };
        self.library.ingest.assemble(self.caller.clone(), upload, file).await
    }

    /// An upload whose chunks make a photo.
    async fn photo_in_chunks(&self, name: &str, bytes: &[u8]) {
        self.begin_chunks(name).await;
        for (number, chunk) in (1..).zip(bytes.chunks(bytes.len().div_ceil(2))) {
            self.put_chunk(name, number, chunk).await.unwrap();
        }
    }
}

/// The files of the received chunks.
fn files(dir: &tempfile::TempDir) -> Vec<PathBuf> {
    let files = std::fs::read_dir(dir.path().join("blobs/uploads")).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_are_read_in_order_and_broken_ones_are_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    let protocol = UploadProtocol::Chunked;
    ann.library.ingest.begin_upload(&ann.caller, protocol, "a", None, "").await.unwrap();
    let find = async || ann.library.ingest.upload(&ann.caller, protocol, "a").await.unwrap().unwrap();
    let put = async |number: u64, announced: Option<u64>, stream: bool, bytes: &'static [u8]| {
        let chunk = Chunk { number, name: format!("{number:05}"), bytes: announced, checksums: Vec::new() };
        let (upload, caller) = (find().await, ann.caller.clone());
        if stream {
            ann.library.ingest.put_chunk(caller, upload, chunk, whole(bytes)).await
        } else {
            ann.library.ingest.put_chunk(caller, upload, chunk, broken(bytes)).await
        }
    };
    put(10, Some(6), true, b" world").await.unwrap();
    put(2, None, true, b"help").await.unwrap();
    put(2, Some(5), true, b"hello").await.unwrap();
    assert!(put(3, None, false, b"x").await.is_err(), "broken");
    assert!(put(3, Some(2), true, b"x").await.is_err(), "shorter than announced");
    let upload = find().await;
    let names: Vec<&str> = upload.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!((names, upload.received_bytes()), (vec!["00002", "00010"], 11));
    let read: Vec<Bytes> = ann.library.ingest.upload_content(&upload).map(Result::unwrap).collect().await;
    assert_eq!(read.concat(), b"hello world");
    assert_eq!((part_files(&dir), ann.stored().await), (2, 11));
    ann.library.ingest.finish_upload(&upload, "done").await.unwrap();
    assert_eq!((part_files(&dir), find().await.result.as_deref()), (0, Some("done")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_file_leaves_no_chunks() {
    let dir = tempfile::tempdir().unwrap();
    let settings = limited(IngestLimits { max_upload_bytes: 50_000, ..IngestLimits::default() });
    let it = process_with(dir.path(), settings).await;
    let ann = Client::of(&it, "ann").await;
    let movie = [b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom".to_vec(), vec![0; 20_000]].concat();
    for (to, bytes) in [("a.mp4", &movie[..]), ("a.jpg", b"no photo"), ("a.xmp", b"no sidecar")] {
        ann.photo_in_chunks("a", bytes).await;
        let refused = ann.assemble("a", to).await;
        assert!(
            matches!(refused, Err(AssembleError::File(FileError::Import(ImportError::Refused(_))))),
            "{to}: {refused:?}"
        );
        assert_eq!((ann.chunks("a").await, part_files(&dir), ann.stored().await), (None, 0, 0), "{to}");
    }
    ann.begin_chunks("long").await;
    ann.put_chunk("long", 2, &[0; 30_000]).await.unwrap();
    let long = ann.put_chunk("long", 1, &[0; 20_001]).await;
    assert!(matches!(long, Err(UploadError::Import(ImportError::TooLarge { .. }))), "{long:?}");
    assert_eq!((ann.chunks("long").await, part_files(&dir), ann.stored().await), (None, 0, 0));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn temporarily_unreadable_chunks_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    ann.photo_in_chunks("a", &photo()).await;
    let (file, aside) = (&files(&dir)[0], dir.path().join("aside"));
    std::fs::rename(file, &aside).unwrap();
    // Opening a link to itself fails with another error than a missing file.
    std::os::unix::fs::symlink(file, file).unwrap();
    let failed = ann.assemble("a", "a.jpg").await;
    assert!(
        matches!(failed, Err(AssembleError::Upload(UploadError::Import(ImportError::Staging(_))))),
        "{failed:?}"
    );
    std::fs::remove_file(file).unwrap();
    std::fs::rename(&aside, file).unwrap();
    ann.assemble("a", "a.jpg").await.unwrap();
    assert_eq!((part_files(&dir), ann.stored().await), (0, photo().len() as u64));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_chunk_cancels_the_upload() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    ann.photo_in_chunks("a", &photo()).await;
    std::fs::remove_file(&files(&dir)[1]).unwrap();
    let lost = ann.assemble("a", "a.jpg").await;
    assert!(matches!(lost, Err(AssembleError::Upload(UploadError::Lost))), "{lost:?}");
    assert_eq!((ann.chunks("a").await, part_files(&dir), ann.stored().await), (None, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_requests_that_complete_an_upload_one_is_refused_as_busy() {
    let dir = tempfile::tempdir().unwrap();
    let (it, other) = (process(dir.path()).await, process(dir.path()).await);
    let ann = Client::of(&it, "ann").await;
    ann.photo_in_chunks("a", &photo()).await;
    let locked = ann.library.ingest.lock_upload(&ann.caller, CHUNKED, "a").await.unwrap();
    let second = ann.assemble("a", "a.jpg").await;
    assert!(matches!(second, Err(AssembleError::Upload(UploadError::Busy))), "{second:?}");
    // Another process does not know the lock, and finishes the upload.
    let there = Client { library: other.library.clone(), caller: ann.caller.clone() };
    let written = there.assemble("a", "a.jpg").await.unwrap();
    let file = PutFile { path: FilePath::parse("a.jpg").unwrap(), ..PutFile::default() };
    let late = ann.library.ingest.assemble(ann.caller.clone(), locked, file).await;
    assert!(matches!(late, Err(AssembleError::Upload(UploadError::Busy))), "{late:?}");
    let finished = ann.chunks("a").await.unwrap();
    assert_eq!(finished.result, Some(written.entry.id.0.to_string()), "its result stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn completing_an_upload_again_after_a_kill_needs_no_further_quota() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = photo();
    let quota = bytes.len() as u64;
    let settings = limited(IngestLimits { account_quota_bytes: Some(quota), ..IngestLimits::default() });
    let it = process_with(dir.path(), settings).await;
    let ann = Client::of(&it, "ann").await;
    ann.photo_in_chunks("a", &bytes).await;
    // Puts the file without finishing the upload, as if the process had been killed in between.
    let path = FilePath::parse("a.jpg").unwrap();
    let put = PutFile { path, bytes: Some(quota), parts_bytes: quota, ..PutFile::default() };
    let upload = ann.chunks("a").await.unwrap();
    let first = ann
        .library
        .ingest
        .put_file(&ann.caller, put, ann.library.ingest.upload_content(&upload))
        .await
        .unwrap();
    let again = ann.assemble("a", "a.jpg").await.unwrap();
    assert_eq!(again.entry.id, first.entry.id);
    assert_eq!((part_files(&dir), ann.stored().await), (0, quota));
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_count_towards_the_quota_minus_the_chunks_they_replace() {
    let dir = tempfile::tempdir().unwrap();
    let settings = limited(IngestLimits { account_quota_bytes: Some(10_000), ..IngestLimits::default() });
    let it = process_with(dir.path(), settings).await;
    let ann = Client::of(&it, "ann").await;
    ann.begin_chunks("a").await;
    ann.put_chunk("a", 1, &[0; 9_000]).await.unwrap();
    ann.put_chunk("a", 1, &[0; 9_500]).await.unwrap();
    let full = ann.put_chunk("a", 2, &[0; 501]).await;
    assert!(
        matches!(full, Err(UploadError::Import(ImportError::QuotaExceeded { quota_bytes: 10_000 }))),
        "{full:?}"
    );
    assert_eq!((part_files(&dir), ann.stored().await), (1, 9_500));
}
