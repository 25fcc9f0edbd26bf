use std::time::Duration;

use reqwest::header;
use serde_json::json;
use tests::{
    TestApp,
    oauth::{Authorize, OauthClient, forms},
};
use web::ServiceLinks;

#[tokio::test(flavor = "multi_thread")]
async fn the_form_shows_client_scopes_and_redirect_host() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client =
        app.client_with(&["https://app.example:8443/cb"], json!({"client_name": "Photo <b>Pal</b>"})).await;
    let browser = app.browser().signed_in(&person).await;
    let page = browser.open(&Authorize::of(&app, &client).path()).await.expect(200);
    let text = page.text();
    for words in [
        "Photo &lt;b&gt;Pal&lt;/b&gt;",
        "app.example:8443",
        "/api/mcp/v1",
        "anna@example.org",
        "organise them into albums",
        "name=\"decision\" value=\"allow\"",
        "name=\"decision\" value=\"deny\"",
    ] {
        assert!(text.contains(words), "{words} is missing in {text}");
    }
    assert!(!text.contains("<b>Pal"), "names are escaped");
    assert!(!text.contains("<script"), "no script");
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert_eq!(page.header("access-control-allow-origin"), None, "other origins cannot read pages");
    let policy = page.header("content-security-policy").unwrap();
    for directive in
        ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self' https://app.example:8443"]
    {
        assert!(policy.contains(directive), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_csp_allows_the_redirect_after_consent() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser().signed_in(&person).await;
    for (uri, source) in [
        ("https://app.example/cb", "form-action 'self' https://app.example https:"),
        ("http://127.0.0.1:33418/", "form-action 'self' http://127.0.0.1:33418"),
        ("http://localhost:8787/cb", "form-action 'self' http://localhost:8787"),
        ("http://[::1]:7/cb", "form-action 'self' http:"),
        ("cursor://anysphere.cursor-mcp/cb", "form-action 'self' cursor:"),
    ] {
        let client = app.client_with(&[uri], json!({})).await;
        let page = browser.open(&Authorize::of(&app, &client).path()).await.expect(200);
        assert!(page.header("content-security-policy").unwrap().contains(source), "{uri}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_to_the_device_shows_a_warning() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser().signed_in(&person).await;
    for (uris, warned) in [
        (&["http://127.0.0.1:1/", "http://localhost:2/"][..], true),
        (&["http://127.0.0.1:1/", "https://app.example/"], true),
        (&["https://localhost/", "https://app.example/"], true),
        (&["cursor://anysphere.cursor-mcp/cb", "https://app.example/"], true),
        (&["com.example.app:/cb"], true),
        (&["https://app.example/", "http://127.0.0.1:1/", "cursor://cb"], false),
    ] {
        let client = app.client_with(uris, json!({})).await;
        let page = browser.open(&Authorize::of(&app, &client).path()).await.expect(200);
        assert_eq!(page.text().contains("class=\"notice warn\""), warned, "{uris:?}");
        assert_eq!(page.text().contains("any program can use its name"), warned, "{uris:?}");
    }
}

/// The text of the most prominent elements of a page.
fn prominent_text(page: &str) -> String {
    let parts = ["<h1>", "<strong>", "<title>", "<p class=\"asks\">"].map(|open| {
        let close = format!("</{}>", open[1..].split([' ', '>']).next().unwrap());
        let parts = page.split(open).skip(1);
        parts.map(|rest| rest.split(&close).next().unwrap().to_owned()).collect::<Vec<_>>().join("\n")
    });
    parts.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn client_names_are_marked_as_not_verified_and_not_prominent() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let name = "Your bank at app.bank.example";
    for (uri, host) in [
        ("https://evil.example:8443/cb", "evil.example:8443"),
        ("http://127.0.0.1:33418/cb", "127.0.0.1:33418"),
        ("photo-pal://oauth/cb", "photo-pal:"),
    ] {
        let client = app.client_with(&[uri], json!({"client_name": name})).await;
        let browser = app.browser();
        let path = Authorize::of(&app, &client).path();
        let sign_in = browser.open(&path).await.expect(200).text();
        let browser = browser.signed_in(&person).await;
        let consent = browser.open(&path).await.expect(200).text();
        for (page, text) in [("sign-in", &sign_in), ("consent", &consent)] {
            assert!(text.contains(&format!("“{name}”")), "the name is quoted on {page}: {text}");
            assert!(text.contains("Name (not verified)"), "{page}: {text}");
            let prominent = prominent_text(text);
            assert!(!prominent.contains("bank"), "{page}: {prominent}");
            let place = if uri.starts_with("https:") { host } else { "an app on this device" };
            assert!(prominent.to_lowercase().contains(place), "{page}: {prominent}");
        }
        assert!(consent.contains(host), "{consent}");
        assert!(consent.contains("not verified"), "{consent}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connected_apps_are_listed_with_their_redirect_host() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser().signed_in(&person).await;
    let uris = ["https://app.example:8443/cb", "http://localhost:8787/cb", "photo-pal://oauth/cb"];
    let client = app.client_with(&uris, json!({})).await;
    for (uri, place) in uris.into_iter().zip(["app.example:8443", "localhost:8787", "photo-pal:"]) {
        let before = browser.open("/account").await.expect(200).text();
        assert!(!before.contains(place), "{before}");
        let client = OauthClient { redirect_uri: uri.to_owned(), ..client.clone() };
        app.tokens(&client, &person).await;
        let after = browser.open("/account").await.expect(200).text();
        assert!(after.contains(place), "{after}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_names_cannot_change_the_text_direction() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser().signed_in(&person).await;
    let name = "Good\u{202e}live\u{2066}\u{200b}\nApp";
    let client = app.client_with(&["https://app.example/callback"], json!({"client_name": name})).await;
    let text = browser.open(&Authorize::of(&app, &client).path()).await.expect(200).text();
    assert!(text.contains("GoodliveApp"));
    assert!(!text.contains(['\u{202e}', '\u{2066}', '\u{200b}']));
}

#[tokio::test(flavor = "multi_thread")]
async fn allow_redirects_with_code_state_and_issuer() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let browser = app.browser().signed_in(&person).await;
    let answer = browser.allow(&Authorize::of(&app, &client)).await;
    assert_eq!(answer.status, 303);
    assert!(answer.header("location").unwrap().starts_with("https://app.example/callback?"));
    assert_eq!(answer.redirected("state").as_deref(), Some("a state/with+odd &characters"));
    assert_eq!(answer.redirected("iss"), Some(format!("{}/api", app.base_url)));
    assert!(answer.code().len() >= 43);
}

#[tokio::test(flavor = "multi_thread")]
async fn deny_redirects_with_access_denied_and_no_code() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let browser = app.browser().signed_in(&person).await;
    let answer = browser.decide(&Authorize::of(&app, &client), "deny").await.expect(303);
    assert_eq!(answer.redirected("error").as_deref(), Some("access_denied"));
    assert_eq!(answer.redirected("state").as_deref(), Some("a state/with+odd &characters"));
    assert_eq!(answer.redirected("iss"), Some(format!("{}/api", app.base_url)));
    assert_eq!(answer.redirected("code"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn consent_is_required_every_time() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let browser = app.browser().signed_in(&person).await;
    for _ in 0..2 {
        let page = browser.open(&Authorize::of(&app, &client).path()).await.expect(200);
        assert!(forms(&page.text())[0].fields.contains_key("attempt"));
        browser.allow(&Authorize::of(&app, &client)).await.code();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_bound_to_its_session_and_request() {
    let app = TestApp::start().await;
    let (anna, bert) = (app.person("anna").await, app.person("bert").await);
    let client = app.public_client().await;
    let request = Authorize::of(&app, &client);
    let path = request.path();
    let browser = app.browser().signed_in(&anna).await;
    let form = forms(&browser.open(&path).await.text()).remove(0);
    let allow = [("decision", "allow")];

    let mut without = form.clone();
    without.fields.remove("csrf");
    browser.submit(&path, &without, &allow).await.expect(403);
    browser.submit(&path, &form, &[("decision", "allow"), ("csrf", "")]).await.expect(403);
    browser.submit(&path, &form, &[("decision", "allow"), ("csrf", "x")]).await.expect(403);
    browser.submit(&path, &form, &[("decision", "allow"), ("attempt", "x.1717243200")]).await.expect(403);

    let other_session = app.browser().signed_in(&anna).await;
    other_session.submit(&path, &form, &allow).await.expect(403);
    app.browser().signed_in(&bert).await.submit(&path, &form, &allow).await.expect(403);
    app.browser().submit(&path, &form, &allow).await.expect(403);

    let mut elsewhere = form.clone();
    elsewhere.action = request.clone().with("state", "other").path();
    browser.submit(&path, &elsewhere, &allow).await.expect(403);
    elsewhere.action = request.with("scope", "mcp:images").path();
    browser.submit(&path, &elsewhere, &allow).await.expect(403);

    let foreign = browser.form_request(&path, &form, &allow).header(header::ORIGIN, "https://evil.example");
    browser.send(foreign).await.expect(403);
    let cross_site = browser.form_request(&path, &form, &allow).header("sec-fetch-site", "cross-site");
    browser.send(cross_site).await.expect(403);

    browser.submit(&path, &form, &allow).await.expect(303).code();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_form_is_refused() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let path = Authorize::of(&app, &client).path();
    let browser = app.browser().signed_in(&person).await;
    let form = forms(&browser.open(&path).await.text()).remove(0);
    app.advance(Duration::from_secs(3_601));
    browser.submit(&path, &form, &[("decision", "allow")]).await.expect(403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_double_click_gives_one_code_and_one_grant() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let path = Authorize::of(&app, &client).path();
    let browser = app.browser().signed_in(&person).await;
    let form = forms(&browser.open(&path).await.text()).remove(0);
    let allow = [("decision", "allow")];
    let (one, two) = tokio::join!(browser.submit(&path, &form, &allow), browser.submit(&path, &form, &allow));
    let code = one.expect(303).code();
    assert_eq!(code, two.expect(303).code());
    app.redeem(&client, &code).await.expect(200);
    let third = browser.submit(&path, &form, &allow).await;
    assert_eq!(third.status, 409, "the code was used");
    assert!(third.header("location").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_user_cannot_consent() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let path = Authorize::of(&app, &client).path();
    let browser = app.browser().signed_in(&person).await;
    let form = forms(&browser.open(&path).await.text()).remove(0);
    app.other_process().await.accounts.delete_account(person.id).await.unwrap();
    browser.submit(&path, &form, &[("decision", "allow")]).await.expect(403);
    let page = browser.open(&path).await.expect(200);
    assert!(forms(&page.text())[0].fields.contains_key("password"), "sign-in is required again");
}

#[tokio::test(flavor = "multi_thread")]
async fn links_to_the_service_are_shown_and_announced() {
    let page = async |links: ServiceLinks| {
        let app = TestApp::builder().links(links).start().await;
        let person = app.person("anna").await;
        let client = app.public_client().await;
        let browser = app.browser().signed_in(&person).await;
        let page = browser.open(&Authorize::of(&app, &client).path()).await.expect(200).text();
        (page, app.fetch("/.well-known/oauth-authorization-server/api").await.expect(200).json)
    };
    let names = ["op_policy_uri", "op_tos_uri", "service_documentation"];
    let (text, metadata) = page(ServiceLinks::default()).await;
    assert!(!text.contains("class=\"hint links\"") && !text.contains("target=\"_blank\""), "{text}");
    assert!(names.iter().all(|name| metadata.get(name).is_none()), "{metadata}");

    let url = |path: &str| Some(format!("https://photos.example.org/{path}?a=b&c=d"));
    let links = ServiceLinks { policy: url("privacy"), terms: url("terms"), support: url("help") };
    let (text, metadata) = page(links).await;
    let expect = [("privacy", "Privacy policy"), ("terms", "Terms of service"), ("help", "Support")];
    for ((path, words), name) in expect.into_iter().zip(names) {
        let link = format!(
            "<a href=\"https://photos.example.org/{path}?a=b&amp;c=d\" target=\"_blank\" \
             rel=\"noopener noreferrer\">{words}</a>"
        );
        assert!(text.contains(&link), "{link} is missing in {text}");
        assert_eq!(metadata[name].as_str(), url(path).as_deref());
    }
    // Only one of them.
    let (text, metadata) = page(ServiceLinks { terms: url("terms"), ..ServiceLinks::default() }).await;
    assert!(text.contains("Terms of service</a>") && !text.contains("Privacy policy"), "{text}");
    assert!(metadata.get("op_policy_uri").is_none() && metadata.get("op_tos_uri").is_some(), "{metadata}");
}
