//! A wall clock that is set back, for example by NTP.

use std::time::Duration;

use serde_json::json;
use tests::{
    TestApp,
    oauth::{Authorize, DocumentHost, PASSWORD},
};

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test(flavor = "multi_thread")]
async fn rate_limits_do_not_depend_on_the_wall_clock() {
    let app = TestApp::start().await;
    let client = app.public_client().await;
    let body = json!({"client_name": "a", "redirect_uris": ["https://a.example/"]});
    app.advance(2 * HOUR);
    for back in [Duration::from_secs(5), HOUR] {
        app.refresh(&client, "one").await.expect(400);
        app.oauth_form("revoke", &[("token", "x")]).await.expect(200);
        app.set_clock_back(back);
        app.refresh(&client, "one").await.expect(400);
        app.oauth_form("revoke", &[("token", "x")]).await.expect(200);
        app.register(&body).await.expect(201);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_in_attempts_from_the_future_do_not_count() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let browser = app.browser();
    for _ in 0..10 {
        browser.sign_in("/sign-in", &anna, "wrong").await.expect(401);
    }
    browser.sign_in("/sign-in", &anna, PASSWORD).await.expect(429);
    app.set_clock_back(HOUR);
    browser.sign_in("/sign-in", &anna, PASSWORD).await.expect(303);
    // The attempts count again when the clock has reached their times again.
    app.advance(HOUR);
    browser.sign_in("/sign-in", &anna, PASSWORD).await.expect(429);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_document_fetch_is_retried_after_the_wall_clock_is_set_back() {
    let host = DocumentHost::start().await;
    let app = TestApp::builder().client_documents(host.options()).start().await;
    let client = host.describe("/client.json", json!({"redirect_uris": ["https://app.example/callback"]}));
    let path = Authorize::of(&app, &client).path();
    host.set_down(true);
    app.browser().open(&path).await.expect(400);
    host.set_down(false);
    app.browser().open(&path).await.expect(400);
    app.set_clock_back(HOUR);
    app.advance(Duration::from_secs(31));
    app.browser().open(&path).await.expect(200);
}
