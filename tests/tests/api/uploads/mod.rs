//! Uploads of photos: resumable by tus, and by the plain form.

mod browser;
mod form;
mod protocol;
mod resume;

use data_encoding::BASE64;
use reqwest::{Method, RequestBuilder};
use tests::{TestAccount, TestApp, TestResponse, fixture};

const TUS: (&str, &str) = ("tus-resumable", "1.0.0");
const BYTES: &str = "application/offset+octet-stream";

fn photo() -> Vec<u8> {
    std::fs::read(fixture("media/grey.jpg")).unwrap()
}

/// The start of a movie.
fn movie() -> Vec<u8> {
    [b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom".to_vec(), vec![0; 60_000]].concat()
}

fn metadata(name: &str) -> String {
    format!("filename {},lastModified {}", BASE64.encode(name.as_bytes()), BASE64.encode(b"1700000000000"))
}

/// A request of the tus protocol with the API key of an account.
fn tus(app: &TestApp, account: &TestAccount, method: Method, path: &str) -> RequestBuilder {
    app.request(method, path).bearer_auth(&account.key).header(TUS.0, TUS.1)
}

/// A request to begin an upload.
fn beginning(app: &TestApp, account: &TestAccount, bytes: usize, name: &str) -> RequestBuilder {
    tus(app, account, Method::POST, "/upload/")
        .header("upload-length", bytes)
        .header("upload-metadata", metadata(name))
}

/// Begins an upload; returns its path.
async fn begin(app: &TestApp, account: &TestAccount, bytes: usize) -> String {
    let begun = app.send(beginning(app, account, bytes, "photo.jpg")).await.expect(201);
    begun.header("location").unwrap().to_owned()
}

async fn patch(
    app: &TestApp,
    account: &TestAccount,
    path: &str,
    offset: usize,
    bytes: &[u8],
) -> TestResponse {
    let request = tus(app, account, Method::PATCH, path)
        .header("upload-offset", offset)
        .header("content-type", BYTES)
        .body(bytes.to_vec());
    app.send(request).await
}

async fn head(app: &TestApp, account: &TestAccount, path: &str) -> TestResponse {
    app.send(tus(app, account, Method::HEAD, path)).await
}

/// The number of photos of all accounts that wait to be indexed.
async fn photos(app: &TestApp) -> u64 {
    app.store.queue_length().await.unwrap().pending
}

async fn part_files(app: &TestApp) -> usize {
    app.blobs().parts.files().await.unwrap().len()
}
