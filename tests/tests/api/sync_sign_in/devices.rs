//! Sync passwords: the requests that they authenticate, and their revocation.

use std::time::Duration;

use reqwest::Method;
use tests::{TestApp, oauth::PASSWORD, within};

use super::{ANDROID, Device, Flow, IPHONE, handle_of, listed};

/// Paths that need a sync password.
const SYNC_PATHS: [&str; 6] = [
    "/dav/",
    "/remote.php/dav/",
    "/remote.php/webdav/",
    "/ocs/v1.php/cloud/user",
    "/ocs/v2.php/cloud/capabilities",
    "/index.php/core/preview?fileId=1",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_sync_password_is_refused_by_the_api_and_mcp() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let phone = Device::connected(&app, &browser, ANDROID).await;
    app.get("/library", &phone.password).await.expect(401);
    app.get("/images", &phone.password).await.expect(401);
    let bare = app.request(Method::GET, "/api/ext/v2/images").header("authorization", &phone.password);
    app.send(bare).await.expect(401);
    phone.send(&app, Method::GET, "/api/ext/v2/images").await.expect(401);
    app.list_tools("/api/mcp/v1", &phone.password).await.expect(401);
    app.browser().sign_in("/sign-in", &app.person("bert").await, &phone.password).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_account_password_is_refused_on_sync_paths() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let user = anna.email.to_string();
    let account = Device { user: user.clone(), password: PASSWORD.to_owned() };
    let key = Device { user, password: anna.key.clone() };
    for path in SYNC_PATHS {
        let answer = account.send(&app, Method::GET, path).await;
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.header("www-authenticate").unwrap().starts_with("Basic "), "{path}");
        assert_ne!(key.send(&app, Method::GET, path).await.status, 401, "an API key at {path}");
        assert_eq!(app.fetch(path).await.status, 401, "{path} without a password");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_passwords_never_lock_out() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let phone = Device::connected(&app, &browser, ANDROID).await;
    let wrong = Device { password: "wrong".to_owned(), ..phone.clone() };
    for _ in 0..120 {
        assert_eq!(wrong.status(&app).await, 401);
    }
    assert_eq!(phone.status(&app).await, 200);
    app.browser().signed_in(&anna).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_user_is_the_email_or_the_handle() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let bert = app.person("bert").await;
    let phone = Device::connected(&app, &browser, ANDROID).await;
    let (own, other) = (handle_of(&app, &anna).await, handle_of(&app, &bert).await);
    for (user, status) in [
        (own.as_str(), 200),
        ("anna@example.org", 200),
        (" Anna@Example.ORG ", 200),
        (other.as_str(), 401),
        ("bert@example.org", 401),
        ("", 401),
    ] {
        assert_eq!(Device { user: user.to_owned(), ..phone.clone() }.status(&app).await, status, "{user:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_signs_out_revokes_its_own_password_only() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (phone, tablet) =
        (Device::connected(&app, &browser, ANDROID).await, Device::connected(&app, &browser, IPHONE).await);
    let answer =
        phone.send(&app, Method::DELETE, "/ocs/v2.php/core/apppassword?format=json").await.expect(200);
    assert_eq!(answer.json["ocs"]["meta"]["statuscode"], 200);
    assert_eq!((phone.status(&app).await, tablet.status(&app).await), (401, 200));
    assert_eq!(listed(&browser).await, ["Anna's iPhone (Nextcloud iOS)"]);
    phone.send(&app, Method::DELETE, "/ocs/v2.php/core/apppassword").await.expect(401);

    // An API key, which other programs may use, is not revoked.
    let key = Device { user: anna.email.to_string(), password: anna.key.clone() };
    key.send(&app, Method::DELETE, "/ocs/v2.php/core/apppassword").await.expect(403);
    assert_eq!(key.status(&app).await, 200);

    let activity = browser.open("/account/activity").await.expect(200).text();
    for words in [
        "Nextcloud for Android connected for photo sync",
        "Nextcloud for Android disconnected from photo sync",
    ] {
        assert!(activity.contains(words), "{words}: {activity}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_use_is_listed() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let phone = Device::connected(&app, &browser, ANDROID).await;
    assert!(browser.open(super::SYNC).await.text().contains("not used yet"));
    app.advance(Duration::from_secs(2 * 24 * 3600));
    assert_eq!(phone.status(&app).await, 200);
    // The use is recorded in the background.
    let used =
        async || browser.open(super::SYNC).await.text().contains("last used <time datetime=\"2024-06-03");
    within(async {
        while !used().await {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_account_ends_its_devices_and_login_flows() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let phone = Device::connected(&app, &browser, ANDROID).await;
    let flow = Flow::begin(&app, ANDROID).await;
    flow.answer(&browser, "allow").await.expect(200);
    app.library.accounts.delete_account(anna.id).await.unwrap();
    assert_eq!(phone.status(&app).await, 401);
    Flow::check_waiting(&flow.poll(&app).await);
}
