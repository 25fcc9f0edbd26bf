//! The status that each failure has. Apps decide by it whether they retry.

use tests::TestApp;
use tokio::io::AsyncWriteExt as _;

use super::{Client, jpeg, sha1, step};

#[tokio::test(flavor = "multi_thread")]
async fn each_refusal_of_an_upload_has_its_status_and_reason() {
    let mut client = Client::start().await;
    client
        .replay([
            step("MKCOL /dav/a", 201),
            step("PUT /dav/a", 405).body(jpeg(1)),
            step("PUT /dav/none/x.jpg", 409)
                .body(jpeg(1))
                .shows(r"<s:exception>Sabre\DAV\Exception\Conflict</s:exception>"),
            step("PUT /dav/x.jpg", 415).body("not a photo").shows("<s:message>this is not a JPEG"),
            step("PUT /dav/x.mp4", 415).body("\0\0\0\x18ftypmp42\0\0\0\0mp42isom\0\0\0\0mdat"),
            step("PUT /dav/x.jpg", 400).with("OC-Checksum", sha1(b"other")).body(jpeg(1)),
            step("PUT /dav/x.jpg", 400).with("OC-Total-Length", "5").body(jpeg(1)),
            step("PUT /dav/x.jpg", 400).with("Content-Range", "bytes 0-9/20").body(jpeg(1)),
            step("PUT /dav/x.jpg", 415).with("Content-Encoding", "gzip").body(jpeg(1)),
            step("HEAD /dav/x.jpg", 404),
            step("PUT /dav/x.jpg", 201)
                .with("OC-Checksum", "SHA3-512:00")
                .with("X-OC-Mtime", "yesterday")
                .body(jpeg(1)),
            step("GET /dav/x.jpg", 403).shows("<d:error "),
            step("MKCOL /dav/x", 415).body("<a/>"),
            step("MKCOL /dav/x.jpg", 405),
        ])
        .await;
    assert_eq!(client.images().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_beyond_the_limit_is_413_and_beyond_the_quota_507() {
    let photo = jpeg(1);
    let limit = photo.len() as u64;
    let mut client = Client::start_with(TestApp::builder().settings(|settings| {
        settings.limits.max_upload_bytes = limit;
        settings.limits.account_quota_bytes = Some(limit + 10);
    }))
    .await;
    let mut longer = photo.clone();
    longer.push(0);
    client
        .replay([
            step("PUT /dav/x.jpg", 413).body(longer),
            step("PUT /dav/x.jpg", 201).body(photo.clone()),
            step("PUT /dav/known.jpg", 201).body(photo),
            step("PROPFIND /dav/", 207)
                .with("Depth", "0")
                .body(r#"<propfind xmlns="DAV:"><prop><quota-available-bytes/><quota-used-bytes/></prop></propfind>"#)
                .shows("<d:quota-available-bytes>10</d:quota-available-bytes>"),
            step("PUT /dav/y.jpg", 507).body(jpeg(2)).shows("<d:quota-not-exceeded"),
            step("MKCOL /remote.php/dav/uploads/{id}/a", 201),
            step("PUT /remote.php/dav/uploads/{id}/a/1", 507).body(jpeg(2)),
        ])
        .await;
}

/// Most clients read the response only after they have sent the whole file.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_file_of_any_length_is_received() {
    let client = Client::start().await;
    let credentials =
        data_encoding::BASE64.encode(format!("{}:{}", client.handle, client.account.key).as_bytes());
    let bytes = 40 << 20;
    for (path, status) in [("/dav/movie.mp4", "415"), ("/dav/none/x.jpg", "409")] {
        let head = format!(
            "PUT {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Basic {credentials}\r\nContent-Length: {bytes}\r\n\
             Connection: close\r\n\r\n",
            client.app.address
        );
        let mut request = head.into_bytes();
        request.resize(request.len() + bytes, 0);
        let mut stream = client.app.connect().await;
        stream.write_all(&request).await.expect("all bytes are received");
        let response = TestApp::read_until_closed(stream).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unavailable_store_is_503_with_retry_after() {
    let app = TestApp::builder().unmigrated().start().await;
    for method in ["PROPFIND", "PUT", "MKCOL", "DELETE"] {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let request = app.request(method, "/dav/x.jpg").basic_auth("ann", Some("a-key"));
        let response = app.send(request.body(jpeg(1))).await.expect(503);
        assert!(response.header("retry-after").is_some());
        assert!(String::from_utf8_lossy(&response.body).contains("<d:error "));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_staging_folder_that_cannot_be_written_is_503() {
    let mut client = Client::start().await;
    let staging = client.app.dir().join("blobs/staging");
    std::fs::remove_dir_all(&staging).unwrap();
    client.run(step("PUT /dav/x.jpg", 503).body(jpeg(1)).gives("retry-after", "")).await;
    client.run(step("HEAD /dav/x.jpg", 404)).await;
    std::fs::create_dir(&staging).unwrap();
    client.run(step("PUT /dav/x.jpg", 201).body(jpeg(1))).await;
}
