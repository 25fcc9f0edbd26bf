//! Rules of S3 buckets.

use std::{
    io,
    time::{Duration, SystemTime},
};

use blobs::{BlobError, BlobStore, S3Credentials, S3Options, content_hash};
use bytes::Bytes;
use domain::BlobKind::{Original, Rendition};
use futures_util::TryStreamExt as _;
use s3_test_server::{Fault, KEY_ID, S3Server, SECRET};

use crate::backing::{Backing, PREFIX, options, part, read, staged};

/// Longer than a part of a multipart upload.
const LONG: usize = 20_000_000;

/// The error messages of a read and a write with changed options.
async fn messages(it: &Backing, change: impl FnOnce(&mut S3Options)) -> [String; 2] {
    let dir = tempfile::tempdir().unwrap();
    let mut options = it.s3().options.clone();
    change(&mut options);
    let store = BlobStore::open_s3(&options, dir.path()).unwrap();
    let read = store.content.probe().await.unwrap_err();
    let written = store.content.put_bytes(Original, Bytes::from_static(b"hello")).await.unwrap_err();
    assert!(matches!(read, BlobError::Unavailable(_)), "{read}");
    [read.to_string(), written.to_string()]
}

#[tokio::test]
async fn wrong_settings_are_named_and_no_secret_is_shown() {
    let it = Backing::bucket().await;
    let [read, _] = messages(&it, |options| options.location.bucket = "no-such-bucket".to_owned()).await;
    assert!(read.contains("the bucket does not exist"), "{read}");
    let [read, written] =
        messages(&it, |options| options.credentials = S3Credentials::key(KEY_ID, "hunter2")).await;
    assert!(read.contains("AWS_SECRET_ACCESS_KEY") && !read.contains("hunter2"), "{read}");
    assert!(!written.contains("hunter2"), "{written}");
    let [read, _] = messages(&it, |options| options.credentials = S3Credentials::key("other", SECRET)).await;
    assert!(read.contains("AWS_ACCESS_KEY_ID") && !read.contains(SECRET), "{read}");
    for (code, words) in [
        ("RequestTimeTooSkewed", "clock"),
        ("AuthorizationHeaderMalformed", "another region"),
        ("AccessDenied", "permission"),
        ("QuotaExceeded", "no free space"),
    ] {
        it.server().on_request(move |_| Fault::Status(403, Some(code)));
        let [read, _] = messages(&it, |_| {}).await;
        assert!(read.contains(words), "{read}");
    }
    assert_eq!(it.files(), Vec::<String>::new());
}

#[test]
fn a_key_without_a_secret_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let credentials = S3Credentials::from_variables(|name| (name == "AWS_ACCESS_KEY_ID").then_some("id"));
    let options = S3Options::new("s3://bucket".parse().unwrap(), credentials);
    let error = BlobStore::open_s3(&options, dir.path()).unwrap_err().to_string();
    assert!(error.contains("set both"), "{error}");
}

#[tokio::test]
async fn a_missing_bucket_does_not_report_missing_blobs_or_parts() {
    let it = Backing::bucket().await;
    let hash = it.store.content.put_bytes(Original, Bytes::from_static(b"hello")).await.unwrap();
    let name = part(&it.store.parts, b"part").await;
    it.server().on_request(|_| Fault::Status(404, Some("NoSuchBucket")));
    let error = it.store.content.open(Original, hash, None).await.unwrap_err();
    assert!(matches!(error, BlobError::Unavailable(_)), "{error}");
    let error = read(&it.store.parts, &[(&name, 4)]).await.unwrap_err();
    assert!(![io::ErrorKind::NotFound, io::ErrorKind::UnexpectedEof].contains(&error.kind()), "{error}");
}

#[tokio::test]
async fn objects_of_other_programs_are_left_alone() {
    let it = Backing::bucket().await;
    let name = part(&it.store.parts, b"part").await;
    for key in [format!("{PREFIX}/originals/notes.txt"), format!("{PREFIX}/uploads/notes.txt")] {
        let file = it.server().file(&key);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, b"not ours").unwrap();
    }
    assert_eq!(it.store.content.list(Original).try_collect::<Vec<_>>().await.unwrap(), []);
    let parts = it.store.parts.files().await.unwrap();
    assert_eq!(parts.into_iter().map(|part| part.name).collect::<Vec<_>>(), [name]);
}

#[tokio::test]
async fn parts_are_found_by_every_machine() {
    let it = Backing::bucket().await;
    let other_dir = tempfile::tempdir().unwrap();
    let other = BlobStore::open_s3(&it.s3().options, other_dir.path()).unwrap();
    let (one, two) = (part(&it.store.parts, b"hello ").await, part(&other.parts, b"world").await);
    for store in [&it.store, &other] {
        assert_eq!(read(&store.parts, &[(&one, 6), (&two, 5)]).await.unwrap(), b"hello world");
        assert_eq!(store.parts.files().await.unwrap().len(), 2);
    }
    other.parts.delete(vec![one.clone(), two]).await.unwrap();
    let lost = read(&it.store.parts, &[(&one, 6)]).await.unwrap_err();
    assert_eq!(lost.kind(), io::ErrorKind::NotFound);
}

#[tokio::test]
async fn a_part_that_a_killed_process_was_writing_is_deleted_at_the_next_start() {
    let it = Backing::bucket().await;
    std::fs::write(it.dir.path().join("staging/part-abc"), b"pa").unwrap();
    assert_eq!(it.store.temporary_files().await.unwrap().len(), 1);
    assert_eq!(it.store.run_exclusively(async {}).await.unwrap(), Some(()));
    assert_eq!(it.files(), Vec::<String>::new());
}

#[tokio::test]
async fn incomplete_uploads_of_killed_processes_are_found_and_aborted() {
    let it = Backing::bucket().await;
    // The server refuses the requests that complete or abort uploads, as if the process had been killed before it sent them.
    let is_end = |head: &http::request::Parts| {
        let query = head.uri.query().unwrap_or_default();
        query.starts_with("uploadId=") && (head.method == "POST" || head.method == "DELETE")
    };
    it.server().on_request(move |head| if is_end(head) { Fault::Status(400, None) } else { Fault::None });
    let mut keys = Vec::new();
    for number in 0..5_u8 {
        let staged = staged(&it.store.staging, &vec![number; LONG]).await;
        let hash = staged.fingerprint().hash;
        keys.push(format!("{PREFIX}/originals/{}/{hash}", &hash.to_string()[..2]));
        it.store.content.put_staged(Original, staged).await.unwrap_err();
    }
    keys.sort();
    it.server().without_faults();
    assert_eq!(it.server().incomplete_uploads().unwrap(), keys);

    let found = it.store.temporary_files().await.unwrap();
    let mut shown: Vec<_> = found.iter().map(|file| file.location.clone()).collect();
    shown.sort();
    assert_eq!(shown, keys.iter().map(|key| format!("incomplete upload of {key}")).collect::<Vec<_>>());
    it.store.delete_temporary_file(&found[0]).await.unwrap();
    it.store.delete_temporary_file(&found[0]).await.unwrap();
    assert_eq!(it.server().incomplete_uploads().unwrap().len(), 4);

    let began = found[0].modified;
    let (before, after) = (began - Duration::from_secs(3600), began + Duration::from_secs(3600));
    assert_eq!(it.store.abort_uploads(before).await.unwrap(), 0, "younger ones may be running");
    assert_eq!(it.store.abort_uploads(after).await.unwrap(), 4);
    assert_eq!(it.server().incomplete_uploads().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_server_that_cannot_list_uploads_is_accepted() {
    let it = Backing::bucket().await;
    it.server().on_request(|head| match head.uri.query() {
        Some(query) if query.starts_with("uploads") => Fault::Status(501, Some("NotImplemented")),
        _ => Fault::None,
    });
    assert_eq!(it.store.abort_uploads(SystemTime::UNIX_EPOCH).await.unwrap(), 0);
    assert_eq!(it.store.temporary_files().await.unwrap(), []);
    assert!(!it.server().requests().is_empty());
}

#[tokio::test]
async fn requests_for_photos_need_no_listing_and_no_conditions() {
    let it = Backing::bucket().await;
    it.server().on_request(|head| {
        let is_conditional = head.headers.keys().any(|name| name.as_str().starts_with("if-"));
        let is_list = head.method == "GET" && head.uri.path().trim_end_matches('/') == "/photos";
        if is_conditional || is_list { Fault::Status(501, None) } else { Fault::None }
    });
    let long = staged(&it.store.staging, &vec![1; LONG]).await;
    let hash = long.fingerprint().hash;
    it.store.content.put_staged(Original, long).await.unwrap();
    it.store.content.put_bytes(Rendition, Bytes::from_static(b"webp")).await.unwrap();
    let stored = it.store.content.open(Original, hash, Some(9_000_000..9_000_010)).await.unwrap();
    assert_eq!(stored.into_bytes().await.unwrap(), [1; 10].as_slice());
    let name = part(&it.store.parts, b"part").await;
    assert_eq!(read(&it.store.parts, &[(&name, 4)]).await.unwrap(), b"part");
    it.store.parts.delete(vec![name]).await.unwrap();
    it.store.content.delete(Original, hash).await.unwrap();
    it.store.content.probe().await.unwrap();
}

#[tokio::test]
async fn a_store_without_a_prefix_uses_the_whole_bucket() {
    let (folder, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = S3Server::start(folder.path()).await.unwrap();
    let mut options = options(&server);
    options.location = "s3://photos".parse().unwrap();
    let store = BlobStore::open_s3(&options, dir.path()).unwrap();
    let hash = store.content.put_bytes(Original, Bytes::from_static(b"hello")).await.unwrap();
    assert_eq!(hash, content_hash(b"hello"));
    assert_eq!(server.keys().unwrap(), [format!("originals/{}/{hash}", &hash.to_string()[..2])]);
    assert_eq!(store.temporary_files().await.unwrap(), []);
}
