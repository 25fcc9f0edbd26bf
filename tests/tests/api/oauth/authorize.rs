use tests::{
    TestApp,
    oauth::{Authorize, challenge, forms},
};

/// Checks that a request gets an error page and no redirect.
async fn shows_a_page(app: &TestApp, request: &Authorize) {
    let answer = app.browser().open(&request.path()).await;
    assert_eq!(answer.status, 400, "{request:?}");
    assert!(answer.header("location").is_none());
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    let text = answer.text().to_lowercase();
    let remedies = ["go back to", "remove this connection in the app", "close this page"];
    assert!(remedies.iter().any(|remedy| text.contains(remedy)), "{text}");
    assert!(forms(&answer.text()).is_empty());
}

/// The redirect with an error for the client.
async fn redirects(app: &TestApp, request: &Authorize, code: &str) {
    let answer = app.browser().open(&request.path()).await;
    assert_eq!(answer.redirected("error").as_deref(), Some(code), "{request:?}");
    assert!(answer.redirected("error_description").is_some_and(|text| !text.is_empty()));
    assert_eq!(answer.redirected("iss").as_deref(), Some(format!("{}/api", app.base_url).as_str()));
    assert_eq!(answer.redirected("code"), None);
    assert!(answer.header("location").unwrap().starts_with("https://app.example/callback?"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_client_or_redirect_uri_is_an_error_page() {
    let app = TestApp::start().await;
    let client = app.public_client().await;
    let good = Authorize::of(&app, &client);
    shows_a_page(&app, &good.clone().without("client_id")).await;
    shows_a_page(&app, &good.clone().with("client_id", "")).await;
    shows_a_page(&app, &good.clone().with("client_id", "unknown")).await;
    shows_a_page(&app, &good.clone().with("client_id", "' OR 1=1 --")).await;
    shows_a_page(&app, &good.clone().and("client_id", &client.id)).await;
    shows_a_page(&app, &good.clone().without("redirect_uri")).await;
    shows_a_page(&app, &good.clone().and("redirect_uri", &client.redirect_uri)).await;
    for other in [
        "https://app.example/callback/",
        "https://app.example/callback?x",
        "https://app.example/Callback",
        "https://APP.example/callback",
        "https://app.example:443/callback",
        "https://app.example/x/../callback",
        "https://app.example/%63allback",
        "https://app.example/callback#",
        "http://app.example/callback",
        "https://app.example.evil/callback",
        "https://app.example/callback ",
        "https://app.example/callback\r\nx: y",
        "https://app.example/callback\u{0}",
        "https://app.example\\@evil/callback",
        "//app.example/callback",
        "/callback",
        "",
    ] {
        shows_a_page(&app, &good.clone().with("redirect_uri", other)).await;
    }
    assert_eq!(app.browser().open(&good.path()).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_errors_redirect_with_description_state_and_issuer() {
    let app = TestApp::start().await;
    let client = app.public_client().await;
    let good = Authorize::of(&app, &client);
    let invalid = "invalid_request";
    redirects(&app, &good.clone().without("response_type"), invalid).await;
    for response_type in ["token", "code token", "CODE", "id_token", ""] {
        redirects(&app, &good.clone().with("response_type", response_type), invalid).await;
    }
    redirects(&app, &good.clone().without("code_challenge"), invalid).await;
    let padded = format!("{}=", challenge("x"));
    for bad in
        ["", "short", &"x".repeat(42), &"x".repeat(129), padded.as_str(), &format!("{}+", "x".repeat(42))]
    {
        redirects(&app, &good.clone().with("code_challenge", bad), invalid).await;
    }
    redirects(&app, &good.clone().without("code_challenge_method"), invalid).await;
    for method in ["plain", "s256", "S512", ""] {
        redirects(&app, &good.clone().with("code_challenge_method", method), invalid).await;
    }
    for name in ["response_type", "code_challenge", "code_challenge_method", "resource", "state"] {
        redirects(&app, &good.clone().and(name, "code"), invalid).await;
    }
    redirects(&app, &good.clone().and("scope", "mcp:images").and("scope", "mcp:images"), invalid).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn state_is_returned_unchanged() {
    let app = TestApp::start().await;
    let client = app.public_client().await;
    for state in ["plain", "a state/with+odd &characters=%20", "ünï-コ\u{1f600}", "<script>", "\u{1}\t\n"]
    {
        let request = Authorize::of(&app, &client).with("state", state).with("response_type", "token");
        let answer = app.browser().open(&request.path()).await;
        assert_eq!(answer.redirected("state").as_deref(), Some(state));
    }
    let request = Authorize::of(&app, &client).without("state").with("response_type", "token");
    assert_eq!(app.browser().open(&request.path()).await.redirected("state"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_must_be_an_mcp_url_of_the_service() {
    let app = TestApp::builder().public_base_url("https://photos.example.org").start().await;
    let client = app.public_client().await;
    let with = |resource: &str| Authorize::of(&app, &client).with("resource", resource);
    let base = "https://photos.example.org";
    for bad in [
        "/api/mcp/v1",
        "api/mcp/v1",
        "https://photos.example.org/api/mcp/v1#x",
        "https://photos.example.org/api/mcp/v1x",
        "https://photos.example.org/api/mcp",
        "https://photos.example.org/api/mcp/v1/tools",
        "https://photos.example.org/api/mcp/v1?x",
        "https://photos.example.org.evil/api/mcp/v1",
        "http://photos.example.org/api/mcp/v1",
        "https://photos.example.org:8443/api/mcp/v1",
        "https://evil.example/api/mcp/v1",
        "https://photos.example.org/API/mcp/v1",
        "https://user@photos.example.org/api/mcp/v1",
        "x",
    ] {
        let answer = app.browser().open(&with(bad).path()).await;
        assert_eq!(answer.redirected("error").as_deref(), Some("invalid_target"), "{bad}");
        assert_eq!(answer.redirected("iss").as_deref(), Some("https://photos.example.org/api"));
    }
    for good in [
        format!("{base}/api/mcp/v1"),
        format!("{base}/api/mcp/v1/"),
        format!("{base}/api/mcp/v2"),
        format!("{base}:443/api/mcp/v1"),
        "HTTPS://PHOTOS.example.ORG/api/mcp/v1".to_owned(),
    ] {
        assert_eq!(app.browser().open(&with(&good).path()).await.status, 200, "{good}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_are_mapped_for_the_resource() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let uri = ["https://app.example/callback"];
    let both = app.client_with(&uri, serde_json::json!({})).await;
    let images = app.client_with(&uri, serde_json::json!({"scope": "mcp:images"})).await;
    let photos = app.client_with(&uri, serde_json::json!({"scope": "mcp:photos"})).await;
    let browser = app.browser().signed_in(&person).await;
    let cases = [
        (&both, "v1", None, Ok("mcp:images")),
        (&both, "v1", Some(""), Ok("mcp:images")),
        (&both, "v1", Some("mcp:photos"), Ok("mcp:images")),
        (&both, "v1", Some("mcp:photos mcp:images"), Ok("mcp:images")),
        (&both, "v2", None, Ok("mcp:images")),
        (&both, "v2", Some("mcp:photos mcp:images"), Ok("mcp:images")),
        (&both, "v2", Some("mcp:photos"), Err("invalid_scope")),
        (&both, "legacy", None, Ok("mcp:photos")),
        (&both, "legacy", Some("mcp:images"), Err("invalid_scope")),
        (&both, "legacy", Some("mcp:images mcp:photos"), Ok("mcp:photos")),
        (&both, "v1", Some("openid"), Err("invalid_scope")),
        (&both, "v1", Some("mcp:images openid"), Err("invalid_scope")),
        (&both, "v1", Some("MCP:IMAGES"), Err("invalid_scope")),
        (&images, "v1", None, Ok("mcp:images")),
        (&images, "v1", Some("mcp:photos"), Err("invalid_scope")),
        (&images, "legacy", None, Err("invalid_scope")),
        (&photos, "v1", None, Ok("mcp:images")),
        (&photos, "v1", Some("mcp:photos"), Ok("mcp:images")),
        (&photos, "v1", Some("mcp:images"), Err("invalid_scope")),
        (&photos, "v2", None, Err("invalid_scope")),
        (&photos, "legacy", None, Ok("mcp:photos")),
    ];
    for (client, version, scope, expect) in cases {
        let resource = format!("{}/api/mcp/{version}", app.base_url);
        let mut request = Authorize::of(&app, client).with("resource", &resource);
        if let Some(scope) = scope {
            request = request.with("scope", scope);
        }
        match expect {
            Ok(granted) => {
                let code = browser.allow(&request).await.code();
                assert_eq!(app.redeem(client, &code).await.expect(200).json["scope"], granted, "{request:?}");
            }
            Err(code) => redirects(&app, &request, code).await,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_resource_is_the_current_one() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let browser = app.browser().signed_in(&person).await;
    for request in
        [Authorize::of(&app, &client).without("resource"), Authorize::of(&app, &client).with("resource", "")]
    {
        let code = browser.allow(&request).await.code();
        let token =
            app.redeem(&client, &code).await.expect(200).json["access_token"].as_str().unwrap().to_owned();
        assert_eq!(super::decoded(&token).1["aud"], format!("{}/api/mcp/v1", app.base_url));
        assert_eq!(app.list_tools("/api/mcp/v1", &token).await.status, 200);
        assert_eq!(app.list_tools("/api/mcp/v2", &token).await.status, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_repeat_the_registered_uri_byte_for_byte() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser().signed_in(&person).await;
    for (uri, begins) in [
        ("https://app.example/cb?x=a%20b&y", "https://app.example/cb?x=a%20b&y&code="),
        ("https://app.example", "https://app.example?code="),
        ("cursor://anysphere.cursor-mcp/oauth", "cursor://anysphere.cursor-mcp/oauth?code="),
        ("com.example.app:/cb", "com.example.app:/cb?code="),
        ("http://127.0.0.1:33418", "http://127.0.0.1:33418?code="),
        ("http://[::1]:7/cb", "http://[::1]:7/cb?code="),
    ] {
        let client = app.client_with(&[uri], serde_json::json!({"client_name": uri})).await;
        let answer = browser.allow(&Authorize::of(&app, &client)).await;
        let location = answer.header("location").unwrap();
        assert!(location.starts_with(begins), "{location}");
        assert!(location.contains("&state=") && location.contains("&iss="), "{location}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_without_a_token_does_not_redirect() {
    let app = TestApp::start().await;
    let client = app.public_client().await;
    let path = Authorize::of(&app, &client).with("scope", "unknown").path();
    let browser = app.browser();
    assert!(browser.open(&path).await.expect(302).header("location").is_some());
    let sent =
        browser.send(browser.request(reqwest::Method::POST, &path).form(&[("decision", "allow")])).await;
    assert_eq!(sent.expect(403).header("location"), None);
}
