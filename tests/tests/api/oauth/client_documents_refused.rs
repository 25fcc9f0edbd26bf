//! Documents that are not fetched or are refused: always a page of this service, never a redirect.

use std::time::{Duration, Instant};

use client_documents::Options;
use serde_json::json;
use tests::{
    TestApp, TestResponse,
    oauth::{Authorize, DocumentHost, OauthClient},
};
use web::RateLimit;

const CALLBACK: &str = "https://app.example/callback";

async fn start_with(change: impl FnOnce(&mut Options)) -> (TestApp, DocumentHost) {
    let host = DocumentHost::start().await;
    let mut options = host.options();
    change(&mut options);
    (TestApp::builder().client_documents(options).start().await, host)
}

/// The response to a request of that client, which must not be a redirect.
async fn authorize(app: &TestApp, client_id: &str) -> TestResponse {
    let client = OauthClient { id: client_id.to_owned(), secret: None, redirect_uri: CALLBACK.to_owned() };
    let answer = app.browser().open(&Authorize::of(app, &client).path()).await;
    assert!(answer.header("location").is_none(), "{client_id}");
    assert!(answer.header("content-type").unwrap().starts_with("text/html"), "{client_id}");
    answer
}

/// Checks that the request is refused with these words.
async fn check_refused(app: &TestApp, client_id: &str, words: &str) {
    let page = authorize(app, client_id).await.expect(400);
    assert!(page.text().contains(words), "{client_id}: {}", page.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_client_url_is_not_fetched() {
    let (app, host) = start_with(|_| {}).await;
    for (client_id, words) in [
        ("http://app.example/client.json", "does not begin with https://"),
        ("HTTPS://app.example/client.json", "does not begin with https://"),
        ("https:app.example/client.json", "does not begin with https://"),
        ("https://app.example", "no path"),
        ("https://app.example/", "no path"),
        ("https://app.example/client.json#", "fragment"),
        ("https://user@app.example/client.json", "has a user name"),
        ("https://user:word@app.example/client.json", "has a user name"),
        ("https://app.example/a/../client.json", "dot segment"),
        ("https://app.example/./client.json", "dot segment"),
        ("https://app.example/%2e%2E/client.json", "dot segment"),
        ("https://APP.example/client.json", "normal form"),
        ("https://app.example:443/client.json", "normal form"),
        ("https://app.example\\client.json", "no path"),
        ("https://app.example./client.json", "ends in a dot"),
        ("https://127.0.0.1/client.json", "an IP address instead of a name"),
        ("https://93.184.216.34/client.json", "an IP address instead of a name"),
        ("https://[::1]/client.json", "an IP address instead of a name"),
        ("https://2130706433/client.json", "an IP address instead of a name"),
        ("https://app.example/client json", "character"),
    ] {
        check_refused(&app, client_id, words).await;
    }
    let long = format!("https://app.example/{}", "x".repeat(2000));
    check_refused(&app, &long, "2,000").await;
    check_refused(&app, "ftp://app.example/client.json", "does not know the app").await;
    assert_eq!((host.lookups(), host.dials().len()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn internal_addresses_are_not_dialled_and_give_the_page_of_unreachable_hosts() {
    let (app, host) = start_with(|_| {}).await;
    let inside: [&[&str]; 16] = [
        &["127.0.0.1"],
        &["::1"],
        &["10.0.0.1"],
        &["192.168.1.1"],
        &["172.16.0.1"],
        &["100.64.0.1"],
        &["169.254.169.254"],
        &["0.0.0.0"],
        &["fd00:ec2::254"],
        &["fe80::1"],
        &["::ffff:10.0.0.1"],
        &["64:ff9b::a00:1"],
        &["2002:a00:1::1"],
        &["93.184.216.34", "10.0.0.1"],
        &["10.0.0.1", "93.184.216.34"],
        &["2606:2800:220:1::1", "::1"],
    ];
    let mut pages = vec![authorize(&app, "https://nowhere.example/a").await.expect(400).text()];
    for (number, addresses) in inside.into_iter().enumerate() {
        let name = format!("inside{number}.example");
        host.resolve_to(&name, addresses);
        pages.push(authorize(&app, &format!("https://{name}/a")).await.expect(400).text());
    }
    host.resolve_to("empty.example", &[]);
    pages.push(authorize(&app, "https://empty.example/a").await.expect(400).text());
    assert_eq!(host.dials(), []);
    host.set_down(true);
    pages.push(authorize(&app, &host.client_id("/a")).await.expect(400).text());
    assert!(pages[0].contains("cannot be reached on the internet"), "{}", pages[0]);
    pages.dedup();
    assert_eq!(pages.len(), 1, "{pages:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_short_json_document_with_200_is_accepted() {
    let (app, host) = start_with(|_| {}).await;
    let head = |status: &str, more: &str| {
        format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{more}\r\n")
    };
    let large = "x".repeat(32 * 1024);
    let chunked =
        format!("{}9000\r\n{}", head("200 OK", "transfer-encoding: chunked\r\n"), "x".repeat(0x9000));
    let endless_head = format!("HTTP/1.1 200 OK\r\nx: {}", "x".repeat(64 * 1024));
    let many_lines = head("200 OK", &"x: y\r\n".repeat(200));
    let location = "location: https://app.example/other\r\n";
    let answers = [
        ("/moved", head("301 Moved Permanently", location), "it redirects to another address"),
        ("/found", head("302 Found", location), "it redirects to another address"),
        ("/temporary", head("307 Temporary Redirect", location), "it redirects to another address"),
        ("/created", head("201 Created", "content-length: 0\r\n"), "did not respond with 200 OK"),
        ("/broken", head("500 Internal Server Error", ""), "did not respond with 200 OK"),
        ("/announced", head("200 OK", "content-length: 32769\r\n"), "longer than 32 KB"),
        ("/unannounced", format!("{}{large}x", head("200 OK", "")), "longer than 32 KB"),
        ("/chunked", chunked, "longer than 32 KB"),
        ("/cut-off", head("200 OK", "content-length: 10\r\n"), "it was cut off"),
        ("/compressed", head("200 OK", "content-encoding: gzip\r\n"), "compressed"),
        ("/old", "<html></html>".to_owned(), "did not send a valid HTTP response"),
        ("/endless-head", endless_head, "did not send a valid HTTP response"),
        ("/many-lines", many_lines, "did not send a valid HTTP response"),
        ("/silent", String::new(), "did not send a valid HTTP response"),
    ];
    for (path, answer, words) in answers {
        host.put_raw(path, answer);
        check_refused(&app, &host.client_id(path), words).await;
    }
    check_refused(&app, &host.client_id("/missing"), "did not respond with 200 OK").await;
    for content_type in ["text/html", "text/json", "application/jsonp"] {
        let path = format!("/{content_type}");
        host.put(&path, content_type, "", "{}");
        check_refused(&app, &host.client_id(&path), "Content-Type is not application/json").await;
    }
    // No redirect was followed.
    assert!(host.heads().iter().all(|head| !head.contains("/other")));
    // A document of exactly the maximum length is accepted.
    let client_id = host.client_id("/longest");
    let uri = format!(r#"{{"client_id":"{client_id}","redirect_uris":["{CALLBACK}"],"x":""#);
    host.put("/longest", "application/oauth+json", "", &format!("{uri}{}\"}}", &large[uri.len() + 2..]));
    authorize(&app, &client_id).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_must_contain_its_url_and_no_secret() {
    let (app, host) = start_with(|_| {}).await;
    let good = json!({"client_id": host.client_id("/good"), "redirect_uris": [CALLBACK]});
    let changed = |path: &str, name: &str, value: serde_json::Value| {
        let mut document = good.clone();
        document["client_id"] = host.client_id(path).into();
        document[name] = value;
        document.to_string()
    };
    for (path, document, words) in [
        ("/another", good.to_string(), "client_id is not the URL"),
        (
            "/slash",
            changed("/slash", "client_id", host.client_id("/slash/").into()),
            "client_id is not the URL",
        ),
        ("/none", "{}".to_owned(), "client_id is missing"),
        ("/list", "[]".to_owned(), "not a JSON object"),
        ("/html", "<html>".to_owned(), "not JSON"),
        ("/twice", r#"{"client_id":"a","client_id":"b"}"#.to_owned(), "more than once"),
        ("/secret", changed("/secret", "client_secret", json!("x")), "contains a client_secret,"),
        (
            "/basic",
            changed("/basic", "token_endpoint_auth_method", json!("client_secret_basic")),
            "is not none",
        ),
        (
            "/key",
            changed("/key", "token_endpoint_auth_method", json!("private_key_jwt")),
            "neither jwks nor jwks_uri",
        ),
        (
            "/script",
            changed("/script", "redirect_uris", json!(["javascript:alert(1)"])),
            "redirect_uris[0] is refused",
        ),
        (
            "/plain",
            changed("/plain", "redirect_uris", json!(["http://app.example/"])),
            "redirect_uris[0] is refused",
        ),
        ("/nowhere", changed("/nowhere", "redirect_uris", json!([])), "1 to 20"),
        (
            "/elsewhere",
            changed("/elsewhere", "redirect_uris", json!(["https://app.example/x"])),
            "did not register",
        ),
    ] {
        host.put(path, "application/json", "", &document);
        check_refused(&app, &host.client_id(path), words).await;
    }
    host.put("/good", "application/json", "", &good.to_string());
    authorize(&app, &host.client_id("/good")).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_cached_for_half_a_minute() {
    let (app, host) = start_with(|_| {}).await;
    let client_id = host.client_id("/a");
    let document = json!({"client_id": client_id, "redirect_uris": [CALLBACK]}).to_string();
    let kept = "cache-control: max-age=86400\r\n";
    let bad = [
        format!("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n{kept}\r\n"),
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n{kept}\r\n{{}}"),
    ];
    for (number, bad) in (0..).zip(bad) {
        let fetches = |more: usize| assert_eq!(host.heads().len(), 2 * number + more);
        host.put_raw("/a", bad);
        authorize(&app, &client_id).await.expect(400);
        host.put("/a", "application/json", "cache-control: no-store\r\n", &document);
        app.advance(Duration::from_secs(29));
        authorize(&app, &client_id).await.expect(400);
        fetches(1);
        app.advance(Duration::from_secs(1));
        authorize(&app, &client_id).await.expect(200);
        fetches(2);
        app.advance(Duration::from_secs(60));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_host_times_out() {
    let (app, host) = start_with(|options| options.timeout = Duration::from_millis(400)).await;
    host.describe("/slow", json!({"redirect_uris": [CALLBACK]}));
    host.delay("/slow", Duration::from_secs(20));
    let started = Instant::now();
    check_refused(&app, &host.client_id("/slow"), "took too long").await;
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_needs_a_valid_certificate() {
    let (app, host) = start_with(|_| {}).await;
    check_refused(&app, "https://impostor.example/a", "cannot be reached").await;
    assert_eq!((host.dials().len(), host.heads().len()), (1, 0), "no request was sent");
    let (app, host) = start_with(|options| options.roots = client_documents::Roots::WebPki).await;
    check_refused(&app, &host.client_id("/a"), "cannot be reached").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fetches_are_limited_per_address_and_cached_documents_are_not() {
    let host = DocumentHost::start().await;
    let limit = RateLimit { burst: 2, per_minute: 6 };
    let app = TestApp::builder()
        .client_documents(host.options())
        .oauth_limits(|limits| limits.client_documents = limit)
        .start()
        .await;
    let good = host.describe("/good", json!({"redirect_uris": [CALLBACK]})).id;
    authorize(&app, &good).await.expect(200);
    authorize(&app, &host.client_id("/1")).await.expect(400);
    let waits = authorize(&app, &host.client_id("/2")).await.expect(429);
    assert_eq!(waits.header("retry-after"), Some("10"));
    assert_eq!(host.heads().len(), 2);
    authorize(&app, &good).await.expect(200);
    authorize(&app, &host.client_id("/1")).await.expect(400);
    authorize(&app, "https://app.example").await.expect(400);
    app.advance(Duration::from_secs(10));
    authorize(&app, &host.client_id("/2")).await.expect(400);
    assert_eq!(host.heads().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_fetches_are_limited() {
    let (app, host) = start_with(|options| options.max_concurrent = 1).await;
    let [slow, other] =
        ["/slow", "/other"].map(|path| host.describe(path, json!({"redirect_uris": [CALLBACK]})).id);
    host.delay("/slow", Duration::from_secs(1));
    let late = async {
        while host.heads().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        authorize(&app, &other).await
    };
    let (first, second) = tokio::join!(authorize(&app, &slow), late);
    first.expect(200);
    assert_eq!(second.expect(503).header("retry-after"), Some("5"));
    authorize(&app, &other).await.expect(200);
}
