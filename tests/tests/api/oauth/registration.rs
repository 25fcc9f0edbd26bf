use std::collections::HashSet;

use reqwest::Method;
use serde_json::{Value, json};
use tests::TestApp;

use super::refused;

const URI: &str = "https://app.example/callback";

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_registered_with_every_field() {
    let app = TestApp::start().await;
    let answer = app.register(&json!({"client_name": "An app", "redirect_uris": [URI]})).await.expect(201);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    let client = answer.json.as_object().unwrap();
    assert!(client["client_id"].as_str().is_some_and(|id| !id.is_empty() && id.len() <= 128));
    assert_eq!(client["client_name"], "An app");
    assert_eq!(client["redirect_uris"], json!([URI]));
    assert_eq!(client["grant_types"], json!(["authorization_code", "refresh_token"]));
    assert_eq!(client["response_types"], json!(["code"]));
    assert_eq!(client["token_endpoint_auth_method"], "none");
    // 2024-06-01T12:00:00Z, the time of the mock clock.
    assert_eq!(client["client_id_issued_at"], 1_717_243_200);
    let scopes: HashSet<&str> = client["scope"].as_str().unwrap().split(' ').collect();
    assert_eq!(scopes, HashSet::from(["mcp:images", "mcp:photos"]));
    assert!(!client.contains_key("client_secret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confidential_client_gets_a_secret_once() {
    let app = TestApp::start().await;
    for method in ["client_secret_basic", "client_secret_post"] {
        let body =
            json!({"client_name": "An app", "redirect_uris": [URI], "token_endpoint_auth_method": method});
        let one = app.register(&body).await.expect(201).json;
        let two = app.register(&body).await.expect(201).json;
        assert_eq!(one["token_endpoint_auth_method"], method);
        let secret = one["client_secret"].as_str().unwrap();
        assert!(secret.len() >= 43);
        assert_ne!(one["client_id"], two["client_id"], "a confidential client is always new");
        assert_ne!(one["client_secret"], two["client_secret"]);
        assert!(!app.is_stored(secret).await, "only hashes are kept");
        assert!(app.is_stored("An app").await, "what is not secret is found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn registering_a_public_client_again_returns_the_same_client() {
    let app = TestApp::start().await;
    let body = json!({
        "client_name": "An app",
        "redirect_uris": [URI, "http://localhost:1/cb", "app.example:/cb"],
        "grant_types": ["authorization_code", "refresh_token"],
        "scope": "mcp:photos mcp:images",
        "software_id": "x",
    });
    let first = app.register(&body).await.expect(201);
    app.advance(std::time::Duration::from_secs(86_400));
    let again = app.register(&body).await.expect(201);
    assert_eq!(first.json, again.json, "the body is the same, including the time of issue");
    let reordered = json!({
        "software_id": "x",
        "scope": "mcp:images mcp:photos",
        "grant_types": ["refresh_token", "authorization_code"],
        "redirect_uris": ["app.example:/cb", URI, "http://localhost:1/cb"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "client_name": "An app",
    });
    assert_eq!(app.register(&reordered).await.expect(201).json, first.json);
    for (field, value) in [
        ("client_name", json!("Another app")),
        ("redirect_uris", json!([URI])),
        ("scope", json!("mcp:images")),
        ("software_id", json!("y")),
        ("software_version", json!("1")),
        ("grant_types", json!(["authorization_code"])),
    ] {
        let mut other = body.clone();
        other[field] = value;
        let other = app.register(&other).await.expect(201);
        assert_ne!(other.json["client_id"], first.json["client_id"], "{field}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_concurrent_registrations_give_one_client() {
    let app = TestApp::start().await;
    let body = json!({"client_name": "An app", "redirect_uris": [URI]});
    let answers = futures_util::future::join_all((0..64).map(|_| app.register(&body))).await;
    let ids: HashSet<String> =
        answers.into_iter().map(|answer| answer.expect(201).json["client_id"].to_string()).collect();
    assert_eq!(ids.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_scopes_and_types_are_dropped() {
    let app = TestApp::start().await;
    let body = json!({
        "client_name": "An app",
        "redirect_uris": [URI],
        "scope": "openid mcp:images offline_access",
        "grant_types": ["authorization_code", "implicit", "urn:x"],
        "response_types": ["code", "token"],
        "jwks_uri": "https://app.example/keys",
        "client_uri": null,
        "contacts": ["a@example.org"],
    });
    let client = app.register(&body).await.expect(201).json;
    assert_eq!(client["scope"], "mcp:images");
    assert_eq!(client["grant_types"], json!(["authorization_code"]));
    assert_eq!(client["response_types"], json!(["code"]));
    for (field, value) in [
        ("scope", json!("openid profile")),
        ("grant_types", json!(["implicit"])),
        ("grant_types", json!(["refresh_token"])),
        ("response_types", json!(["token"])),
    ] {
        let mut bad = body.clone();
        bad[field] = value;
        refused(&app.register(&bad).await, 400, "invalid_client_metadata");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_metadata_are_refused() {
    let app = TestApp::start().await;
    let good = json!({"client_name": "An app", "redirect_uris": [URI]});
    let long = "x".repeat(201);
    let cases: Vec<(&str, Option<Value>)> = vec![
        ("client_name", None),
        ("client_name", Some(json!(""))),
        ("client_name", Some(json!(long))),
        ("client_name", Some(json!("x".repeat(100_000)))),
        ("client_name", Some(json!(7))),
        ("client_name", Some(json!("a\u{0}b"))),
        ("client_name", Some(json!(" "))),
        ("client_name", Some(json!("\t\r\n\u{a0}\u{3000}"))),
        ("client_name", Some(json!("\u{200b}\u{feff}\u{2800}\u{3164}"))),
        ("redirect_uris", None),
        ("redirect_uris", Some(json!([]))),
        ("redirect_uris", Some(json!("https://app.example"))),
        ("redirect_uris", Some(json!([7]))),
        ("redirect_uris", Some(json!((0..21).map(|n| format!("{URI}/{n}")).collect::<Vec<_>>()))),
        ("redirect_uris", Some(json!((0..1000).map(|n| format!("{URI}/{n}")).collect::<Vec<_>>()))),
        ("token_endpoint_auth_method", Some(json!("private_key_jwt"))),
        ("token_endpoint_auth_method", Some(json!(1))),
        ("software_id", Some(json!(long))),
        ("software_version", Some(json!(long))),
        ("scope", Some(json!(["mcp:images"]))),
        ("grant_types", Some(json!("authorization_code"))),
    ];
    for (field, value) in cases {
        let mut body = good.clone();
        match value {
            Some(value) => body[field] = value,
            None => drop(body.as_object_mut().unwrap().remove(field)),
        }
        let answer = app.register(&body).await;
        refused(&answer, 400, "invalid_client_metadata");
    }
    let at_most = json!({
        "client_name": "ü".repeat(200), "redirect_uris": [URI],
        "software_id": "x".repeat(200), "software_version": "x".repeat(200),
    });
    app.register(&at_most).await.expect(201);
    app.register(&good).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_a_json_object_is_refused() {
    let app = TestApp::start().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let twice = format!(r#"{{"client_name": "a", "client_name": "b", "redirect_uris": ["{URI}"]}}"#);
    for body in ["", "x", "[]", "null", "7", "{", deep.as_str(), twice.as_str(), "\u{0}"] {
        let request = app
            .request(Method::POST, "/api/oauth/register")
            .header("content-type", "application/json")
            .body(body.to_owned());
        refused(&app.send(request).await, 400, "invalid_client_metadata");
    }
    let form = app.request(Method::POST, "/api/oauth/register").form(&[("client_name", "a")]);
    refused(&app.send(form).await, 400, "invalid_client_metadata");
    let huge = app
        .request(Method::POST, "/api/oauth/register")
        .header("content-type", "application/json")
        .body(" ".repeat(8 << 20));
    refused(&app.send(huge).await, 413, "invalid_client_metadata");
    let answer = app.send(app.request(Method::GET, "/api/oauth/register")).await.expect(405);
    assert_eq!(answer.header("allow"), Some("POST"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_redirect_uris_of_a_client_have_a_total_limit() {
    let app = TestApp::start().await;
    let uris_of = |lengths: &[usize]| {
        let numbered = |(number, length): (usize, &usize)| {
            let start = format!("{URI}/{number}/");
            format!("{start}{}", "x".repeat(length - start.len()))
        };
        lengths.iter().enumerate().map(numbered).collect::<Vec<_>>()
    };
    let register = async |uris: Vec<String>| {
        app.register(&json!({"client_name": "An app", "redirect_uris": uris})).await
    };
    register(uris_of(&[2000, 2000, 2000, 2000, 192])).await.expect(201);
    let mut twice = uris_of(&[2000, 2000, 2000, 2000]);
    twice.extend(twice.clone());
    register(twice).await.expect(201);
    for lengths in [&[2000, 2000, 2000, 2000, 193][..], &[2000; 20]] {
        refused(&register(uris_of(lengths)).await, 400, "invalid_client_metadata");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn registering_again_extends_a_registration_by_ninety_days() {
    let app = TestApp::start().await;
    let day = std::time::Duration::from_secs(86_400);
    let register = async |name: &str| {
        app.register(&json!({"client_name": name, "redirect_uris": [URI]})).await.expect(201).json
    };
    let (again, once) = (register("Again").await, register("Once").await);
    let is_known = async |client: &Value| {
        let id = client["client_id"].as_str().unwrap();
        app.library.accounts.grants().client(id).await.unwrap().is_some()
    };
    app.advance(60 * day);
    assert_eq!(register("Again").await, again, "the response stays the same");
    app.advance(31 * day);
    app.library.accounts.delete_expired(|| false).await.unwrap();
    assert!(is_known(&again).await);
    assert!(!is_known(&once).await);
    app.advance(60 * day);
    app.library.accounts.delete_expired(|| false).await.unwrap();
    assert!(!is_known(&again).await, "91 days after it came last");
}
