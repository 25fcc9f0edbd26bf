//! Files as WebDAV clients put, move and delete them.

use std::io;

use bytes::Bytes;
use domain::{BlobKind, FilePath, Sidecar};
use futures_util::{Stream, stream};
use library::{
    FileCondition, FileError, FileRefusal, FileWritten, ImportError, IngestLimits, MoveFile, PutFile,
};
use storage::{IndexQueue as _, LeaseRequest};
use tokio::time::timeout;

use crate::{
    Process, limited,
    parts::{Client, photo},
    process, process_with,
    scheduling::LONG_TIMEOUT,
};

const XMP: &str = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/></x:xmpmeta>";

/// A photo that differs for each number.
fn numbered(number: u32) -> Vec<u8> {
    [photo(), number.to_le_bytes().to_vec()].concat()
}

fn path(path: &str) -> FilePath {
    FilePath::parse(path).unwrap()
}

fn body(bytes: &[u8]) -> impl Stream<Item = io::Result<Bytes>> + Send + use<> {
    stream::iter([Ok(Bytes::copy_from_slice(bytes))])
}

impl Client {
    async fn put(&self, at: &str, bytes: &[u8]) -> Result<FileWritten, FileError> {
        let announced = Some(bytes.len() as u64);
        let file = PutFile { path: path(at), bytes: announced, create_folders: true, ..PutFile::default() };
        self.library.ingest.put_file(&self.caller, file, body(bytes)).await
    }

    async fn rename(&self, from: &str, to: &str) {
        self.library.ingest.move_file(&self.caller, transfer(from, to)).await.unwrap();
    }

    async fn delete(&self, at: &str) {
        self.library.ingest.delete_file(&self.caller, &path(at), FileCondition::Any, &[]).await.unwrap();
    }
}

fn transfer(from: &str, to: &str) -> MoveFile {
    MoveFile {
        from: path(from),
        to: path(to),
        overwrite: true,
        create_folders: true,
        condition: FileCondition::Any,
        lock_tokens: Vec::new(),
    }
}

/// The sidecars of all queued images.
async fn queued(it: &Process) -> Vec<Vec<Sidecar>> {
    let at = it.library.clock().now();
    let request = LeaseRequest { worker: "w", at, until: at.plus_millis(1), max: 1000, max_attempts: 9 };
    let jobs = it.store.lease_jobs(request, 1).await.unwrap();
    it.store.abandon_leases("w").await.unwrap();
    jobs.into_iter().map(|job| job.file.sidecars).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_photo_and_its_sidecar_may_arrive_concurrently() {
    const PAIRS: u32 = 40;
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    for number in 0..PAIRS {
        let photo = numbered(number);
        let (photo_name, sidecar_name) = (format!("{number}.jpg"), format!("{number}.xmp"));
        let put =
            futures_util::future::join(ann.put(&photo_name, &photo), ann.put(&sidecar_name, XMP.as_bytes()));
        let (photo, sidecar) = put.await;
        assert!(photo.is_ok() && sidecar.is_ok(), "{photo:?} {sidecar:?}");
    }
    let queued = queued(&it).await;
    assert_eq!(queued.len(), PAIRS as usize);
    assert!(queued.iter().all(|sidecars| sidecars.len() == 1), "{queued:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_and_sidecars_are_matched_when_they_are_moved() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    ann.put("1.jpg", &numbered(1)).await.unwrap();
    ann.put("1.xmp.tacitpart", XMP.as_bytes()).await.unwrap();
    assert_eq!(queued(&it).await, [vec![]]);
    ann.rename("1.xmp.tacitpart", "1.xmp").await;
    assert_eq!(queued(&it).await.concat().len(), 1, "the sidecar has its final name");
    ann.put("2.jpg", &numbered(2)).await.unwrap();
    ann.library.ingest.copy_file(&ann.caller, transfer("1.xmp", "2.xmp")).await.unwrap();
    assert_eq!(queued(&it).await.concat().len(), 2, "the copy of a sidecar is one, too");
    ann.put("a/3.xmp", XMP.as_bytes()).await.unwrap();
    ann.put("3.jpg.part", &numbered(3)).await.unwrap();
    ann.rename("3.jpg.part", "a/3.jpg").await;
    ann.put("4.jpg", &numbered(4)).await.unwrap();
    ann.rename("4.jpg", "a/3.png").await;
    assert_eq!(queued(&it).await.concat().len(), 4, "a photo is moved beside a sidecar");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_almost_full_account_accepts_files_that_it_already_stores() {
    let dir = tempfile::tempdir().unwrap();
    let quota = numbered(1).len() as u64 + 100;
    let settings = limited(IngestLimits { account_quota_bytes: Some(quota), ..IngestLimits::default() });
    let it = process_with(dir.path(), settings).await;
    let ann = Client::of(&it, "ann").await;
    ann.put("1.jpg.part", &numbered(1)).await.unwrap();
    ann.put("1.jpg.part", &numbered(1)).await.unwrap();
    ann.rename("1.jpg.part", "1.jpg").await;
    ann.put("again.jpg", &numbered(1)).await.unwrap();
    let full = ann.put("2.jpg", &numbered(2)).await;
    assert!(matches!(full, Err(FileError::Import(ImportError::QuotaExceeded { .. }))), "{full:?}");
    let blob = blobs::content_hash(&numbered(2));
    assert!(!it.blobs.content.contains(BlobKind::Original, blob).await.unwrap(), "nothing of it is kept");
    assert_eq!(std::fs::read_dir(dir.path().join("blobs/staging")).unwrap().count(), 0);
    let full = ann.put("1.xmp", XMP.as_bytes()).await;
    assert!(matches!(full, Err(FileError::Refused(FileRefusal::QuotaExceeded))), "sidecars count: {full:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rest_of_a_large_folder_is_deleted_in_the_background() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = Client::of(&it, "ann").await;
    let known = async |number| {
        let hash = blobs::content_hash(&numbered(number));
        !it.store.known_originals(ann.caller.account.id, &[hash]).await.unwrap().is_empty()
    };
    ann.put("small/1.jpg", &numbered(1)).await.unwrap();
    ann.delete("small").await;
    assert!(!known(1).await, "it is deleted at once");
    for number in 0..5 {
        ann.put(&format!("large/{number}/._junk"), b"junk").await.unwrap();
    }
    // Each copy doubles the number of files in the folder.
    for number in 0..9 {
        ann.library.ingest.copy_file(&ann.caller, transfer("large", &format!("{number}"))).await.unwrap();
        ann.rename(&format!("{number}"), &format!("large/copy {number}")).await;
    }
    ann.put("large/2.jpg", &numbered(2)).await.unwrap();
    ann.delete("large").await;
    assert!(ann.library.ingest.file(&ann.caller, &path("large")).await.unwrap().is_none());
    let deleted = async {
        while known(2).await {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG_TIMEOUT, deleted).await.unwrap();
}
