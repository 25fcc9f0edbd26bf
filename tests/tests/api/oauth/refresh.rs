use std::time::Duration;

use tests::{
    TestApp,
    oauth::{Authorize, Tokens},
};

use super::{opens, refused};

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_replaces_both_tokens() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let first = app.tokens(&client, &person).await;
    let answer = app.refresh(&client, &first.refresh).await.expect(200);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!((&answer.json["token_type"], &answer.json["expires_in"]), (&"Bearer".into(), &3600.into()));
    let second = Tokens::read(&answer);
    assert_ne!(first.refresh, second.refresh);
    assert_ne!(first.access, second.access);
    refused(&app.refresh(&client, &first.refresh).await, 400, "invalid_grant");
    assert!(opens(&app, &second.access).await && opens(&app, &first.access).await);
    app.refresh(&client, &second.refresh).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_does_not_change_the_scopes() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let browser = app.browser().signed_in(&person).await;
    let request = Authorize::of(&app, &client).with("resource", &format!("{}/api/mcp/legacy", app.base_url));
    let code = browser.allow(&request).await.code();
    let mut tokens = Tokens::read(&app.redeem(&client, &code).await);
    for scope in ["mcp:images", "openid", ""] {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", tokens.refresh.as_str()),
            ("client_id", client.id.as_str()),
            ("scope", scope),
        ];
        let answer = app.oauth_form("token", &fields).await.expect(200);
        assert_eq!(answer.json["scope"], "mcp:photos");
        tokens = Tokens::read(&answer);
    }
    assert_eq!(app.list_tools("/api/mcp/legacy", &tokens.access).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_token_lives_thirty_days_from_its_issue() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let day = Duration::from_secs(86_400);
    let first = app.tokens(&client, &person).await;
    app.advance(29 * day);
    let second = Tokens::read(&app.refresh(&client, &first.refresh).await);
    app.advance(29 * day);
    let third = Tokens::read(&app.refresh(&client, &second.refresh).await);
    app.advance(30 * day + Duration::from_secs(1));
    refused(&app.refresh(&client, &third.refresh).await, 400, "invalid_grant");
    let again = app.tokens(&client, &person).await;
    assert!(opens(&app, &again.access).await, "signing in again works");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_within_thirty_seconds_is_only_refused() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let first = app.tokens(&client, &person).await;
    let second = Tokens::read(&app.refresh(&client, &first.refresh).await);
    app.advance(Duration::from_secs(15));
    let third = Tokens::read(&app.refresh(&client, &second.refresh).await);
    app.advance(Duration::from_secs(14));
    refused(&app.refresh(&client, &first.refresh).await, 400, "invalid_grant");
    refused(&app.refresh(&client, &second.refresh).await, 400, "invalid_grant");
    assert!(opens(&app, &third.access).await);
    app.refresh(&client, &third.refresh).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_replay_revokes_the_grant() {
    for rotations in [1, 2, 40] {
        let app = TestApp::start().await;
        let person = app.person("anna").await;
        let client = app.public_client().await;
        let first = app.tokens(&client, &person).await;
        let mut current = first.clone();
        for _ in 0..rotations {
            current = Tokens::read(&app.refresh(&client, &current.refresh).await);
            app.advance(Duration::from_secs(1));
        }
        app.advance(Duration::from_secs(30));
        assert!(opens(&app, &current.access).await);
        refused(&app.refresh(&client, &first.refresh).await, 400, "invalid_grant");
        assert!(!opens(&app, &current.access).await, "after {rotations}");
        refused(&app.refresh(&client, &current.refresh).await, 400, "invalid_grant");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_attempt_by_another_client_changes_nothing() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let other = app.client_with(&["https://other.example/"], serde_json::json!({})).await;
    let first = app.tokens(&client, &person).await;
    refused(&app.refresh(&other, &first.refresh).await, 400, "invalid_grant");
    let second = Tokens::read(&app.refresh(&client, &first.refresh).await);
    app.advance(Duration::from_secs(60));
    refused(&app.refresh(&other, &first.refresh).await, 400, "invalid_grant");
    assert!(opens(&app, &second.access).await, "another client does not trigger replay detection");
    app.refresh(&client, &second.refresh).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_refresh_token_is_refused() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let tokens = app.tokens(&client, &person).await;
    let mut flipped = tokens.refresh.clone().into_bytes();
    *flipped.last_mut().unwrap() = if flipped.ends_with(b"A") { b"E" } else { b"A" }[0];
    let flipped = String::from_utf8(flipped).unwrap();
    let long = "x".repeat(100_000);
    for bad in [tokens.access.as_str(), &flipped, "x", &long, "ü", "' OR 1=1 --", &tokens.refresh[1..]] {
        refused(&app.refresh(&client, bad).await, 400, "invalid_grant");
    }
    refused(&app.refresh(&client, "").await, 400, "invalid_request");
    let missing = [("grant_type", "refresh_token"), ("client_id", client.id.as_str())];
    refused(&app.oauth_form("token", &missing).await, 400, "invalid_request");
    let stale =
        [("grant_type", "refresh_token"), ("refresh_token", tokens.refresh.as_str()), ("client_id", "stale")];
    refused(&app.oauth_form("token", &stale).await, 401, "invalid_client");
    app.refresh(&client, &tokens.refresh).await.expect(200);
}
