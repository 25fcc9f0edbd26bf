//! Uploads that are slow, broken or refused before their body is sent.

use std::time::Duration;

use tests::TestApp;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::{Client, jpeg, sha1, step};

impl Client {
    /// The head of a PUT with these header lines.
    pub(super) fn put_head(&self, path: &str, headers: &str) -> String {
        let credentials = format!("{}:{}", self.handle, self.account.key);
        let credentials = data_encoding::BASE64.encode(credentials.as_bytes());
        format!(
            "PUT {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Basic {credentials}\r\n{headers}\r\n",
            self.app.address
        )
    }

    pub(super) fn staged_files(&self) -> usize {
        std::fs::read_dir(self.app.dir().join("blobs/staging")).unwrap().count()
    }
}

/// Reads until text arrives.
pub(super) async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut received = Vec::new();
    let read = timeout(Duration::from_secs(20), async {
        let mut buffer = [0; 1024];
        while !String::from_utf8_lossy(&received).contains(text) {
            let read = stream.read(&mut buffer).await.unwrap();
            assert!(read > 0, "closed after {}", String::from_utf8_lossy(&received));
            received.extend(buffer.iter().take(read));
        }
    });
    read.await.unwrap();
    String::from_utf8_lossy(&received).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_told_to_continue_only_when_the_file_may_be_written() {
    let mut client = Client::start().await;
    let photo = jpeg(1);
    let expect = format!("Content-Length: {}\r\nExpect: 100-continue\r\n", photo.len());
    let mut stream = client.app.connect().await;
    stream.write_all(client.put_head("/dav/x.jpg", &expect).as_bytes()).await.unwrap();
    let received = read_until(&mut stream, "\r\n\r\n").await;
    assert!(received.starts_with("HTTP/1.1 100 "), "{received}");
    stream.write_all(&photo).await.unwrap();
    let received = read_until(&mut stream, "\r\n\r\n").await;
    assert!(received.starts_with("HTTP/1.1 201 "), "{received}");
    for (path, headers, status) in [
        ("/dav/x.jpg", "If-None-Match: *\r\n", "412"),
        ("/dav/none/x.jpg", "", "409"),
        ("/dav/y.jpg", "Authorization: Basic x\r\n", "401"),
    ] {
        let mut stream = client.app.connect().await;
        let head = client.put_head(path, &format!("{expect}{headers}"));
        stream.write_all(head.as_bytes()).await.unwrap();
        let received = read_until(&mut stream, "\r\n\r\n").await;
        assert!(received.starts_with(&format!("HTTP/1.1 {status} ")), "{received}");
        assert!(!received.contains("100 Continue"), "{received}");
    }
    client.run(step("HEAD /dav/x.jpg", 200)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_a_length_is_received() {
    let mut client = Client::start().await;
    let photo = jpeg(1);
    let headers = format!(
        "Transfer-Encoding: chunked\r\nX-Expected-Entity-Length: {}\r\nConnection: close\r\n",
        photo.len()
    );
    let mut request = client.put_head("/dav/x.jpg", &headers).into_bytes();
    for chunk in photo.chunks(300) {
        request.extend(format!("{:x}\r\n", chunk.len()).bytes());
        request.extend(chunk);
        request.extend(b"\r\n");
    }
    request.extend(b"0\r\n\r\n");
    let received = client.app.send_raw(request).await;
    assert!(received.starts_with("HTTP/1.1 201 "), "{received}");
    client.run(step("HEAD /dav/x.jpg", 200).gives("content-length", photo.len().to_string())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_upload_leaves_nothing() {
    let mut client = Client::start().await;
    client.run(step("PUT /dav/old.jpg", 201).body(jpeg(1))).await;
    for path in ["/dav/new.jpg", "/dav/old.jpg"] {
        let mut stream = client.app.connect().await;
        stream.write_all(client.put_head(path, "Content-Length: 100000\r\n").as_bytes()).await.unwrap();
        stream.write_all(&jpeg(2)).await.unwrap();
        wait_until(|| client.staged_files() == 1).await;
        drop(stream);
        wait_until(|| client.staged_files() == 0).await;
    }
    client.run(step("HEAD /dav/new.jpg", 404)).await;
    client.run(step("HEAD /dav/old.jpg", 200).gives("content-length", jpeg(1).len().to_string())).await;
    assert_eq!(client.images().await, 1);
}

pub(super) async fn wait_until(is_met: impl Fn() -> bool) {
    let waited = timeout(Duration::from_secs(20), async {
        while !is_met() {
            tokio::task::yield_now().await;
        }
    });
    waited.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_file_is_a_placeholder_and_no_image() {
    let mut client = Client::start().await;
    client
        .replay([
            step("PUT /dav/x.jpg", 400).with("OC-Checksum", sha1(&jpeg(1))).body(""),
            step("PUT /dav/x.jpg", 201).body(""),
            step("PROPFIND /dav/", 207)
                .with("Depth", "1")
                .shows("<d:getcontentlength>0</d:getcontentlength>"),
        ])
        .await;
    assert_eq!(client.images().await, 0);
    client.run(step("PUT /dav/x.jpg", 204).body(jpeg(1))).await;
    assert_eq!(client.images().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_or_cancelled_chunked_upload_leaves_nothing() {
    let mut client = Client::start().await;
    client
        .replay([
            step("PUT /remote.php/dav/uploads/{id}/a/1", 404).body("x"),
            step("MKCOL /remote.php/dav/uploads/{id}/a", 201),
            step("PUT /remote.php/dav/uploads/{id}/a/name", 400).body("x"),
            step("PUT /remote.php/dav/uploads/{id}/a/1", 201).body("not a photo"),
            step("MOVE /remote.php/dav/uploads/{id}/a/.file", 415)
                .with("Destination", "/remote.php/webdav/x.jpg"),
            step("DELETE /remote.php/dav/uploads/{id}/a", 404),
            step("MKCOL /remote.php/dav/uploads/{id}/a", 201),
            step("PUT /remote.php/dav/uploads/{id}/a/1", 201).body("x"),
            step("DELETE /remote.php/dav/uploads/{id}/a", 204),
            step("DELETE /remote.php/dav/uploads/{id}/a", 404),
            step("MOVE /remote.php/dav/uploads/{id}/a/.file", 404)
                .with("Destination", "/remote.php/webdav/x.jpg"),
            step("HEAD /remote.php/webdav/x.jpg", 404),
        ])
        .await;
    let stored = client.app.store.stored_bytes(client.account.id).await.unwrap();
    assert_eq!(stored, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_request_enables_photo_sync() {
    let app = TestApp::start().await;
    let account = app.unsynced_account("ann").await;
    app.get("/images", &account.key).await.expect(409);
    let request = app.request(reqwest::Method::HEAD, "/dav/");
    app.send(request.basic_auth(account.email.to_string(), Some(&account.key))).await.expect(200);
    app.get("/images", &account.key).await.expect(200);
}
