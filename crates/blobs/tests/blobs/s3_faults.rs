//! What happens when an S3 server fails.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use blobs::{BlobError, BlobStore, S3Limits, content_hash};
use bytes::Bytes;
use domain::{
    BlobKind::{Original, Rendition},
    ContentHash,
};
use futures_util::TryStreamExt as _;
use s3_test_server::{Fault, S3Server};
use tokio::{sync::Notify, time::timeout};

use crate::backing::{Backing, part, staged};

/// Longer than two parts of a multipart upload.
const LONG: usize = 20_000_000;

/// Applies a fault to the first `times` requests that match.
fn first(
    times: usize,
    matches: impl Fn(&http::request::Parts) -> bool + Send + Sync + 'static,
    fault: Fault,
) -> impl Fn(&http::request::Parts) -> Fault + Send + Sync + 'static {
    let left = AtomicUsize::new(times);
    move |head| {
        let take = |left: usize| left.checked_sub(1);
        let is_next = matches(head) && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        if is_next { fault.clone() } else { Fault::None }
    }
}

fn is_part(head: &http::request::Parts) -> bool {
    head.method == "PUT" && head.uri.query().is_some_and(|query| query.contains("partNumber"))
}

fn is_get(head: &http::request::Parts) -> bool {
    head.method == "GET"
}

/// A store with short time-outs on the same bucket.
fn impatient(it: &Backing) -> (tempfile::TempDir, BlobStore) {
    let dir = tempfile::tempdir().unwrap();
    let mut options = it.s3().options.clone();
    options.limits = S3Limits {
        read_stall: Duration::from_millis(100),
        write_stall: Duration::from_millis(100),
        answer: Duration::from_millis(300),
        ..options.limits
    };
    let store = BlobStore::open_s3(&options, dir.path()).unwrap();
    (dir, store)
}

async fn put_long(it: &Backing) -> Result<ContentHash, blobs::PutError> {
    let staged = staged(&it.store.staging, &vec![5; LONG]).await;
    let hash = staged.fingerprint().hash;
    it.store.content.put_staged(Original, staged).await.map(|()| hash)
}

#[tokio::test]
async fn an_unreachable_server_fails_soon_and_works_again_later() {
    let mut it = Backing::bucket().await;
    let hash = it.store.content.put_bytes(Original, Bytes::from_static(b"hello")).await.unwrap();
    let bucket = it.s3.take().unwrap();
    let port = bucket.server.port();
    bucket.server.stop().await;

    let began = Instant::now();
    let error = it.store.content.open(Original, hash, None).await.unwrap_err();
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    it.store.content.probe().await.unwrap_err();
    it.store.content.put_bytes(Original, Bytes::from_static(b"other")).await.unwrap_err();
    let mut writer = it.store.parts.create(None).await.unwrap();
    writer.write(b"part").await.unwrap();
    writer.finish().await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(10), "four attempts each");
    assert_eq!(it.files(), Vec::<String>::new(), "nothing is left in the staging folder");

    let _server = S3Server::start_on(bucket.dir.path(), port).await.unwrap();
    let stored = it.store.content.open(Original, hash, None).await.unwrap();
    assert_eq!(stored.into_bytes().await.unwrap(), "hello");
    it.store.content.put_bytes(Original, Bytes::from_static(b"other")).await.unwrap();
}

#[tokio::test]
async fn retries_are_bounded() {
    let it = Backing::bucket().await;
    it.server().on_request(|_| Fault::Status(503, Some("SlowDown")));
    let error = it.store.content.probe().await.unwrap_err();
    assert!(error.to_string().contains("overloaded"), "{error}");
    assert_eq!(it.server().requests().len(), 4, "one request and three repetitions");
    it.server().on_request(|_| Fault::Status(403, Some("AccessDenied")));
    it.store.content.probe().await.unwrap_err();
    assert_eq!(it.server().requests().len(), 1, "a refusal is final");
    it.server().on_request(first(3, |_| true, Fault::Status(500, None)));
    it.store.content.probe().await.unwrap();
    assert_eq!(it.server().requests().len(), 4);
}

#[tokio::test]
async fn a_server_that_does_not_answer_times_out() {
    let it = Backing::bucket().await;
    let (_dir, store) = impatient(&it);
    it.server().on_request(|_| Fault::Hold(Arc::new(Notify::new())));
    let began = Instant::now();
    let error = store.content.probe().await.unwrap_err();
    assert!(error.to_string().contains("did not answer in time"), "{error}");
    let bytes = Bytes::from_static(b"hello");
    store.content.put_bytes(Original, bytes.clone()).await.unwrap_err();
    it.server().on_request(|head| match head.method.as_str() {
        "PUT" => Fault::Hold(Arc::new(Notify::new())),
        _ => Fault::None,
    });
    let error = store.content.put_bytes(Original, bytes).await.unwrap_err();
    assert!(error.to_string().contains("did not answer in time"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20), "not the usual time-outs");
}

#[tokio::test]
async fn an_upload_is_retried_after_its_connection_was_closed() {
    let it = Backing::bucket().await;
    it.server().on_request(first(2, is_part, Fault::CutRequest(1_000_000)));
    let hash = put_long(&it).await.unwrap();
    assert_eq!(it.store.content.read_hash(Original, hash).await.unwrap(), hash);
    assert_eq!(it.server().incomplete_uploads().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn an_upload_that_fails_is_aborted() {
    let it = Backing::bucket().await;
    it.server().on_request(|head| if is_part(head) { Fault::CutRequest(1_000_000) } else { Fault::None });
    let error = put_long(&it).await.unwrap_err();
    assert!(matches!(error, blobs::PutError::Blob(BlobError::Unavailable(_))), "{error}");
    assert_eq!(it.server().incomplete_uploads().unwrap(), Vec::<String>::new());
    assert_eq!(it.files(), Vec::<String>::new());
    let mut writer = it.store.parts.create(None).await.unwrap();
    writer.write(&vec![5; LONG]).await.unwrap();
    writer.finish().await.unwrap_err();
    assert_eq!(it.server().incomplete_uploads().unwrap(), Vec::<String>::new());
    assert_eq!(it.files(), Vec::<String>::new());
}

#[tokio::test]
async fn an_upload_whose_caller_is_cancelled_is_aborted() {
    let it = Backing::bucket().await;
    let (part_arrived, aborted) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (arrived, ended) = (Arc::clone(&part_arrived), Arc::clone(&aborted));
    it.server().on_request(move |head| match head.method.as_str() {
        "PUT" => {
            arrived.notify_one();
            Fault::Hold(Arc::new(Notify::new()))
        }
        "DELETE" => {
            ended.notify_one();
            Fault::None
        }
        _ => Fault::None,
    });
    tokio::select! {
        stored = put_long(&it) => panic!("stored: {stored:?}"),
        () = part_arrived.notified() => {}
    }
    timeout(Duration::from_secs(30), aborted.notified()).await.unwrap();
    // The request to abort the upload has arrived, but the server may still be handling it.
    let began = Instant::now();
    while !it.server().incomplete_uploads().unwrap().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(30), "the upload is still there");
        tokio::task::yield_now().await;
    }
    assert_eq!(it.files(), Vec::<String>::new());
}

#[tokio::test]
async fn a_body_changed_in_transit_is_refused() {
    let it = Backing::bucket().await;
    it.server().on_request(|head| match head.method.as_str() {
        "PUT" => Fault::CorruptRequest,
        _ => Fault::None,
    });
    let bytes = Bytes::from_static(b"hello");
    it.store.content.put_bytes(Original, bytes.clone()).await.unwrap_err();
    put_long(&it).await.unwrap_err();
    assert!(!it.store.content.contains(Original, content_hash(&bytes)).await.unwrap());
    assert_eq!(it.files(), Vec::<String>::new());
    it.server().without_faults();
    it.store.content.put_bytes(Original, bytes).await.unwrap();
}

#[tokio::test]
async fn a_truncated_response_is_resumed() {
    let it = Backing::bucket().await;
    let hash = put_long(&it).await.unwrap();
    it.server().on_request(first(2, is_get, Fault::CutResponse(3_000_000)));
    it.server().requests();
    assert_eq!(it.store.content.read_hash(Original, hash).await.unwrap(), hash);
    assert_eq!(it.server().requests().len(), 3);
}

#[tokio::test]
async fn a_truncated_response_that_cannot_be_resumed_is_an_error() {
    let it = Backing::bucket().await;
    let hash = put_long(&it).await.unwrap();
    it.server().on_request(first(1, is_get, Fault::CutResponse(3_000_000)));
    let opened = it.store.content.open(Original, hash, None).await.unwrap();
    it.server().on_request(|_| Fault::Status(503, None));
    let read: Result<Vec<Bytes>, BlobError> = opened.into_stream().try_collect().await;
    assert!(matches!(read, Err(BlobError::Unavailable(_))), "{read:?}");
    let name = {
        it.server().without_faults();
        part(&it.store.parts, b"hello").await
    };
    it.server().on_request(|head| if is_get(head) { Fault::CutResponse(2) } else { Fault::None });
    assert!(crate::backing::read(&it.store.parts, &[(&name, 5)]).await.is_err());
}

#[tokio::test]
async fn a_write_whose_response_is_lost_is_retried() {
    let it = Backing::bucket().await;
    it.server().on_request(first(1, |head| head.method == "PUT", Fault::LoseResponse));
    let hash = it.store.content.put_bytes(Rendition, Bytes::from_static(b"webp")).await.unwrap();
    assert_eq!(it.store.content.read_hash(Rendition, hash).await.unwrap(), hash);
}

#[tokio::test]
async fn an_upload_is_stored_although_its_last_response_is_lost() {
    let it = Backing::bucket().await;
    let is_last = |head: &http::request::Parts| {
        head.method == "POST" && head.uri.query().is_some_and(|query| query.starts_with("uploadId="))
    };
    it.server().on_request(first(1, is_last, Fault::LoseResponse));
    let hash = put_long(&it).await.unwrap();
    assert_eq!(it.store.content.read_hash(Original, hash).await.unwrap(), hash);
    assert_eq!(it.server().incomplete_uploads().unwrap(), Vec::<String>::new());
}
