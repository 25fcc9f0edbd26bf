//! A library whose photos are in an S3 bucket.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use rustix::process::Signal;
use s3_test_server::{BUCKET, Fault, KEY_ID, S3Server, SECRET};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    photos,
    program::{EMAIL, Instance, Outcome, Server, files_below, outcome},
};

/// A data folder whose photos are in a bucket.
struct Setup {
    instance: Instance,
    bucket: TempDir,
    s3: S3Server,
    http: reqwest::Client,
}

impl Setup {
    /// With an account.
    async fn new() -> Self {
        let bucket = tempfile::tempdir().unwrap();
        let s3 = S3Server::start(bucket.path()).await.unwrap();
        let setup = Self { instance: Instance::new(), bucket, s3, http: reqwest::Client::new() };
        setup.ok(["account", "create", EMAIL]);
        setup
    }

    fn command<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = self.instance.command(arguments);
        command
            .env("PHOTOS_BLOB_URL", format!("s3://{BUCKET}/library"))
            .env("AWS_ENDPOINT_URL_S3", self.s3.url())
            .env("AWS_ACCESS_KEY_ID", KEY_ID)
            .env("AWS_SECRET_ACCESS_KEY", SECRET);
        command
    }

    fn run<const N: usize>(&self, arguments: [&str; N]) -> Outcome {
        outcome(&mut self.command(arguments), "")
    }

    fn ok<const N: usize>(&self, arguments: [&str; N]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {outcome:?}");
        outcome.stdout
    }

    fn key(&self) -> String {
        self.ok(["key", "create", EMAIL, "--name", "test"]).lines().last().unwrap().to_owned()
    }

    fn serve(&self) -> Server {
        Server::start(self.command(["serve", "--listen", "127.0.0.1:0"]).env("RUST_LOG", "debug"))
    }

    fn import(&self, number: u32) {
        let folder = self.instance.beside("photos");
        photos::generate(&folder, number);
        self.ok(["import", EMAIL, folder.to_str().unwrap()]);
    }

    /// Stops the S3 server while the future runs.
    async fn without_s3(self, away: impl AsyncFnOnce(&Self)) -> Self {
        let port = self.s3.port();
        let placeholder = S3Server::start(self.bucket.path()).await.unwrap();
        let mut setup = self;
        std::mem::replace(&mut setup.s3, placeholder).stop().await;
        away(&setup).await;
        setup.s3 = S3Server::start_on(setup.bucket.path(), port).await.unwrap();
        setup
    }

    async fn get(&self, url: &str) -> Response {
        self.http.get(url).timeout(Duration::from_secs(30)).send().await.unwrap()
    }
}

/// The URL of a rendition of the first image that is ready. Waits for one for a minute.
async fn rendition_url(setup: &Setup, server: &Server, key: &str) -> String {
    let url = format!("http://{}/api/ext/v2/images", server.address);
    let began = Instant::now();
    loop {
        assert!(began.elapsed() < Duration::from_secs(60), "no image is ready");
        let response = setup.http.get(&url).bearer_auth(key).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        if let Some(url) = find_url(&response.json().await.unwrap()) {
            return url;
        }
    }
}

/// The first signed URL.
fn find_url(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|url| url.contains("&sig=")),
        Value::Array(values) => values.iter().find_map(find_url),
        Value::Object(members) => members.values().find_map(find_url),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn photos_are_imported_served_and_checked_in_a_bucket() {
    let setup = Setup::new().await;
    setup.import(2);
    let local = files_below(&setup.instance.data_dir());
    assert!(!local.iter().any(|name| name.starts_with("blobs/originals")), "{local:?}");
    let keys = setup.s3.keys().unwrap();
    assert_eq!(keys.iter().filter(|key| key.starts_with("library/originals/")).count(), 2, "{keys:?}");
    let (key, server) = (setup.key(), setup.serve());
    let url = rendition_url(&setup, &server, &key).await;
    let image = setup.get(&url).await;
    assert_eq!(image.status(), StatusCode::OK);
    assert!(image.bytes().await.unwrap().starts_with(b"RIFF"));
    assert!(setup.ok(["fsck", "--checksums"]).ends_with("Everything agrees.\n"));
    drop(server);

    let original = keys.iter().find(|key| key.starts_with("library/originals/")).unwrap();
    std::fs::write(setup.s3.file(original), b"damaged").unwrap();
    let report = setup.run(["fsck", "--checksums", "--repair"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    assert!(setup.s3.file(&format!("{original}.damaged")).exists(), "{report:?}");
    setup.ok(["import", EMAIL, setup.instance.beside("photos").to_str().unwrap()]);
    assert!(setup.ok(["fsck", "--checksums"]).ends_with("Everything agrees.\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_unreachable_bucket_is_reported_and_served_again_when_it_is_back() {
    let setup = Setup::new().await;
    setup.import(1);
    let (key, server) = (setup.key(), setup.serve());
    let url = rendition_url(&setup, &server, &key).await;
    let ready = format!("http://{}/readyz", server.address);
    assert_eq!(setup.get(&ready).await.status(), StatusCode::OK);
    let setup = setup
        .without_s3(async |setup| {
            let reply = setup.get(&ready).await;
            assert_eq!(reply.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(reply.text().await.unwrap().contains("the blob store cannot be reached"));
            let image = setup.get(&url).await;
            assert_eq!(image.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(image.headers().contains_key("retry-after"));
        })
        .await;
    assert_eq!(setup.get(&ready).await.status(), StatusCode::OK);
    assert_eq!(setup.get(&url).await.status(), StatusCode::OK);
    let cut_responses = || {
        setup.s3.on_request(|head| match head.method {
            Method::GET => Fault::CutResponse(1),
            _ => Fault::None,
        });
    };
    cut_responses();
    let image = setup.get(&url).await;
    assert!(image.bytes().await.unwrap().starts_with(b"RIFF"), "a small rendition is still in memory");
    let (_, _, _, log) = server.stop(Signal::TERM);
    assert!(log.contains("S3 server") && !log.contains(SECRET), "{log}");

    // What cannot be read to its end is never sent as a complete image. A new server has nothing in memory.
    setup.s3.without_faults();
    let server = setup.serve();
    let url = rendition_url(&setup, &server, &key).await;
    cut_responses();
    // The connection may break before the head of the response was sent, or after it.
    if let Ok(image) = setup.http.get(&url).send().await {
        let status = image.status();
        let is_broken = image.bytes().await.is_err();
        assert!(is_broken || status == StatusCode::SERVICE_UNAVAILABLE, "{status}");
    }
}

fn tus(request: RequestBuilder, key: &str) -> RequestBuilder {
    request.bearer_auth(key).header("tus-resumable", "1.0.0")
}

async fn patch(setup: &Setup, url: &str, key: &str, bytes: Vec<u8>) -> Response {
    let request = tus(setup.http.patch(url), key).header("upload-offset", 0);
    request.header("content-type", "application/offset+octet-stream").body(bytes).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_upload_and_its_indexing_wait_for_an_unreachable_bucket() {
    let setup = Setup::new().await;
    let (key, server) = (setup.key(), setup.serve());
    let folder = setup.instance.beside("photos");
    photos::generate(&folder, 1);
    let bytes = std::fs::read(folder.join("photo-000.jpg")).unwrap();
    let begin = setup.http.post(format!("http://{}/upload/", server.address));
    let begun = tus(begin, &key).header("upload-length", bytes.len()).send().await.unwrap();
    assert_eq!(begun.status(), StatusCode::CREATED);
    let url = format!("http://{}{}", server.address, begun.headers()["location"].to_str().unwrap());
    let setup = setup
        .without_s3(async |setup| {
            let refused = patch(setup, &url, &key, bytes.clone()).await;
            assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(refused.headers().contains_key("retry-after"));
            let progress = tus(setup.http.head(&url), &key).send().await.unwrap();
            assert_eq!(progress.headers()["upload-offset"], "0");
        })
        .await;
    // The upload is stored, but the original cannot be read at first.
    setup.s3.on_request(|head| match (&head.method, head.uri.path().contains("/originals/")) {
        (&Method::GET, true) => Fault::Status(503, None),
        _ => Fault::None,
    });
    let accepted = patch(&setup, &url, &key, bytes.clone()).await;
    assert_eq!(accepted.status(), StatusCode::NO_CONTENT);
    let is_read = |setup: &Setup| setup.s3.requests().iter().any(|seen| seen.path.contains("/originals/"));
    let began = Instant::now();
    while !is_read(&setup) {
        assert!(began.elapsed() < Duration::from_secs(60), "the original is not read");
        tokio::task::yield_now().await;
    }
    setup.s3.without_faults();
    rendition_url(&setup, &server, &key).await;
    assert!(setup.ok(["fsck", "--checksums"]).ends_with("Everything agrees.\n"));
    let left: Vec<String> = setup.s3.keys().unwrap();
    assert!(!left.iter().any(|key| key.contains("/uploads/")), "parts are deleted: {left:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn doctor_says_what_is_wrong_with_a_bucket() {
    let setup = Setup::new().await;
    let check = |name: &str, value: &str, expect: &str| {
        let outcome = outcome(setup.command(["doctor"]).env(name, value), "");
        let line = outcome.stdout.lines().find(|line| line.contains("blob store")).unwrap();
        assert!(line.contains(expect) && !line.contains("hunter2"), "{outcome:?}");
        assert_eq!((outcome.code, line.starts_with("FAIL")), (Some(1), true), "{line}");
    };
    check("PHOTOS_BLOB_URL", "s3://nowhere", "the bucket does not exist");
    check("AWS_ACCESS_KEY_ID", "hunter2", "AWS_ACCESS_KEY_ID");
    check("AWS_SECRET_ACCESS_KEY", "hunter2", "AWS_SECRET_ACCESS_KEY");
    check("AWS_SECRET_ACCESS_KEY", "", "set both");
    check("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1", "cannot be reached");
    setup.s3.on_request(|_| Fault::Status(403, Some("RequestTimeTooSkewed")));
    check("AWS_REGION", "eu-west-1", "clock");
    setup.s3.on_request(|head| match head.method {
        Method::PUT => Fault::Status(403, Some("AccessDenied")),
        _ => Fault::None,
    });
    check("AWS_REGION", "eu-west-1", "permission to read, write, delete and list");

    setup.s3.without_faults();
    let before = setup.s3.keys().unwrap();
    let outcome = setup.run(["doctor"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let shown = format!("blob store: s3://{BUCKET}/library at {} can be read", setup.s3.url());
    assert!(outcome.stdout.contains(&shown) && !outcome.stdout.contains(SECRET), "{outcome:?}");
    assert_eq!(setup.s3.keys().unwrap(), before, "doctor leaves nothing");
}
