//! Health checks and operation.

use reqwest::Method;
use tests::TestApp;

#[tokio::test(flavor = "multi_thread")]
async fn a_service_with_its_stores_is_alive_and_ready() {
    let app = TestApp::start().await;
    for path in ["/healthz", "/readyz"] {
        let answer = app.fetch(path).await.expect(200);
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert!(answer.json["status"].is_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_migrations_make_the_service_alive_but_not_ready() {
    let app = TestApp::builder().unmigrated().start().await;
    app.fetch("/healthz").await.expect(200);
    let answer = app.fetch("/readyz").await.expect(503);
    assert!(answer.json["reason"].as_str().unwrap().contains("migrate"), "{}", answer.json);
    app.store.migrate().await.unwrap();
    app.fetch("/readyz").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_store_requests_are_503_and_not_401() {
    let app = TestApp::builder().unmigrated().start().await;
    for path in ["/api/ext/v2/images", "/api/ext/v2/library", "/api/ext/v2/nothing"] {
        let request = app.request(Method::GET, path).bearer_auth("photos_key");
        let answer = app.send(request).await.expect(503);
        assert!(!answer.error().is_empty());
        assert!(answer.header("retry-after").is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_openapi_document_needs_no_key() {
    let app = TestApp::start().await;
    let answer = app.fetch("/api/ext/v2/openapi.json").await.expect(200);
    assert!(answer.json["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_use_https_for_a_year_if_the_base_url_is_https() {
    let public = TestApp::builder().public_base_url("https://photos.example.org").start().await;
    let http = TestApp::builder().public_base_url("http://photos.example.org").start().await;
    let local = TestApp::start().await;
    for (method, path) in [
        (Method::GET, "/"),
        (Method::GET, "/sign-in"),
        (Method::GET, "/assets/nothing"),
        (Method::GET, "/healthz"),
        (Method::GET, "/.well-known/oauth-authorization-server"),
        (Method::GET, "/api/ext/v2/images"),
        (Method::POST, "/api/mcp/v1"),
        (Method::POST, "/sign-in"),
        (Method::GET, "/i/x/webp-thumb.webp"),
        (Method::PUT, "/dav/a.jpg"),
        (Method::OPTIONS, "/upload/"),
        (Method::GET, "/nothing"),
    ] {
        let answer = public.send(public.request(method.clone(), path)).await;
        assert_eq!(answer.header("strict-transport-security"), Some("max-age=31536000"), "{path}");
        for app in [&http, &local] {
            let answer = app.send(app.request(method.clone(), path)).await;
            assert_eq!(answer.header("strict-transport-security"), None, "{path}");
        }
    }
}
