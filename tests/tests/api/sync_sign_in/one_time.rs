use std::time::Duration;

use domain::KeyName;
use reqwest::Method;
use tests::{
    TestAccount, TestApp, TestResponse,
    oauth::{PASSWORD, forms},
};

use super::{ANDROID, Device, Flow, handle_of, listed};

const EXCHANGE: &str = "/ocs/v2.php/core/getapppassword-onetime";

async fn token(app: &TestApp, account: &TestAccount) -> String {
    let device = KeyName::parse("Anna's phone").unwrap();
    app.library.accounts.create_one_time_login(account.id, &device).await.unwrap().token
}

async fn exchange(app: &TestApp, path: &str, user: &str, token: &str) -> TestResponse {
    app.send(app.request(Method::GET, path).basic_auth(user, Some(token))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_one_time_login_is_exchanged_once() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (user, token) = (handle_of(&app, &anna).await, token(&app, &anna).await);
    assert_eq!(Device { user: user.clone(), password: token.clone() }.status(&app).await, 401);
    let head = app.request(Method::HEAD, EXCHANGE).basic_auth(&user, Some(&token));
    assert_eq!(app.send(head).await.expect(405).header("allow"), Some("GET"));
    let xml = exchange(&app, EXCHANGE, &user, &token).await.expect(200);
    assert_eq!(xml.header("content-type"), Some("application/xml; charset=utf-8"));
    let text = xml.text();
    let password = text.split_once("<apppassword>").unwrap().1.split('<').next().unwrap().to_owned();
    assert!(text.contains("<statuscode>200</statuscode>"), "{text}");
    let phone = Device { user: user.clone(), password };
    assert_eq!(phone.status(&app).await, 200);
    assert_eq!(listed(&browser).await, ["Anna's phone"]);
    exchange(&app, EXCHANGE, &user, &token).await.expect(401);
    assert_eq!(listed(&browser).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_sent_on_request() {
    let app = TestApp::start().await;
    let (anna, _) = app.signed_in("anna").await;
    let token = token(&app, &anna).await;
    let answer =
        exchange(&app, &format!("{EXCHANGE}?format=json"), "anna@example.org", &token).await.expect(200);
    let password = answer.json["ocs"]["data"]["apppassword"].as_str().unwrap().to_owned();
    assert_eq!(Device { user: "anna@example.org".to_owned(), password }.status(&app).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn unused_codes_and_confirmed_flows_end_with_the_sessions() {
    let app = TestApp::start().await;
    for (name, action) in [
        ("anna", "/account/password"),
        ("bert", "/account/sign-out-everywhere"),
        ("carl", "/account/delete"),
        ("dora", "set-password"),
    ] {
        let (person, browser) = app.signed_in(name).await;
        app.browser().signed_in(&person).await;
        let user = handle_of(&app, &person).await;
        let (used, unused) = (token(&app, &person).await, token(&app, &person).await);
        exchange(&app, EXCHANGE, &user, &used).await.expect(200);
        let (waiting, confirmed) = (Flow::begin(&app, ANDROID).await, Flow::begin(&app, ANDROID).await);
        let allowed = confirmed.form(&browser).await;
        browser.submit(&confirmed.page, &allowed, &[("decision", "allow")]).await.expect(200);
        if action == "set-password" {
            let email = format!("{name}@example.org").parse().unwrap();
            app.library.accounts.set_password(&email, Some("another password".to_owned())).await.unwrap();
        } else {
            let page = browser.open("/account").await.expect(200);
            let form = forms(&page.text()).into_iter().find(|form| form.action == action).unwrap();
            let fields =
                [("current", PASSWORD), ("new", "another password"), ("password", PASSWORD), ("sure", "yes")];
            let done = browser.submit("/account", &form, &fields).await;
            assert!([200, 303].contains(&done.status), "{action}: {}", done.text());
        }
        exchange(&app, EXCHANGE, &user, &unused).await.expect(401);
        Flow::check_waiting(&confirmed.poll(&app).await);
        // A login flow without a decision can still be confirmed.
        if action == "/account/password" {
            let form = waiting.form(&browser).await;
            browser.submit(&waiting.page, &form, &[("decision", "allow")]).await.expect(200);
            waiting.poll(&app).await.expect(200);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_one_time_login_expires_after_ten_minutes_and_belongs_to_its_account() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let user = handle_of(&app, &anna).await;
    let (late, quick) = (token(&app, &anna).await, token(&app, &anna).await);
    app.advance(Duration::from_secs(10 * 60 - 1));
    exchange(&app, EXCHANGE, &user, &quick).await.expect(200);
    app.advance(Duration::from_secs(1));
    exchange(&app, EXCHANGE, &user, &late).await.expect(401);

    let berts = handle_of(&app, &app.person("bert").await).await;
    let stolen = token(&app, &anna).await;
    exchange(&app, EXCHANGE, &berts, &stolen).await.expect(401);
    exchange(&app, EXCHANGE, &user, "unknown").await.expect(401);
    app.fetch(EXCHANGE).await.expect(401);
    assert_eq!(listed(&browser).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_one_time_login_cannot_be_polled_and_the_token_of_a_flow_cannot_be_exchanged() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (user, token) = (handle_of(&app, &anna).await, token(&app, &anna).await);
    let poll = app.request(Method::POST, "/index.php/login/v2/poll").form(&[("token", &token)]);
    app.send(poll).await.expect(404);
    let flow = Flow::begin(&app, ANDROID).await;
    flow.answer(&browser, "allow").await.expect(200);
    exchange(&app, EXCHANGE, &user, &flow.token).await.expect(401);
    flow.poll(&app).await.expect(200);
    exchange(&app, EXCHANGE, &user, &token).await.expect(200);
}
