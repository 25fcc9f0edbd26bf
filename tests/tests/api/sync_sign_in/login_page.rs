use reqwest::{Method, header};
use tests::{
    TestApp,
    oauth::{PASSWORD, forms},
};

use super::{ANDROID, Device, Flow, IPHONE, listed};

#[tokio::test(flavor = "multi_thread")]
async fn the_page_asks_for_sign_in_first_and_names_device_and_account() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let flow = Flow::begin(&app, IPHONE).await;
    let browser = app.browser();
    let answer = browser.open(&flow.page).await.expect(302);
    let sign_in = answer.header("location").unwrap().to_owned();
    assert_eq!(sign_in, format!("/sign-in?return_to={}", flow.page));
    let answer = browser.sign_in(&sign_in, &anna, PASSWORD).await.expect(303);
    assert_eq!(answer.header("location"), Some(&*flow.page));
    let page = browser.open(&flow.page).await.expect(200);
    for words in [
        "Anna's iPhone (Nextcloud iOS)",
        "anna@example.org",
        "upload photos",
        "original files",
        "choose Deny",
    ] {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"), "{policy}");
}

/// [`TestApp`] fails a test if its log contains a token.
#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_the_path_logs_the_token() {
    let app = TestApp::start().await;
    let page = Flow::begin(&app, ANDROID).await.page;
    let token = page.rsplit('/').next().unwrap();
    for prefix in [
        "//index.php/login/v2/flow/",
        "/index.php//login/v2/flow/",
        "/index.php/login/v2/flow//",
        "/./index.php/login/v2/flow/",
        "/x/../index.php/login/v2/flow/",
        "/INDEX.PHP/Login/V2/Flow/",
        "/%69ndex.php/login/v2/flow/",
        "/index.php/login%2Fv2/flow/",
        "/index.php%2Flogin/v2/flow/",
        "/login/v2/flow/",
        "/nextcloud/index.php/login/v2/flow/",
        "/s/",
        "/setup/",
        "/photos/",
        "/",
    ] {
        for suffix in ["", "/", "//x", "?a=b", ";x"] {
            let path = format!("{prefix}{token}{suffix}");
            let response = app
                .send_raw(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"))
                .await;
            assert!(response.starts_with("HTTP/1.1 "), "{path}: {response}");
            app.send_raw(format!("{token} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"))
                .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_decision_with_the_token_of_the_session_counts() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let (_, foreign) = app.signed_in("bert").await;
    let (flow, other) = (Flow::begin(&app, ANDROID).await, Flow::begin(&app, ANDROID).await);
    let form = flow.form(&browser).await;
    let allow = [("decision", "allow")];
    // None of these counts: a GET, the form of another flow, the form sent to another page, another session, no session, no token,
    // another site.
    browser.open(&format!("{}?decision=allow", flow.page)).await.expect(200);
    browser.submit(&flow.page, &other.form(&browser).await, &allow).await.expect(200);
    let mut moved = form.clone();
    moved.action = other.page.clone();
    browser.submit(&other.page, &moved, &allow).await.expect(403);
    foreign.submit(&flow.page, &form, &allow).await.expect(403);
    app.browser().submit(&flow.page, &form, &allow).await.expect(403);
    browser.submit(&flow.page, &form, &[("csrf", ""), ("decision", "allow")]).await.expect(403);
    let cross_site =
        browser.form_request(&flow.page, &form, &allow).header(header::ORIGIN, "https://evil.example");
    browser.send(cross_site.header("sec-fetch-site", "cross-site")).await.expect(403);
    Flow::check_waiting(&flow.poll(&app).await);
    // A form without a decision changes nothing.
    browser.submit(&flow.page, &form, &[("decision", "")]).await.expect(400);
    Flow::check_waiting(&flow.poll(&app).await);
    browser.submit(&flow.page, &form, &allow).await.expect(200);
    flow.poll(&app).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_device_gets_nothing() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let flow = Flow::begin(&app, ANDROID).await;
    let form = flow.form(&browser).await;
    let page = flow.answer(&browser, "deny").await.expect(200).text();
    assert!(page.contains("The device is not connected"), "{page}");
    Flow::check_waiting(&flow.poll(&app).await);
    browser.open(&flow.page).await.expect(404);
    browser.submit(&flow.page, &form, &[("decision", "allow")]).await.expect(404);
    Flow::check_waiting(&flow.poll(&app).await);
    assert_eq!(listed(&browser).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_counts_once() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let (berts_account, bert) = app.signed_in("bert").await;
    let flow = Flow::begin(&app, ANDROID).await;
    let (form, berts) = (flow.form(&browser).await, flow.form(&bert).await);
    let allow = [("decision", "allow")];
    browser.submit(&flow.page, &form, &allow).await.expect(200);
    let page = browser.submit(&flow.page, &form, &allow).await.expect(200).text();
    assert!(page.contains("The device is connected"), "the second of two clicks: {page}");
    bert.submit(&flow.page, &berts, &allow).await.expect(404);
    bert.submit(&flow.page, &berts, &[("decision", "deny")]).await.expect(404);
    let phone = Device::of(&flow.poll(&app).await.expect(200));
    assert_ne!(phone.user, super::handle_of(&app, &berts_account).await);
    browser.submit(&flow.page, &form, &allow).await.expect(404);
    assert_eq!((listed(&browser).await.len(), listed(&bert).await.len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_link_leads_to_a_page_that_says_so() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    for path in
        ["/index.php/login/v2/flow/", "/index.php/login/v2/flow/unknown", "/index.php/login/v2/flow/a/b"]
    {
        let page = browser.open(path).await.expect(404).text();
        assert!(page.contains("This link is no longer valid"), "{path}: {page}");
        app.browser().open(path).await.expect(404);
    }
    let flow = Flow::begin(&app, ANDROID).await;
    let answer = browser.send(browser.request(Method::PUT, &flow.page)).await.expect(405);
    assert_eq!(answer.header("allow"), Some("GET, HEAD, POST"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_can_switch_to_another_account() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let bert = app.person("bert").await;
    let flow = Flow::begin(&app, ANDROID).await;
    let page = browser.open(&flow.page).await.expect(200).text();
    let sign_out = forms(&page).into_iter().find(|form| form.action == "/sign-out").unwrap();
    let answer = browser.submit(&flow.page, &sign_out, &[]).await.expect(303);
    assert_eq!(answer.header("location"), Some(&*flow.page));
    let browser = browser.signed_in(&bert).await;
    flow.answer(&browser, "allow").await.expect(200);
    let phone = Device::of(&flow.poll(&app).await.expect(200));
    assert_eq!(phone.user, super::handle_of(&app, &bert).await);
}
