//! Lengths and types of request bodies.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tests::{TestAccount, TestApp};

/// JSON of exactly this many bytes that creates an album.
fn body_of(bytes: usize) -> String {
    let json = json!({"title": "t", "padding": ""}).to_string();
    json.replace("\"padding\":\"\"", &format!("\"padding\":\"{}\"", "x".repeat(bytes - json.len())))
}

async fn send(app: &TestApp, account: &TestAccount, body: impl Into<reqwest::Body>) -> tests::TestResponse {
    let request = app.call(Method::POST, "/albums", &account.key).header("content-type", "application/json");
    app.send(request.body(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_has_at_most_512000_bytes() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    assert_eq!(body_of(512_000).len(), 512_000);
    send(&app, &ann, body_of(512_000)).await.expect(201);
    send(&app, &ann, body_of(512_001)).await.expect(413).error();
    send(&app, &ann, body_of(5_000_000)).await.expect(413).error();
    // The limit also applies to bodies without a declared length.
    for (bytes, status) in [(512_000, 201), (512_001, 413), (5_000_000, 413)] {
        let chunks: Vec<Result<Vec<u8>, std::io::Error>> =
            body_of(bytes).into_bytes().chunks(9_999).map(|chunk| Ok(chunk.to_vec())).collect();
        let stream = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks));
        let answer = send(&app, &ann, stream).await.expect(status);
        if status == 413 {
            answer.error();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declared_length_is_rejected_before_the_body_is_sent() {
    let app =
        TestApp::builder().limits(|limits| limits.body_timeout = Duration::from_millis(300)).start().await;
    let ann = app.account("ann").await;
    let head = format!(
        "POST /api/ext/v2/albums HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\
         Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n",
        ann.key
    );
    let answer = app.send_raw(head).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_a_whole_rejected_body_gets_the_reply() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.unsynced_account("ben").await);
    for _ in 0..20 {
        for (method, path, key, status) in [
            (Method::POST, "/albums", "wrong", 401),
            (Method::POST, "/nothing", ann.key.as_str(), 404),
            (Method::PUT, "/albums", &ann.key, 405),
            (Method::POST, "/albums", &ben.key, 409),
            (Method::POST, "/albums", &ann.key, 413),
        ] {
            let request = app.call(method, path, key).header("content-type", "application/json");
            app.send(request.body(body_of(2_000_000))).await.expect(status);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_100_continue_is_sent_for_a_rejected_body() {
    let app = TestApp::start().await;
    let answer = app
        .send_raw(
            "POST /api/ext/v2/albums HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: wrong\r\n\
             Content-Length: 100\r\nExpect: 100-continue\r\n\r\n",
        )
        .await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_json_is_415() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (content_type, status) in [
        (Some("application/json"), 201),
        (Some("application/json; charset=utf-8"), 201),
        (Some("Application/JSON"), 201),
        (None, 415),
        (Some(""), 415),
        (Some("text/plain"), 415),
        (Some("text/json"), 415),
        (Some("application/jsonp"), 415),
        (Some("application/x-www-form-urlencoded"), 415),
        (Some("multipart/form-data; boundary=x"), 415),
    ] {
        let mut request = app.call(Method::POST, "/albums", &ann.key).body(r#"{"title": "t"}"#);
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        let answer = app.send(request).await.expect(status);
        if status == 415 {
            assert!(answer.error().contains("JSON"), "{content_type:?}: {}", answer.error());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_field_is_400_and_changes_nothing() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (body, field) in [
        (r#"{"title": "a", "title": "b"}"#, "title"),
        (r#"{"title": "a", "title": "a"}"#, "title"),
        (r#"{"title": "a", "imageIds": [], "image\u0049ds": []}"#, "imageIds"),
        (r#"{"title": "a", "unknown": [{"deep": 1, "deep": 2}]}"#, "deep"),
        (r#"{"title": "a", "title": "b""#, "body"),
    ] {
        let answer = send(&app, &ann, body).await.expect(400);
        assert!(answer.error().starts_with(&format!("{field}: ")), "{}", answer.error());
    }
    assert_eq!(app.get("/albums", &ann.key).await.json["pagination"]["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_without_a_request_body_ignore_a_sent_body() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (method, path, status) in
        [(Method::GET, "/images", 200), (Method::GET, "/library", 200), (Method::DELETE, "/albums/x", 404)]
    {
        let request = app.call(method, path, &ann.key).header("content-type", "text/plain").body("nonsense");
        app.send(request).await.expect(status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compressed_body_is_415_everywhere() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (path, content_type, body) in [
        ("/api/ext/v2/albums", "application/json", r#"{"title": "t"}"#),
        ("/api/mcp/v1", "application/json", r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#),
        (
            "/api/oauth/register",
            "application/json",
            r#"{"client_name": "a", "redirect_uris": ["https://a.example/"]}"#,
        ),
        ("/api/oauth/token", "application/x-www-form-urlencoded", "grant_type=refresh_token"),
        ("/api/oauth/revoke", "application/x-www-form-urlencoded", "token=x"),
    ] {
        let request = |encodings: &[&str]| {
            let request = app.request(Method::POST, path).header("content-type", content_type);
            let request =
                encodings.iter().fold(request, |request, name| request.header("content-encoding", *name));
            // MCP and the image API need a key. The OAuth endpoints need none.
            let request = if path.contains("oauth") { request } else { request.bearer_auth(&ann.key) };
            app.send(request.body(body))
        };
        for encodings in [&["gzip"][..], &["br"], &["identity, gzip"], &["identity", "gzip"], &["x"]] {
            let answer = request(encodings).await.expect(415);
            assert!(!answer.json["error"].is_null(), "{path} {encodings:?}");
        }
        for encodings in [&["identity"][..], &["Identity", "identity"], &[""]] {
            assert_ne!(request(encodings).await.status, 415, "{path} {encodings:?}");
        }
    }
}
