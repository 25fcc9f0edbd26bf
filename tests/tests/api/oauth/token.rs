use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tests::{
    TestApp,
    oauth::{Authorize, Tokens, VERIFIER, challenge},
};

use super::{changed, code_fields, decoded, opens, refused};

#[tokio::test(flavor = "multi_thread")]
async fn a_code_returns_both_tokens() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let code = app.code(&client, &person).await;
    let answer = app.redeem(&client, &code).await.expect(200);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let fields = answer.json.as_object().unwrap();
    assert_eq!(fields["token_type"], "Bearer");
    assert_eq!(fields["expires_in"], 3600);
    assert_eq!(fields["scope"], "mcp:images");
    assert!(!fields.contains_key("id_token"), "there is no OpenID Connect");
    let tokens = Tokens::read(&answer);
    assert_eq!(tokens.refresh.matches('.').count(), 0, "the refresh token is opaque");
    assert!(opens(&app, &tokens.access).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_token_is_a_jwt_of_rfc_9068() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let one = app.tokens(&client, &person).await;
    let (header, claims) = decoded(&one.access);
    assert_eq!(header["typ"], "at+jwt");
    assert!(matches!(header["alg"].as_str().unwrap(), "EdDSA" | "ES256"));
    assert!(header["kid"].as_str().is_some_and(|kid| !kid.is_empty()));
    assert_eq!(claims["iss"], format!("{}/api", app.base_url));
    assert_eq!(claims["aud"], format!("{}/api/mcp/v1", app.base_url));
    assert_eq!(claims["client_id"], client.id);
    assert_eq!(claims["scope"], "mcp:images");
    assert_eq!(claims["iat"], 1_717_243_200);
    assert_eq!(claims["exp"], 1_717_243_200 + 3600);
    let two = app.tokens(&client, &person).await;
    assert_eq!(decoded(&two.access).1["sub"], claims["sub"], "the same user has the same subject");
    assert_ne!(decoded(&two.access).1["jti"], claims["jti"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_works_for_ten_minutes() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let (early, late) = (app.code(&client, &person).await, app.code(&client, &person).await);
    app.advance(Duration::from_secs(599));
    app.redeem(&client, &early).await.expect(200);
    app.advance(Duration::from_secs(2));
    refused(&app.redeem(&client, &late).await, 400, "invalid_grant");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_works_once_and_its_second_use_changes_nothing() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let code = app.code(&client, &person).await;
    let tokens = Tokens::read(&app.redeem(&client, &code).await);
    refused(&app.redeem(&client, &code).await, 400, "invalid_grant");
    let wrong = changed(
        &code_fields(&client, &code),
        "code_verifier",
        Some("x-wrong-verifier-of-fifty-characters-xxxxxxxxxxxxx"),
    );
    refused(&app.oauth_form("token", &wrong).await, 400, "invalid_grant");
    assert!(opens(&app, &tokens.access).await);
    app.refresh(&client, &tokens.refresh).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_does_not_use_up_the_code() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let (client, other) =
        (app.public_client().await, app.client_with(&["https://other.example/"], json!({})).await);
    let code = app.code(&client, &person).await;
    let good = code_fields(&client, &code);
    let (invalid_request, invalid_grant) = ((400, "invalid_request"), (400, "invalid_grant"));
    let cases: Vec<(&'static str, Option<String>, (u16, &str))> = vec![
        ("grant_type", None, invalid_request),
        ("grant_type", Some(String::new()), invalid_request),
        ("grant_type", Some("password".into()), (400, "unsupported_grant_type")),
        ("grant_type", Some("Authorization_Code".into()), (400, "unsupported_grant_type")),
        ("code", None, invalid_request),
        ("code", Some(String::new()), invalid_request),
        ("code", Some("unknown".into()), invalid_grant),
        ("code", Some(format!("{code} ")), invalid_grant),
        ("redirect_uri", None, invalid_request),
        ("redirect_uri", Some("https://app.example/callback/".into()), invalid_grant),
        ("redirect_uri", Some("https://other.example/".into()), invalid_grant),
        ("code_verifier", None, invalid_request),
        ("code_verifier", Some("short".into()), invalid_request),
        ("code_verifier", Some("x".repeat(42)), invalid_request),
        ("code_verifier", Some("x".repeat(129)), invalid_request),
        ("code_verifier", Some(format!("{}+", "x".repeat(43))), invalid_request),
        ("code_verifier", Some(format!("{}é", "x".repeat(43))), invalid_request),
        ("code_verifier", Some("x".repeat(43)), invalid_grant),
        ("code_verifier", Some(challenge(VERIFIER)), invalid_grant),
        ("client_id", None, invalid_request),
        ("client_id", Some("unknown".into()), (401, "invalid_client")),
        ("client_id", Some(other.id.clone()), invalid_grant),
        ("client_secret", Some("x".into()), (401, "invalid_client")),
    ];
    for (name, value, (status, error)) in &cases {
        let answer = app.oauth_form("token", &changed(&good, name, value.as_deref())).await;
        assert_eq!((answer.status, answer.oauth_error()), (*status, *error), "{name} {value:?}");
        refused(&answer, *status, error);
    }
    app.oauth_form("token", &good).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_parameter_is_refused() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let code = app.code(&client, &person).await;
    let good = code_fields(&client, &code);
    for field in &good {
        let mut twice = good.clone();
        twice.push(*field);
        refused(&app.oauth_form("token", &twice).await, 400, "invalid_request");
    }
    let mut scopes = good.clone();
    scopes.extend([("scope", "mcp:images"), ("scope", "mcp:images")]);
    refused(&app.oauth_form("token", &scopes).await, 400, "invalid_request");
    app.oauth_form("token", &good).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_in_the_token_request_changes_nothing() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    for resource in ["https://evil.example/", "not a url", "", &format!("{}/api/mcp/v2", app.base_url)] {
        let code = app.code(&client, &person).await;
        let mut fields = code_fields(&client, &code);
        fields.push(("resource", resource));
        let tokens = Tokens::read(&app.oauth_form("token", &fields).await);
        assert!(opens(&app, &tokens.access).await);
        assert_eq!(app.list_tools("/api/mcp/v2", &tokens.access).await.status, 401);
        let refresh = [
            ("grant_type", "refresh_token"),
            ("refresh_token", tokens.refresh.as_str()),
            ("client_id", client.id.as_str()),
            ("resource", resource),
        ];
        let tokens = Tokens::read(&app.oauth_form("token", &refresh).await);
        assert!(opens(&app, &tokens.access).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_body_may_be_json() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let post = |body: Value| app.send(app.request(Method::POST, "/api/oauth/token").json(&body));
    let code = app.code(&client, &person).await;
    let good: Value = code_fields(&client, &code)
        .into_iter()
        .collect::<std::collections::BTreeMap<_, _>>()
        .into_iter()
        .map(|(k, v)| (k.to_owned(), json!(v)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    for (name, value) in [
        ("code", json!(7)),
        ("code", json!(["x"])),
        ("code_verifier", json!({})),
        ("grant_type", json!(null)),
    ] {
        let mut bad = good.clone();
        bad[name] = value;
        refused(&post(bad).await, 400, "invalid_request");
    }
    let tokens = Tokens::read(&post(good).await);
    let refreshed =
        post(json!({"grant_type": "refresh_token", "refresh_token": tokens.refresh, "client_id": client.id}))
            .await;
    assert!(opens(&app, &Tokens::read(&refreshed).access).await);
    let raw = |body: &str| {
        let request =
            app.request(Method::POST, "/api/oauth/token").header("content-type", "application/json");
        app.send(request.body(body.to_owned()))
    };
    for body in
        ["", "[]", "null", "{", "\u{0}", r#"{"grant_type": "refresh_token", "grant_type": "refresh_token"}"#]
    {
        refused(&raw(body).await, 400, "invalid_request");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_form_or_json_posts_are_accepted() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let code = app.code(&client, &person).await;
    let fields = code_fields(&client, &code);
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&fields).finish();
    for method in [Method::GET, Method::HEAD, Method::PUT, Method::DELETE] {
        let answer = app.send(app.request(method, &format!("/api/oauth/token?{query}"))).await.expect(405);
        assert_eq!(answer.header("allow"), Some("POST"));
    }
    let in_query = app.request(Method::POST, &format!("/api/oauth/token?{query}"));
    refused(
        &app.send(in_query.header("content-type", "application/x-www-form-urlencoded")).await,
        400,
        "invalid_request",
    );
    for content_type in ["multipart/form-data; boundary=x", "text/plain", "application/xml"] {
        let request = app.request(Method::POST, "/api/oauth/token").header("content-type", content_type);
        refused(&app.send(request.body(query.clone())).await, 400, "invalid_request");
    }
    let untyped = app.request(Method::POST, "/api/oauth/token").body(query.clone());
    refused(&app.send(untyped).await, 400, "invalid_request");
    let huge = app
        .request(Method::POST, "/api/oauth/token")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("{query}&x={}", "y".repeat(8 << 20)));
    refused(&app.send(huge).await, 413, "invalid_request");
    let with_charset = app
        .request(Method::POST, "/api/oauth/token")
        .header("content-type", "application/x-www-form-urlencoded; charset=UTF-8")
        .body(query);
    app.send(with_charset).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_refresh_grant_there_is_no_refresh_token() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let uri = ["https://app.example/callback"];
    let client = app.client_with(&uri, json!({"grant_types": ["authorization_code"]})).await;
    let code = app.code(&client, &person).await;
    let answer = app.redeem(&client, &code).await.expect(200);
    assert!(answer.json.get("refresh_token").is_none());
    let other = app.public_client().await;
    let tokens = app.tokens(&other, &person).await;
    refused(&app.refresh(&client, &tokens.refresh).await, 400, "unauthorized_client");
    app.refresh(&other, &tokens.refresh).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_of_a_deleted_user_is_refused() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let code = app.code(&client, &person).await;
    app.library.accounts.delete_account(person.id).await.unwrap();
    refused(&app.redeem(&client, &code).await, 400, "invalid_grant");
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_and_tokens_are_stored_as_hashes() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let browser = app.browser().signed_in(&person).await;
    let code = browser.allow(&Authorize::of(&app, &client)).await.code();
    let tokens = Tokens::read(&app.redeem(&client, &code).await);
    for secret in [&code, &tokens.refresh, &tokens.access] {
        assert!(!app.is_stored(secret).await);
    }
    assert!(app.is_stored(person.email.as_str()).await, "what is not secret is found");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unavailable_store_is_503_and_nothing_is_lost() {
    let app = TestApp::builder().unmigrated().start().await;
    for (name, fields) in
        [("token", vec![("grant_type", "refresh_token"), ("refresh_token", "x"), ("client_id", "x")])]
    {
        let answer = app.oauth_form(name, &fields).await;
        assert_eq!(answer.status, 503, "{}", answer.text());
        assert!(answer.header("retry-after").is_some());
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_ne!(answer.oauth_error(), "invalid_grant");
        assert_ne!(answer.oauth_error(), "invalid_client");
    }
    let answer = app.register(&json!({"client_name": "a", "redirect_uris": ["https://a.example/"]})).await;
    assert_eq!(answer.status, 503);
    let page = app.browser().open("/api/oauth/authorize?client_id=x&redirect_uri=https://a.example/").await;
    assert_eq!(page.status, 503);
    assert!(page.header("retry-after").is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_subject_is_opaque_and_differs_per_client_and_account() {
    let app = TestApp::start().await;
    let (anna, bert) = (app.person("anna").await, app.person("bert").await);
    let (client, other) =
        (app.public_client().await, app.client_with(&["https://other.example/"], json!({})).await);
    let subject = |token: &str| decoded(token).1["sub"].as_str().unwrap().to_owned();
    let first = app.tokens(&client, &anna).await;
    let annas = subject(&first.access);
    assert_ne!(annas, anna.id.0.to_string(), "it is not the id in the store");
    assert!(annas.len() >= 32 && annas.bytes().all(|byte| byte.is_ascii_graphic()), "{annas}");
    let renewed = Tokens::read(&app.refresh(&client, &first.refresh).await);
    assert_eq!(subject(&renewed.access), annas);
    assert_eq!(subject(&app.tokens(&client, &anna).await.access), annas);
    assert_ne!(subject(&app.tokens(&other, &anna).await.access), annas, "apps cannot compare their users");
    assert_ne!(subject(&app.tokens(&client, &bert).await.access), annas);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_resource_is_no_error() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let code = app.code(&client, &person).await;
    let mut fields = code_fields(&client, &code);
    let repeated = [("resource", "https://a.example/"), ("resource", ""), ("resource", "x")];
    fields.extend(repeated);
    let tokens = Tokens::read(&app.oauth_form("token", &fields).await);
    let mut fields = vec![
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh.as_str()),
        ("client_id", client.id.as_str()),
    ];
    fields.extend(repeated);
    let tokens = Tokens::read(&app.oauth_form("token", &fields).await);
    assert!(opens(&app, &tokens.access).await);
}
