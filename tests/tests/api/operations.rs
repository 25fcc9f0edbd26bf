//! What operators ask.

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
async fn a_store_with_pending_migrations_is_not_ready_and_the_process_alive() {
    let app = TestApp::builder().unmigrated().start().await;
    app.fetch("/healthz").await.expect(200);
    let answer = app.fetch("/readyz").await.expect(503);
    assert!(answer.json["reason"].as_str().unwrap().contains("migrate"), "{}", answer.json);
    app.store.migrate().await.unwrap();
    app.fetch("/readyz").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_store_is_down_requests_are_503_and_no_key_is_called_wrong() {
    let app = TestApp::builder().unmigrated().start().await;
    for path in ["/api/ext/v2/images", "/api/ext/v2/library", "/api/ext/v2/nothing"] {
        let request = app.request(reqwest::Method::GET, path).bearer_auth("photos_key");
        let answer = app.send(request).await.expect(503);
        assert!(!answer.error().is_empty());
        assert!(answer.header("retry-after").is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_of_the_api_needs_no_key() {
    let app = TestApp::start().await;
    let answer = app.fetch("/api/ext/v2/openapi.json").await.expect(200);
    assert!(answer.json["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}
