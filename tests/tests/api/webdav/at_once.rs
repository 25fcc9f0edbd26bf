//! Concurrent uploads: their number, and their bytes in the quota.

use tests::{TestApp, within};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use super::{
    Client, jpeg, step,
    uploads::{read_until, wait_until},
};

impl Client {
    /// Sends the head of a PUT; returns when the service waits for its body.
    async fn begin_put(&self, path: &str, length: &str) -> TcpStream {
        let mut stream = self.app.connect().await;
        let head = self.put_head(path, &format!("{length}\r\nExpect: 100-continue\r\nConnection: close\r\n"));
        stream.write_all(head.as_bytes()).await.unwrap();
        let received = read_until(&mut stream, "\r\n\r\n").await;
        assert!(received.starts_with("HTTP/1.1 100 "), "{received}");
        stream
    }

    /// Sends the head of a PUT that is refused before its body is sent; returns the response.
    async fn refused_put(&self, path: &str, length: &str) -> String {
        let head = self.put_head(path, &format!("{length}\r\nExpect: 100-continue\r\nConnection: close\r\n"));
        self.app.send_raw(head).await
    }

    fn staged_bytes(&self) -> u64 {
        let files = std::fs::read_dir(self.app.dir().join("blobs/staging")).unwrap();
        // A file may have been deleted since it was listed.
        files.filter_map(|file| file.ok()?.metadata().ok()).map(|file| file.len()).sum()
    }

    /// Repeats a request until its status is no longer this one.
    async fn put_when_free(&mut self, path: &'static str, body: &[u8], status: u16) {
        within(async { while self.send(&step(path, 201).body(body)).await.status == status {} }).await;
    }
}

fn announced(bytes: usize) -> String {
    format!("Content-Length: {bytes}")
}

/// A chunk of a body without an announced length.
fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

async fn finish(mut stream: TcpStream, bytes: &[u8]) {
    stream.write_all(bytes).await.unwrap();
    let response = TestApp::read_until_closed(stream).await;
    assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn further_uploads_of_an_account_are_503_while_others_run() {
    let builder = TestApp::builder().limits(|limits| limits.uploads_per_owner = 2);
    let mut client = Client::start_with(builder).await;
    let ben = client.app.account("ben").await;
    let (photo, length) = (jpeg(1), announced(jpeg(1).len()));
    let first = client.begin_put("/dav/1.jpg", &length).await;
    let second = client.begin_put("/remote.php/webdav/2.jpg", "Transfer-Encoding: chunked").await;
    let busy = client.refused_put("/dav/3.jpg", &length).await;
    assert!(busy.starts_with("HTTP/1.1 503 ") && busy.contains("retry-after: 5\r\n"), "{busy}");
    client
        .replay([
            step("PUT /dav/._junk", 503).body("junk").gives("retry-after", "5").shows("too many uploads"),
            step("MKCOL /remote.php/dav/uploads/{id}/a", 201),
            step("PUT /remote.php/dav/uploads/{id}/a/1", 503).body("x").gives("retry-after", "5"),
            step("PROPFIND /dav/", 207),
            step("MKCOL /dav/folder", 201),
        ])
        .await;
    let of_another = client.app.request(reqwest::Method::PUT, "/dav/x.jpg").body(photo.clone());
    client.app.send(of_another.basic_auth(ben.email.to_string(), Some(&ben.key))).await.expect(201);
    // Each end of an upload makes room: the last byte, and a lost connection.
    finish(first, &photo).await;
    client.run(step("PUT /dav/3.jpg", 201).body(jpeg(3))).await;
    drop(second);
    let third = client.begin_put("/dav/4.jpg", &length).await;
    client.put_when_free("PUT /dav/5.jpg", &jpeg(5), 503).await;
    drop(third);
    assert_eq!(client.images().await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn running_uploads_of_an_account_share_its_quota() {
    let photo = jpeg(1);
    let bytes = photo.len();
    let builder = TestApp::builder()
        .settings(|settings| settings.limits.account_quota_bytes = Some(2 * u64::try_from(bytes).unwrap()));
    let mut client = Client::start_with(builder).await;
    let first = client.begin_put("/dav/1.jpg", &announced(bytes)).await;
    let second = client
        .begin_put("/dav/2.jpg", &format!("Transfer-Encoding: chunked\r\nX-Expected-Entity-Length: {bytes}"))
        .await;
    // No bytes were received yet, but the announced lengths are reserved in the quota.
    let full = client.refused_put("/dav/3.jpg", &announced(bytes)).await;
    assert!(full.starts_with("HTTP/1.1 507 ") && full.contains("<d:quota-not-exceeded"), "{full}");
    let unknown =
        [client.put_head("/dav/3.jpg", "Transfer-Encoding: chunked\r\n").into_bytes(), chunk(&photo)];
    let mut third = client.app.connect().await;
    third.write_all(&unknown.concat()).await.unwrap();
    let full = read_until(&mut third, "\r\n\r\n").await;
    assert!(full.starts_with("HTTP/1.1 507 "), "{full}");
    client
        .replay([
            step("PUT /dav/a.xmp", 507).body("<x/>"),
            step("MKCOL /remote.php/dav/uploads/{id}/a", 507).with("OC-Total-Length", "1"),
            step("MKCOL /remote.php/dav/uploads/{id}/a", 201),
            step("PUT /remote.php/dav/uploads/{id}/a/1", 507).body("x"),
        ])
        .await;
    // Each end of an upload makes room: the last byte, and a lost connection.
    finish(first, &photo).await;
    drop(second);
    client.put_when_free("PUT /dav/3.jpg", &jpeg(3), 507).await;
    let stored = client.app.store.stored_bytes(client.account.id).await.unwrap();
    assert_eq!(stored, u64::try_from(2 * bytes).unwrap());
    assert_eq!((client.images().await, client.staged_files()), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_entries_without_stored_bytes_are_507() {
    let mut client = Client::start().await;
    client.replay(["a", "a/0", "b"].map(|folder| step("MKCOL /dav/", 201).at(folder))).await;
    for number in 0..9 {
        client.run(step("PUT /dav/a/0/._", 201).at(&number.to_string()).body("junk")).await;
    }
    // A copy of `a/0` makes ten entries, a copy of `a` 101, and a copy of `b` nearly ten thousand.
    for (from, to, copies) in [("a/0", "a", 9), ("a", "b", 98)] {
        for number in 1..=copies {
            let copy = step("COPY /dav/", 201).at(from);
            client.run(copy.with("Destination", format!("/dav/{to}/{number}"))).await;
        }
    }
    let shown = "take no space";
    client
        .replay([
            step("COPY /dav/b", 201).with("Destination", "/dav/c"),
            step("COPY /dav/b", 507).with("Destination", "/dav/d").shows(shown),
        ])
        .await;
    let mut made = 0;
    while made <= 100 && client.send(&step("PUT /dav/c/new", 201).at(&made.to_string())).await.status == 201 {
        made += 1;
    }
    assert!((1..=100).contains(&made), "{made}");
    client
        .replay([
            step("PUT /dav/new.jpg", 507).shows(shown).shows("<d:quota-not-exceeded"),
            step("PUT /dav/.DS_Store", 507).body("junk"),
            step("MKCOL /dav/new", 507).shows(shown),
            step("LOCK /dav/new.jpg", 507).body(
                r#"<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>"#,
            ),
            step("PUT /dav/x.jpg", 201).body(jpeg(1)),
            step("DELETE /dav/c", 204),
            step("MKCOL /dav/new", 201),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_a_length_is_refused_at_the_quota() {
    let builder =
        TestApp::builder().settings(|settings| settings.limits.account_quota_bytes = Some(1_000_000));
    let client = Client::start_with(builder).await;
    let begin = async |path: &str| {
        let mut stream = client.begin_put(path, "Transfer-Encoding: chunked").await;
        stream.write_all(&chunk(&[jpeg(1), vec![0; 600_000]].concat())).await.unwrap();
        stream
    };
    let mut first = begin("/dav/1.jpg").await;
    wait_until(|| client.staged_bytes() > 500_000).await;
    let mut second = begin("/dav/2.jpg").await;
    let full = read_until(&mut second, "\r\n\r\n").await;
    assert!(full.starts_with("HTTP/1.1 507 "), "{full}");
    first.write_all(&chunk(&[0; 500_000])).await.unwrap();
    let full = read_until(&mut first, "\r\n\r\n").await;
    assert!(full.starts_with("HTTP/1.1 507 "), "{full}");
    assert_eq!(client.staged_files(), 0);
}
