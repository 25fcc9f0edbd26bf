//! Clients with a metadata document at their `client_id`.

use std::{net::SocketAddr, time::Duration};

use reqwest::Method;
use serde_json::json;
use tests::{
    TestApp, TestResponse,
    oauth::{Authorize, DocumentHost, OauthClient, PASSWORD, PUBLIC_ADDRESS, Tokens, forms},
};

const PATH: &str = "/oauth/client.json";
const CALLBACK: &str = "https://app.example/callback";

/// A service, and a host for the documents of clients.
async fn start() -> (TestApp, DocumentHost) {
    let host = DocumentHost::start().await;
    (TestApp::builder().client_documents(host.options()).start().await, host)
}

/// The response to a client's request in a browser that is not signed in.
async fn authorize(app: &TestApp, client: &OauthClient) -> TestResponse {
    app.browser().open(&Authorize::of(app, client).path()).await
}

/// The same client with another redirect URI.
fn at(client: &OauthClient, redirect_uri: &str) -> OauthClient {
    OauthClient { redirect_uri: redirect_uri.to_owned(), ..client.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_connects_without_registration() {
    let (app, host) = start().await;
    let person = app.person("anna").await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let refused = app.send(app.request(Method::POST, "/api/mcp/v1").json(&body)).await.expect(401);
    let challenge = refused.header("www-authenticate").unwrap();
    let metadata_url = challenge.split("resource_metadata=\"").nth(1).unwrap().trim_end_matches('"');
    let metadata = app.fetch(metadata_url).await.expect(200).json;
    let issuer = metadata["authorization_servers"][0].as_str().unwrap().to_owned();
    let server = app.fetch("/.well-known/oauth-authorization-server/api").await.expect(200).json;
    assert_eq!(server["issuer"], issuer);
    assert_eq!(server["client_id_metadata_document_supported"], true);
    assert!(server["token_endpoint_auth_methods_supported"].as_array().unwrap().contains(&json!("none")));

    let client = host.describe(
        PATH,
        json!({
            "client_uri": "https://app.example",
            "redirect_uris": ["http://127.0.0.1/cb", "http://localhost/cb"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }),
    );
    let client = at(&client, "http://127.0.0.1:49152/cb");
    let request = Authorize::of(&app, &client);
    let browser = app.browser();
    browser.sign_in(&request.path(), &person, PASSWORD).await.expect(303);
    let answer = browser.allow(&request).await;
    assert!(answer.location().as_str().starts_with("http://127.0.0.1:49152/cb?code="));
    let tokens = Tokens::read(&app.redeem(&client, &answer.code()).await);
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);
    let (_, claims) = super::decoded(&tokens.access);
    assert_eq!(claims["client_id"], client.id);
    let next = Tokens::read(&app.refresh(&client, &tokens.refresh).await);
    app.list_tools("/api/mcp/v1", &next.access).await.expect(200);
    app.oauth_form("revoke", &[("token", &next.refresh)]).await.expect(200);
    assert!(!super::opens(&app, &next.access).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_fetched_by_one_anonymous_request() {
    let (app, host) = start().await;
    let client = host.describe("/a%20b?c=d", json!({"redirect_uris": [CALLBACK]}));
    authorize(&app, &client).await.expect(200);
    assert_eq!(host.lookups(), 1, "the name is looked up once");
    assert_eq!(host.dials(), [SocketAddr::new(PUBLIC_ADDRESS, 443)], "the checked address is dialled");
    let [head] = &host.heads()[..] else { panic!("{:?}", host.heads()) };
    let mut lines: Vec<String> = head.trim_end().lines().map(str::to_ascii_lowercase).collect();
    lines[1..].sort();
    let agent = concat!("user-agent: photo-library/", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        lines,
        [
            "get /a%20b?c=d http/1.1",
            "accept: application/json",
            "connection: close",
            "host: app.example",
            agent
        ]
    );
    let elsewhere = host.client_id("/a%20b?c=d").replace("app.example", "app.example:8443");
    authorize(&app, &OauthClient { id: elsewhere, ..client }).await.expect(400);
    assert_eq!(host.dials()[1], SocketAddr::new(PUBLIC_ADDRESS, 8443));
    assert!(host.heads()[1].contains("host: app.example:8443\r\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_work_while_the_documents_host_is_down() {
    let (app, host) = start().await;
    let person = app.person("anna").await;
    let client = host.describe(PATH, json!({"redirect_uris": [CALLBACK], "client_name": "Lone app"}));
    let browser = app.browser().signed_in(&person).await;
    let code = browser.allow(&Authorize::of(&app, &client)).await.code();
    host.set_down(true);
    let tokens = Tokens::read(&app.redeem(&client, &code).await);
    app.advance(Duration::from_secs(26 * 3600));
    let tokens = Tokens::read(&app.refresh(&client, &tokens.refresh).await);
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);
    let account = browser.open("/account").await.expect(200).text();
    assert!(account.contains("Lone app"), "{account}");
    assert_eq!(host.heads().len(), 1, "tokens and pages need no document");

    let page = authorize(&app, &client).await.expect(400);
    assert!(
        page.text().contains("could not read the document") && page.text().contains("Try again"),
        "{}",
        page.text()
    );
    host.set_down(false);
    authorize(&app, &client).await.expect(400);
    app.advance(Duration::from_secs(30));
    authorize(&app, &client).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn loopback_ports_are_ignored_only_for_clients_with_documents() {
    let (app, host) = start().await;
    let uris =
        ["http://127.0.0.1/cb", "http://[::1]:7/cb", "http://localhost:1/cb", "https://app.example/cb"];
    let described = host.describe(PATH, json!({"redirect_uris": uris}));
    let registered = app.client_with(&uris, json!({})).await;
    for (uri, of_described, of_registered) in [
        ("http://127.0.0.1/cb", 200, 200),
        ("http://127.0.0.1:33418/cb", 200, 400),
        ("http://[::1]/cb", 200, 400),
        ("http://localhost:65535/cb", 200, 400),
        ("http://localhost:65536/cb", 400, 400),
        ("http://127.0.0.1:33418/cb/", 400, 400),
        ("http://127.0.0.1:33418/", 400, 400),
        ("http://127.0.0.2:33418/cb", 400, 400),
        ("http://127.0.0.1:80@evil.example/cb", 400, 400),
        ("https://app.example:8443/cb", 400, 400),
        ("https://127.0.0.1:33418/cb", 400, 400),
    ] {
        for (client, status) in [(&described, of_described), (&registered, of_registered)] {
            let answer = authorize(&app, &at(client, uri)).await;
            assert_eq!(answer.status, status, "{} {uri}", client.id);
            assert!(answer.header("location").is_none());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn consent_shows_the_documents_host_and_the_redirect_host() {
    let (app, host) = start().await;
    let person = app.person("anna").await;
    let browser = app.browser().signed_in(&person).await;
    let uris = [CALLBACK, "http://127.0.0.1/cb", "https://elsewhere.example/cb"];
    let client = host.describe(PATH, json!({"redirect_uris": uris, "client_name": "<b>Best</b> app"}));
    let page = async |uri: &str| {
        let client = at(&client, uri);
        browser.open(&Authorize::of(&app, &client).path()).await.expect(200).text()
    };
    let (own, loopback, other) = (
        page(CALLBACK).await,
        page("http://127.0.0.1:5/cb").await,
        page("https://elsewhere.example/cb").await,
    );
    for text in [&own, &loopback, &other] {
        assert!(text.contains("App of</dt><dd class=\"host\">app.example</dd>"), "{text}");
        assert!(text.contains("Name (not verified)"), "{text}");
        assert!(text.contains("&lt;b&gt;Best&lt;/b&gt; app") && !text.contains("<b>Best"), "{text}");
    }
    assert!(!own.contains("any program can use its name") && !own.contains("a different site"), "{own}");
    assert!(
        loopback.contains("any program can use its name") && loopback.contains("127.0.0.1:5"),
        "{loopback}"
    );
    assert!(other.contains("a different site") && other.contains("“elsewhere.example”"), "{other}");

    let nameless = host.describe("/nameless", json!({"redirect_uris": [CALLBACK], "client_name": null}));
    let text = browser.open(&Authorize::of(&app, &nameless).path()).await.expect(200).text();
    assert!(text.contains("(not verified)</dt><dd>“app.example”</dd>"), "{text}");
    let registered = app.public_client().await;
    let text = browser.open(&Authorize::of(&app, &registered).path()).await.expect(200).text();
    assert!(!text.contains("It is an app of"), "a registered client has no host that vouches for it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_cached_as_long_as_its_headers_say() {
    let (app, host) = start().await;
    let put = |cache: &str, uri: &str| {
        let document = json!({"client_id": host.client_id(PATH), "redirect_uris": [uri]});
        host.put(PATH, "application/json", cache, &document.to_string());
        OauthClient { id: host.client_id(PATH), secret: None, redirect_uri: uri.to_owned() }
    };
    let fetches = async |client: &OauthClient, status: u16| {
        authorize(&app, client).await.expect(status);
        host.heads().len()
    };
    let first = put("cache-control: max-age=600\r\n", CALLBACK);
    assert_eq!(fetches(&first, 200).await, 1);
    let changed = put("", "https://app.example/changed");
    app.advance(Duration::from_secs(599));
    assert_eq!((fetches(&first, 200).await, fetches(&changed, 400).await), (1, 1));
    app.advance(Duration::from_secs(1));
    assert_eq!((fetches(&first, 400).await, fetches(&changed, 200).await), (2, 2));

    // Without a header, a document is cached for an hour.
    app.advance(Duration::from_secs(3599));
    assert_eq!(fetches(&changed, 200).await, 2);
    app.advance(Duration::from_secs(1));
    let never = put("cache-control: no-store\r\n", CALLBACK);
    assert_eq!(fetches(&never, 200).await, 3);
    // A document is cached for at least a minute and at most a day, whatever its headers say.
    app.advance(Duration::from_secs(59));
    assert_eq!(fetches(&never, 200).await, 3);
    app.advance(Duration::from_secs(1));
    let for_ever = put("cache-control: max-age=31536000\r\n", CALLBACK);
    assert_eq!(fetches(&for_ever, 200).await, 4);
    app.advance(Duration::from_secs(24 * 3600 - 1));
    assert_eq!(fetches(&for_ever, 200).await, 4);
    app.advance(Duration::from_secs(1));
    assert_eq!(fetches(&for_ever, 200).await, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_share_one_fetch() {
    let (app, host) = start().await;
    let client = host.describe(PATH, json!({"redirect_uris": [CALLBACK]}));
    host.delay(PATH, Duration::from_millis(500));
    let [a, b, c, d] = [(); 4].map(|()| authorize(&app, &client));
    let (a, b, c, d) = tokio::join!(a, b, c, d);
    assert_eq!([a, b, c, d].map(|answer| answer.status), [200; 4]);
    assert_eq!(host.heads().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_metadata_changes_only_by_consent() {
    let (app, host) = start().await;
    let person = app.person("anna").await;
    let browser = app.browser().signed_in(&person).await;
    let client = host.describe(PATH, json!({"redirect_uris": [CALLBACK], "client_name": "Old name"}));
    let request = Authorize::of(&app, &client);
    let code = browser.allow(&request).await.code();
    let tokens = Tokens::read(&app.redeem(&client, &code).await);
    host.describe(
        PATH,
        json!({"redirect_uris": [CALLBACK], "client_name": "New name", "grant_types": ["authorization_code"]}),
    );
    app.advance(Duration::from_secs(3600));
    authorize(&app, &client).await.expect(200);
    assert!(browser.open("/account").await.text().contains("Old name (app.example)"));
    let tokens = Tokens::read(&app.refresh(&client, &tokens.refresh).await);
    browser.decide(&request, "deny").await.expect(303);
    assert!(browser.open("/account").await.text().contains("Old name"));

    let code = browser.allow(&request).await.code();
    let again = Tokens::read(&app.redeem(&client, &code).await);
    assert_eq!(again.refresh, "", "the document no longer allows refreshing");
    assert!(browser.open("/account").await.text().contains("New name"));
    super::refused(&app.refresh(&client, &tokens.refresh).await, 400, "unauthorized_client");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_document_is_used_while_its_host_is_down() {
    let (app, host) = start().await;
    let person = app.person("anna").await;
    let browser = app.browser().signed_in(&person).await;
    let document = json!({"client_id": host.client_id(PATH), "redirect_uris": [CALLBACK]});
    host.put(PATH, "application/json", "cache-control: no-store\r\n", &document.to_string());
    let client = OauthClient { id: host.client_id(PATH), secret: None, redirect_uri: CALLBACK.to_owned() };
    authorize(&app, &client).await.expect(200);
    host.set_down(true);
    app.advance(Duration::from_secs(1800));
    let code = browser.allow(&Authorize::of(&app, &client)).await.code();
    app.redeem(&client, &code).await.expect(200);
    app.advance(Duration::from_secs(3600));
    authorize(&app, &client).await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn consent_applies_to_the_metadata_that_was_shown() {
    let (app, host) = start().await;
    let person = app.person("anna").await;
    let browser = app.browser().signed_in(&person).await;
    let client = host.describe(PATH, json!({"redirect_uris": [CALLBACK], "client_name": "Shown"}));
    let path = Authorize::of(&app, &client).path();
    let page = browser.open(&path).await.expect(200);
    let form = forms(&page.text()).into_iter().find(|form| form.fields.contains_key("attempt")).unwrap();
    host.describe(PATH, json!({"redirect_uris": [CALLBACK], "client_name": "Another"}));
    app.advance(Duration::from_secs(3599));
    let decision = [("decision", "allow")];
    // The cached document is still valid for a second.
    browser.submit(&path, &form, &decision).await.expect(303);
    let page = browser.open(&path).await.expect(200);
    let form = forms(&page.text()).into_iter().find(|form| form.fields.contains_key("attempt")).unwrap();
    app.advance(Duration::from_secs(1));
    browser.submit(&path, &form, &decision).await.expect(403);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_client_documents_a_url_is_an_unknown_client() {
    let app = TestApp::builder().without_client_documents().start().await;
    let metadata = app.fetch("/.well-known/oauth-authorization-server/api").await.expect(200).json;
    assert!(metadata.get("client_id_metadata_document_supported").is_none(), "{metadata}");
    let client = OauthClient {
        id: "https://app.example/oauth/client.json".to_owned(),
        secret: None,
        redirect_uri: CALLBACK.to_owned(),
    };
    authorize(&app, &client).await.expect(400);
}
