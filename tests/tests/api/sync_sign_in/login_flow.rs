use std::time::Duration;

use reqwest::Method;
use tests::TestApp;
use web::RateLimit;

use super::{ANDROID, Device, Flow, IPHONE, handle_of, listed};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_gets_its_password_once_its_user_allows_it() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let flow = Flow::begin(&app, ANDROID).await;
    assert_eq!(flow.poll, "/index.php/login/v2/poll");
    assert!(flow.page.starts_with("/index.php/login/v2/flow/"));
    for _ in 0..3 {
        Flow::check_waiting(&flow.poll(&app).await);
    }
    browser.open(&flow.page).await.expect(200);
    Flow::check_waiting(&flow.poll(&app).await);
    let page = flow.answer(&browser, "allow").await.expect(200).text();
    assert!(page.contains("The device is connected"), "{page}");

    let answer = flow.poll(&app).await.expect(200);
    assert_eq!(answer.json.as_object().unwrap().len(), 3);
    assert_eq!(answer.json["server"], app.base_url);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let phone = Device::of(&answer);
    assert_eq!(phone.user, handle_of(&app, &anna).await);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric();
    assert!(phone.password.len() >= 32 && phone.password.bytes().all(is_plain), "{}", phone.password);
    assert_eq!(phone.status(&app).await, 200);
    Flow::check_waiting(&flow.poll(&app).await);
    assert_eq!(listed(&browser).await, ["Nextcloud for Android"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_iphone_polls_with_the_token_in_the_query() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let flow = Flow::begin(&app, IPHONE).await;
    Flow::check_waiting(&flow.poll_by_query(&app).await);
    flow.answer(&browser, "allow").await.expect(200);
    let phone = Device::of(&flow.poll_by_query(&app).await.expect(200));
    assert_eq!(phone.status(&app).await, 200);
    Flow::check_waiting(&flow.poll_by_query(&app).await);
    assert_eq!(listed(&browser).await, ["Anna's iPhone (Nextcloud iOS)"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_flow_expires_after_20_minutes() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let (late, confirmed, quick) = (
        Flow::begin(&app, ANDROID).await,
        Flow::begin(&app, ANDROID).await,
        Flow::begin(&app, ANDROID).await,
    );
    let form = late.form(&browser).await;
    app.advance(20 * MINUTE - Duration::from_secs(1));
    confirmed.answer(&browser, "allow").await.expect(200);
    quick.answer(&browser, "allow").await.expect(200);
    quick.poll(&app).await.expect(200);
    app.advance(Duration::from_secs(1));
    Flow::check_waiting(&confirmed.poll(&app).await);
    browser.open(&late.page).await.expect(404);
    browser.submit(&late.page, &form, &[("decision", "allow")]).await.expect(404);
    Flow::check_waiting(&late.poll(&app).await);
    app.library.accounts.delete_expired(|| false).await.unwrap();
    Flow::check_waiting(&confirmed.poll(&app).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_tokens_get_the_same_response_as_a_waiting_flow() {
    let app = TestApp::start().await;
    let flow = Flow::begin(&app, ANDROID).await;
    let poll = |request| app.send(request);
    let post = |path: &str| app.request(Method::POST, path);
    for request in [
        post(&flow.poll),
        post(&flow.poll).form(&[("token", "")]),
        post(&flow.poll).form(&[("token", "unknown")]),
        post(&flow.poll).form(&[("other", &flow.token)]),
        post(&flow.poll).form(&[("token", "x".repeat(10_000))]),
        post(&flow.poll).body("token").header("content-type", "text/plain"),
        post(&format!("{}?token=unknown", flow.poll)),
        // The token of the page is not the token of the device.
        post(&flow.poll).form(&[("token", flow.page.rsplit('/').next().unwrap())]),
    ] {
        Flow::check_waiting(&poll(request).await);
    }
    let answer = app.fetch(&flow.poll).await.expect(405);
    assert_eq!(answer.header("allow"), Some("POST"));
    let answer = app.fetch("/index.php/login/v2").await.expect(405);
    assert_eq!(answer.header("allow"), Some("POST"));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_several_concurrent_polls_gets_the_password() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let flow = Flow::begin(&app, ANDROID).await;
    flow.answer(&browser, "allow").await.expect(200);
    let mut statuses = Vec::new();
    let polls = tokio::join!(flow.poll(&app), flow.poll(&app), flow.poll(&app), flow.poll_by_query(&app));
    for answer in [polls.0, polls.1, polls.2, polls.3] {
        statuses.push(answer.status);
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404, 404, 404]);
    assert_eq!(listed(&browser).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn devices_with_the_same_name_are_numbered() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let first = Device::connected(&app, &browser, ANDROID).await;
    let second = Device::connected(&app, &browser, ANDROID).await;
    let third = Device::connected(&app, &browser, ANDROID).await;
    let names = ["Nextcloud for Android 3", "Nextcloud for Android 2", "Nextcloud for Android"];
    let mut found = listed(&browser).await;
    found.sort_unstable();
    let mut expected = names;
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_ne!(first.password, second.password);
    second.send(&app, Method::DELETE, "/ocs/v2.php/core/apppassword").await.expect(200);
    assert_eq!(
        (first.status(&app).await, second.status(&app).await, third.status(&app).await),
        (200, 401, 200)
    );
    let again = Device::connected(&app, &browser, ANDROID).await;
    assert_eq!(again.status(&app).await, 200);
    assert!(listed(&browser).await.contains(&names[1].to_owned()), "the number is free again");
}

#[tokio::test(flavor = "multi_thread")]
async fn new_login_flows_of_one_address_are_limited() {
    let limit = RateLimit { burst: 3, per_minute: 2 };
    let app = TestApp::builder().oauth_limits(|limits| limits.login_flows = limit).start().await;
    let (_, browser) = app.signed_in("anna").await;
    let flow = Flow::begin(&app, ANDROID).await;
    let begin = async || app.send(app.request(Method::POST, "/index.php/login/v2")).await;
    begin().await.expect(200);
    begin().await.expect(200);
    let answer = begin().await.expect(503);
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=30).contains(&wait), "{wait}");
    // The limit does not affect flows that have begun.
    flow.answer(&browser, "allow").await.expect(200);
    flow.poll(&app).await.expect(200);
    app.advance(Duration::from_secs(wait));
    begin().await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_store_every_endpoint_is_503_and_never_500_or_429() {
    let app = TestApp::builder().unmigrated().start().await;
    for (method, path) in [
        (Method::POST, "/index.php/login/v2"),
        (Method::POST, "/index.php/login/v2/poll?token=abc"),
        (Method::GET, "/ocs/v1.php/cloud/user"),
        (Method::GET, "/ocs/v2.php/cloud/capabilities"),
        (Method::GET, "/ocs/v2.php/core/getapppassword-onetime"),
        (Method::DELETE, "/ocs/v2.php/core/apppassword"),
        (Method::GET, "/index.php/core/preview?fileId=1&x=64&y=64"),
    ] {
        let request = app.request(method, path).basic_auth("anna@example.org", Some("password"));
        let answer = app.send(request).await;
        assert_eq!(answer.status, 503, "{path}");
        assert!(answer.header("retry-after").is_some(), "{path}");
    }
    app.fetch("/status.php").await.expect(200);
    app.fetch("/index.php/204").await.expect(204);
}
