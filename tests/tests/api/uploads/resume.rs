use std::{future::pending, time::Duration};

use reqwest::Method;
use tests::{TestAccount, TestApp, within};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

use super::{BYTES, begin, beginning, head, part_files, patch, photo, photos};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Opens a connection and sends a PATCH that announces more bytes than it sends.
pub(super) async fn half_sent(
    app: &TestApp,
    account: &TestAccount,
    path: &str,
    bytes: &[u8],
    announced: usize,
) -> TcpStream {
    let mut connection = app.connect().await;
    let request_head = format!(
        "PATCH {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nTus-Resumable: 1.0.0\r\n\
         Upload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: {announced}\r\n\r\n",
        account.key
    );
    connection.write_all(request_head.as_bytes()).await.unwrap();
    connection.write_all(bytes).await.unwrap();
    connection
}

/// Waits until no request writes to an upload; returns the number of bytes received.
async fn received(app: &TestApp, account: &TestAccount, path: &str) -> usize {
    within(async {
        while patch(app, account, path, 999_999, b"").await.status == 423 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    head(app, account, path).await.expect(200).header("upload-offset").unwrap().parse().unwrap()
}

/// Waits until a request writes the first part of an upload: until the part has a local file. Asking the service instead would
/// lock the upload, and the service would refuse the awaited request.
pub(super) async fn is_written(app: &TestApp) {
    within(async {
        while local_parts(app) == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Parts in a bucket are staged beside uploads of other kinds.
fn local_parts(app: &TestApp) -> usize {
    let files = ["uploads", "staging"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(app.dir().join("blobs").join(folder)).into_iter().flatten());
    files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("part-")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_keeps_the_bytes_that_arrived() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    let connection = half_sent(&app, &ann, &path, &bytes[..10_000], bytes.len()).await;
    is_written(&app).await;
    drop(connection);
    let offset = received(&app, &ann, &path).await;
    assert_eq!(offset, 10_000);
    let last = patch(&app, &ann, &path, offset, &bytes[offset..]).await.expect(204);
    assert_eq!(last.header("photo-result"), Some("imported"));
    let imported = app.store.known_originals(ann.id, &[blobs::content_hash(&bytes)]).await.unwrap();
    assert_eq!(imported.len(), 1, "the bytes are those of the photo");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_concurrent_writer_is_423() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    let mut connection = half_sent(&app, &ann, &path, &bytes[..10_000], bytes.len()).await;
    is_written(&app).await;
    let second = patch(&app, &ann, &path, 0, &bytes).await.expect(423);
    assert!(second.json["error"].is_string());
    assert_eq!(head(&app, &ann, &path).await.expect(200).header("upload-offset"), Some("0"));
    connection.write_all(&bytes[10_000..]).await.unwrap();
    let mut answer = [0; 12];
    within(connection.read_exact(&mut answer)).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 204");
    assert_eq!((photos(&app).await, part_files(&app).await), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_further_upload_of_an_account_is_503_while_others_run() {
    let app = TestApp::builder().limits(|limits| limits.uploads_per_owner = 1).start().await;
    let ann = app.account("ann").await;
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    let mut connection = half_sent(&app, &ann, &path, &bytes[..10_000], bytes.len()).await;
    is_written(&app).await;
    let other = begin(&app, &ann, bytes.len()).await;
    let busy = patch(&app, &ann, &other, 0, &bytes).await.expect(503);
    assert_eq!(busy.header("retry-after"), Some("5"));
    let with_bytes =
        || beginning(&app, &ann, bytes.len(), "photo.jpg").header("content-type", BYTES).body(bytes.clone());
    let busy = app.send(with_bytes()).await.expect(503);
    assert_eq!((busy.header("retry-after"), busy.header("location")), (Some("5"), None));
    connection.write_all(&bytes[10_000..]).await.unwrap();
    within(connection.read_exact(&mut [0; 12])).await.unwrap();
    app.send(with_bytes()).await.expect(201);
    patch(&app, &ann, &other, 0, &bytes).await.expect(204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_upload_reserves_its_announced_bytes_in_the_quota() {
    let bytes = photo();
    let total = u64::try_from(bytes.len()).unwrap();
    let builder =
        TestApp::builder().settings(|settings| settings.limits.account_quota_bytes = Some(2 * total - 1));
    let app = builder.start().await;
    let ann = app.account("ann").await;
    let (one, two) = (begin(&app, &ann, bytes.len()).await, begin(&app, &ann, bytes.len()).await);
    let connection = half_sent(&app, &ann, &one, &bytes[..10], bytes.len()).await;
    is_written(&app).await;
    patch(&app, &ann, &two, 0, &bytes).await.expect(507);
    app.send(beginning(&app, &ann, bytes.len(), "photo.jpg")).await.expect(507);
    drop(connection);
    assert_eq!(received(&app, &ann, &one).await, 10);
    patch(&app, &ann, &two, 0, &bytes).await.expect(204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_body_keeps_its_bytes() {
    let limit = Duration::from_millis(300);
    let app = TestApp::builder().limits(|limits| limits.body_timeout = limit).start().await;
    let ann = app.account("ann").await;
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    let connection = half_sent(&app, &ann, &path, &bytes[..10_000], bytes.len()).await;
    let reply = TestApp::read_until_closed(connection).await;
    assert!(reply.starts_with("HTTP/1.1 503 ") && reply.contains("retry-after:"), "{reply}");
    assert_eq!(received(&app, &ann, &path).await, 10_000);
}

/// The client sends a byte now and then, which is slower than the minimum rate.
#[tokio::test(flavor = "multi_thread")]
async fn an_upload_below_the_minimum_rate_is_ended_and_keeps_its_bytes() {
    let builder = TestApp::builder().limits(|limits| {
        limits.body_timeout = Duration::from_millis(300);
        limits.min_body_bytes_per_s = u32::MAX;
    });
    let app = builder.start().await;
    let ann = app.account("ann").await;
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    let (reader, mut writer) = half_sent(&app, &ann, &path, &bytes[..10_000], bytes.len()).await.into_split();
    let trickle = async {
        for byte in &bytes[10_000..] {
            // This request takes a moment, so the bytes arrive slowly.
            app.send(app.request(Method::GET, "/healthz")).await.expect(200);
            if writer.write_all(&[*byte]).await.is_err() {
                break;
            }
        }
        pending::<()>().await;
    };
    let mut reader = BufReader::new(reader);
    let mut status = String::new();
    within(async {
        tokio::select! {
            read = reader.read_line(&mut status) => assert!(read.is_ok(), "{read:?}"),
            () = trickle => {}
        }
    })
    .await;
    assert!(status.starts_with("HTTP/1.1 503 "), "{status}");
    let kept = received(&app, &ann, &path).await;
    assert!((10_000..bytes.len()).contains(&kept), "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_upload_expires_after_a_day() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    app.advance(DAY - Duration::from_secs(1));
    app.library.upkeep.delete_expired_uploads().await.unwrap();
    let part = patch(&app, &ann, &path, 0, &bytes[..9_000]).await.expect(204);
    assert_eq!(part.header("upload-expires"), Some("Mon, 03 Jun 2024 11:59:59 GMT"), "a part extends it");
    app.advance(DAY);
    app.library.upkeep.delete_expired_uploads().await.unwrap();
    head(&app, &ann, &path).await.expect(200);
    app.advance(Duration::from_secs(1));
    app.library.upkeep.delete_expired_uploads().await.unwrap();
    head(&app, &ann, &path).await.expect(404);
    patch(&app, &ann, &path, 9_000, &bytes[9_000..]).await.expect(404);
    assert_eq!(part_files(&app).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_continues_an_upload() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    patch(&app, &ann, &path, 0, &bytes[..9_000]).await.expect(204);
    let other = app.other_process().await;
    let caller = other.accounts.caller_by_key(&ann.key).await.unwrap().unwrap();
    let name = path.strip_prefix("/upload/").unwrap();
    let progress = other.ingest.upload_progress(&caller, name, library::Upload::default()).await.unwrap();
    assert_eq!(progress.received, 9_000);
}
