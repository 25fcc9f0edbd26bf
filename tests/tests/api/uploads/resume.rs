use std::time::Duration;

use tests::{TestAccount, TestApp};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{begin, head, part_files, patch, photo, photos};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Opens a connection and sends a PATCH that announces more bytes than it sends.
async fn half_sent(
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
    loop {
        let probe = patch(app, account, path, 999_999, b"").await;
        if probe.status != 423 {
            return head(app, account, path)
                .await
                .expect(200)
                .header("upload-offset")
                .unwrap()
                .parse()
                .unwrap();
        }
        tokio::task::yield_now().await;
    }
}

/// Waits until a request writes the first part of an upload: until the part has a local file. A request that asked would
/// lock the upload itself, and the service would refuse the one that it waits for.
async fn is_written(app: &TestApp) {
    while local_parts(app) == 0 {
        tokio::task::yield_now().await;
    }
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
async fn a_second_writer_is_423() {
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
    connection.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 204");
    assert_eq!((photos(&app).await, part_files(&app).await), (1, 0));
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

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_upload_expires_after_a_day() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    app.advance(DAY - Duration::from_secs(1));
    app.library.delete_expired_uploads().await.unwrap();
    let part = patch(&app, &ann, &path, 0, &bytes[..9_000]).await.expect(204);
    assert_eq!(part.header("upload-expires"), Some("Mon, 03 Jun 2024 11:59:59 GMT"), "a part extends it");
    app.advance(DAY);
    app.library.delete_expired_uploads().await.unwrap();
    head(&app, &ann, &path).await.expect(200);
    app.advance(Duration::from_secs(1));
    app.library.delete_expired_uploads().await.unwrap();
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
    let caller = other.caller_by_key(&ann.key).await.unwrap().unwrap();
    let name = path.strip_prefix("/upload/").unwrap();
    let progress = other.upload_progress(&caller, name, library::Upload::default()).await.unwrap();
    assert_eq!(progress.received, 9_000);
}
