use std::time::Duration;

use reqwest::header;
use tests::{
    TestApp,
    oauth::{Authorize, PASSWORD, forms},
};

#[tokio::test(flavor = "multi_thread")]
async fn authorize_shows_sign_in_then_consent() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let path = Authorize::of(&app, &client).path();
    let browser = app.browser();
    let page = browser.open(&path).await.expect(200);
    let form = forms(&page.text()).remove(0);
    assert!(form.fields.contains_key("email") && form.fields.contains_key("password"));
    assert!(page.text().contains("Test app"), "the page names the client");
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    let answer = browser.sign_in(&path, &person, PASSWORD).await.expect(303);
    assert_eq!(answer.header("location"), Some(path.as_str()));
    let page = browser.open(&path).await.expect(200);
    assert!(forms(&page.text())[0].fields.contains_key("attempt"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_a_strict_cookie_and_stored_as_a_hash() {
    for (base_url, name, secure) in
        [(None, "photos_session", false), (Some("https://photos.example.org"), "__Host-photos_session", true)]
    {
        let builder = TestApp::builder();
        let builder = base_url.into_iter().fold(builder, tests::TestAppBuilder::public_base_url);
        let app = builder.start().await;
        let person = app.person("anna").await;
        let browser = app.browser();
        let answer = browser.sign_in("/sign-in", &person, PASSWORD).await.expect(303);
        let cookies: Vec<&str> =
            answer.headers.get_all(header::SET_COOKIE).iter().map(|value| value.to_str().unwrap()).collect();
        let cookie = cookies.iter().find(|cookie| cookie.starts_with(&format!("{name}="))).unwrap();
        for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        assert_eq!(cookie.contains("; Secure"), secure, "{cookie}");
        assert!(!cookie.contains("Domain"), "{cookie}");
        let token = browser.cookie(name).unwrap();
        assert!(!app.is_stored(&token).await);
        assert!(app.is_stored(person.email.as_str()).await, "what is not secret is found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_and_an_unknown_email_look_the_same() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser();
    let form = forms(&browser.open("/sign-in").await.text()).remove(0);
    let mut answers = Vec::new();
    for (email, password) in [
        (person.email.as_str(), "wrong"),
        (person.email.as_str(), ""),
        ("nobody@example.org", PASSWORD),
        ("no address", PASSWORD),
        ("", ""),
    ] {
        let answer =
            browser.submit("/sign-in", &form, &[("email", email), ("password", password)]).await.expect(401);
        assert!(browser.cookie("photos_session").is_none());
        assert!(!answer.text().contains(PASSWORD), "a password is not shown again");
        answers.push(answer.text().contains("The email or password is incorrect."));
    }
    assert!(answers.into_iter().all(|told| told));
    let typed = [("email", "  ANNA@example.org "), ("password", PASSWORD)];
    browser.submit("/sign-in", &form, &typed).await.expect(303);
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords_in_composed_and_decomposed_unicode_sign_in() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let (composed, decomposed) = ("gr\u{fc}ne \u{e9}t\u{e9}s", "gru\u{308}ne\u{a0}e\u{301}te\u{301}s");
    for (set, typed) in [(composed, decomposed), (decomposed, composed), (decomposed, decomposed)] {
        app.library.accounts.set_password(&person.email, Some(set.to_owned())).await.unwrap();
        app.browser().sign_in("/sign-in", &person, typed).await.expect(303);
        app.browser().sign_in("/sign-in", &person, "grune etes").await.expect(401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_failures_lock_the_email_at_the_address_for_15_minutes() {
    let app = TestApp::start().await;
    let (anna, bert) = (app.person("anna").await, app.person("bert").await);
    let browser = app.browser();
    for _ in 0..10 {
        browser.sign_in("/sign-in", &anna, "wrong").await.expect(401);
    }
    for password in ["wrong", PASSWORD] {
        let answer = browser.sign_in("/sign-in", &anna, password).await.expect(429);
        let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=900).contains(&wait), "{wait}");
    }
    app.browser().sign_in("/sign-in", &bert, PASSWORD).await.expect(303);
    app.advance(Duration::from_secs(15 * 60 + 1));
    browser.sign_in("/sign-in", &anna, PASSWORD).await.expect(303);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_failures_lock_an_address() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser();
    let form = forms(&browser.open("/sign-in").await.text()).remove(0);
    for n in 0..100 {
        let email = format!("someone{n}@example.org");
        browser.submit("/sign-in", &form, &[("email", &email), ("password", "x")]).await.expect(401);
    }
    browser.sign_in("/sign-in", &person, PASSWORD).await.expect(429);
    app.advance(Duration::from_secs(15 * 60 + 1));
    browser.sign_in("/sign-in", &person, PASSWORD).await.expect(303);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_wrong_passwords_do_not_exceed_the_limit() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser();
    let form = forms(&browser.open("/sign-in").await.text()).remove(0);
    let filled = [("email", person.email.as_str()), ("password", "wrong")];
    let guess = || browser.submit("/sign-in", &form, &filled);
    let answers = futures_util::future::join_all((0..30).map(|_| guess())).await;
    let wrong = answers.iter().filter(|answer| answer.status == 401).count();
    let locked = answers.iter().filter(|answer| answer.status == 429).count();
    assert_eq!((wrong, locked), (10, 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_successful_sign_ins_do_not_lock_out() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser();
    let form = forms(&browser.open("/sign-in").await.text()).remove(0);
    let filled = [("email", person.email.as_str()), ("password", PASSWORD)];
    let sign_in = || browser.submit("/sign-in", &form, &filled);
    let answers = futures_util::future::join_all((0..25).map(|_| sign_in())).await;
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [303; 25]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_in_returns_to_the_authorization_request() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let path = Authorize::of(&app, &client).without("state").path();
    for state in [&"x".repeat(20_000), "a\\b", "%5C%00%0D%0A%E2%80%AE", "'~|`{}^[]"] {
        let path = format!("{path}&state={state}");
        let browser = app.browser();
        let answer = browser.sign_in(&path, &person, PASSWORD).await.expect(303);
        let on = answer.header("location").unwrap().to_owned();
        assert!(on.starts_with("/api/oauth/authorize?"), "{on}");
        let form = forms(&browser.open(&on).await.expect(200).text()).remove(0);
        let answer = browser.submit(&on, &form, &[("decision", "allow")]).await.expect(303);
        let expect =
            url::form_urlencoded::parse(format!("state={state}").as_bytes()).next().unwrap().1.into_owned();
        assert_eq!(answer.redirected("state"), Some(expect));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_form_is_bound_to_its_browser() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser();
    let form = forms(&browser.open("/sign-in").await.text()).remove(0);
    let filled = [("email", person.email.as_str()), ("password", PASSWORD)];
    app.browser().submit("/sign-in", &form, &filled).await.expect(403);
    let mut without = form.clone();
    without.fields.remove("csrf");
    browser.submit("/sign-in", &without, &filled).await.expect(403);
    let foreign =
        browser.form_request("/sign-in", &form, &filled).header(header::ORIGIN, "https://evil.example");
    browser.send(foreign).await.expect(403);
    browser.submit("/sign-in", &form, &filled).await.expect(303);
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_in_returns_only_to_paths_of_the_service() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    for (asked, expect) in [
        ("/account", "/account"),
        ("//evil.example", "/"),
        ("/%5Cevil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/a%0d%0ax:%20y", "/"),
        ("", "/"),
    ] {
        let path = format!("/sign-in?return_to={asked}");
        let answer = app.browser().sign_in(&path, &person, PASSWORD).await.expect(303);
        assert_eq!(answer.header("location"), Some(expect), "{asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_by_sign_out_new_password_or_age() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let path = Authorize::of(&app, &client).path();
    let asks_for_password = async |browser: &tests::oauth::Browser<'_>| {
        browser.open(&path).await.text().contains("name=\"password\"")
    };

    let browser = app.browser().signed_in(&person).await;
    let kept = browser.cookie("photos_session").unwrap();
    let page = browser.open(&path).await;
    let sign_out = forms(&page.text()).into_iter().find(|form| form.action == "/sign-out").unwrap();
    let mut without = sign_out.clone();
    without.fields.remove("csrf");
    browser.submit(&path, &without, &[]).await.expect(403);
    let answer = browser.submit(&path, &sign_out, &[]).await.expect(303);
    assert_eq!(answer.header("location"), Some(path.as_str()));
    browser.set_cookie("photos_session", &kept);
    assert!(asks_for_password(&browser).await, "the session ended in the store, not only in the browser");

    let browser = app.browser().signed_in(&person).await;
    app.other_process().await.accounts.set_password(&person.email, Some("another".to_owned())).await.unwrap();
    assert!(asks_for_password(&browser).await);

    app.library.accounts.set_password(&person.email, Some(PASSWORD.to_owned())).await.unwrap();
    let browser = app.browser().signed_in(&person).await;
    app.advance(Duration::from_secs(29 * 86_400));
    assert!(!asks_for_password(&browser).await);
    app.advance(Duration::from_secs(31 * 86_400));
    assert!(asks_for_password(&browser).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_without_its_token_is_403() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let request = Authorize::of(&app, &client);
    let form = "application/x-www-form-urlencoded";
    let long = format!("email={}", "x".repeat(100_000));
    for browser in [app.browser(), app.browser().signed_in(&person).await] {
        for path in [
            "/sign-in",
            "/sign-out",
            "/setup?token=x",
            "/account/apps/disconnect",
            "/account/keys/create",
            "/account/keys/revoke",
            "/account/password",
            "/account/sessions/end",
            "/account/sign-out-everywhere",
            "/account/delete",
            &request.path(),
            "/api/oauth/authorize",
            &request.clone().with("scope", "unknown").path(),
        ] {
            for (content_type, body) in [
                (form, "email=a&password=b&decision=allow"),
                (form, "email=a&email=b&csrf=x&csrf=x"),
                (form, ""),
                (form, long.as_str()),
                ("application/json", "{}"),
                ("multipart/form-data; boundary=x", "--x--"),
                ("text/plain", "csrf=x"),
                ("", "csrf=x"),
            ] {
                let request =
                    browser.request(reqwest::Method::POST, path).header("content-type", content_type);
                let answer = app.send(request.body(body.to_owned())).await;
                assert_eq!(answer.status, 403, "{path} {content_type}: {body:.40}");
            }
            let request = browser.request(reqwest::Method::POST, path).header("content-type", form);
            let answer = app.send(request.header("content-encoding", "gzip").body("csrf=x")).await;
            assert_eq!(answer.status, 403, "{path} compressed");
        }
    }
}
