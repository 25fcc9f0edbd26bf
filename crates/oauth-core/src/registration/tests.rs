use std::sync::atomic::Ordering;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    Clock as _, Grants,
    testing::{self, NOW, TestServer},
};

fn minimal() -> Value {
    json!({"client_name": "An app", "redirect_uris": ["https://app.example/cb"]})
}

fn with(name: &str, value: Value) -> Value {
    let mut body = minimal();
    body[name] = value;
    body
}

/// Redirect URIs of 8,000 characters together, and one more of `last` characters.
fn long_uris(last: usize) -> Value {
    let of_length = |(number, length): (usize, usize)| {
        let start = format!("https://app.example/{number}/");
        format!("{start}{}", "x".repeat(length - start.len()))
    };
    let lengths = [2000, 2000, 2000, 2000, last];
    lengths.into_iter().enumerate().map(of_length).collect::<Vec<_>>().into()
}

#[tokio::test]
async fn missing_members_have_defaults() {
    let registration = TestServer::new().server.register(minimal().to_string().as_bytes()).await.unwrap();
    let id = registration.client_id.clone();
    assert!(id.len() == 26 && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
    assert_eq!(
        serde_json::to_value(&registration).unwrap(),
        json!({
            "client_id": id,
            "client_name": "An app",
            "redirect_uris": ["https://app.example/cb"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "scope": "mcp:images mcp:photos",
            "token_endpoint_auth_method": "none",
            "client_id_issued_at": NOW.seconds(),
        })
    );
}

#[test]
fn metadata_are_normalised() {
    let check = |name: &str, value: Value, expect: fn(&ClientMetadata) -> bool| {
        let body = with(name, value.clone());
        let metadata = parse_metadata(&testing::config(), body.to_string().as_bytes()).unwrap();
        assert!(expect(&metadata), "{name}: {value}: {metadata:?}");
    };
    check("anything", json!({"a": [1]}), |_| true);
    check("redirect_uris", long_uris(192), |metadata| metadata.redirect_uris.len() == 5);
    check("client_name", json!("x"), |metadata| metadata.client_name == "x");
    check("client_name", json!("ä".repeat(200)), |metadata| metadata.client_name.len() == 400);
    check("client_name", json!(" <b>\u{202e}\n"), |metadata| metadata.client_name == " <b>\u{202e}\n");
    check("redirect_uris", json!(["myapp:/b", "myapp:/a", "myapp:/b"]), |metadata| {
        metadata.redirect_uris == ["myapp:/b", "myapp:/a"]
    });
    for types in [json!(null), json!(["refresh_token", "implicit", "authorization_code", "refresh_token"])] {
        check("grant_types", types, |metadata| {
            metadata.grant_types == [GrantType::AuthorizationCode, GrantType::RefreshToken]
        });
    }
    check("grant_types", json!(["authorization_code"]), |metadata| !metadata.may_refresh());
    check("response_types", json!(["token", "code"]), |_| true);
    check("response_types", json!(null), |_| true);
    for scope in [json!(null), json!(""), json!("  ")] {
        check("scope", scope, |metadata| metadata.scopes == ["mcp:images", "mcp:photos"]);
    }
    check("scope", json!("openid  mcp:photos mcp:photos"), |metadata| metadata.scopes == ["mcp:photos"]);
    for method in [json!(null), json!(""), json!("none")] {
        check("token_endpoint_auth_method", method, |metadata| {
            metadata.token_endpoint_auth_method == AuthMethod::None
        });
    }
    check("software_id", json!("a".repeat(200)), |metadata| metadata.software_id == Some("a".repeat(200)));
    check("software_version", json!(""), |metadata| metadata.software_version.is_none());
}

#[tokio::test]
async fn invalid_metadata_is_refused_and_not_stored() {
    let test = TestServer::new();
    let check = async |body: &str, code: &str, words: &str| {
        let error = test.server.register(body.as_bytes()).await.unwrap_err();
        let response = error.body();
        let start: String = body.chars().take(100).collect();
        assert_eq!((response.error, error.code()), (code, code), "{start}");
        assert!(response.error_description.contains(words), "{start}: {}", response.error_description);
    };
    let metadata = "invalid_client_metadata";
    for body in ["", "client_name=x", "{", "\u{0}"] {
        check(body, metadata, "not JSON").await;
    }
    check(&"[".repeat(100_000), metadata, "not JSON").await;
    check(&format!(r#"{{"x":{}"#, r#"{"x":"#.repeat(100_000)), metadata, "not JSON").await;
    check("[]", metadata, "not a JSON object").await;
    check(
        r#"{"client_name":"a","client_name":"b"}"#,
        metadata,
        "the JSON member \"client_name\" more than once",
    )
    .await;
    check("{}", metadata, "client_name is missing").await;
    let long = "x".repeat(201);
    let many: Vec<String> = (0..1000).map(|n| format!("https://app.example/{n}")).collect();
    for (name, value, words) in [
        ("client_name", json!(null), "is missing"),
        ("client_name", json!(""), "is missing"),
        ("client_name", json!(7), "is not text"),
        ("client_name", json!(long), "longer than 200"),
        ("client_name", json!("x".repeat(100_000)), "longer than 200"),
        ("client_name", json!("a\0b"), "NUL"),
        ("client_name", json!(" \t\u{3000}"), "blank"),
        ("client_name", json!("\u{200b}\u{2800} \u{202e}\u{feff}\u{3164}"), "blank"),
        ("redirect_uris", json!(null), "is missing"),
        ("redirect_uris", json!([]), "1 to 20"),
        ("redirect_uris", json!("https://app.example/cb"), "is not a list"),
        ("redirect_uris", json!([1]), "not text"),
        ("redirect_uris", json!([null]), "not text"),
        ("redirect_uris", json!(many[..21]), "1 to 20"),
        ("redirect_uris", json!(many), "1 to 20"),
        ("redirect_uris", long_uris(193), "8192"),
        ("grant_types", json!([]), "lacks authorization_code"),
        ("grant_types", json!(["refresh_token"]), "lacks authorization_code"),
        ("grant_types", json!(["implicit"]), "lacks authorization_code"),
        ("grant_types", json!("authorization_code"), "is not a list"),
        ("grant_types", json!([["authorization_code"]]), "not text"),
        ("response_types", json!([]), "lacks code"),
        ("response_types", json!(["token"]), "lacks code"),
        ("response_types", json!("code"), "is not a list"),
        ("scope", json!("openid"), "has none of mcp:images, mcp:photos"),
        ("scope", json!("MCP:IMAGES"), "has none of"),
        ("scope", json!("mcp:images\tmcp:photos"), "has none of"),
        ("scope", json!(["mcp:images"]), "is not text"),
        ("token_endpoint_auth_method", json!("private_key_jwt"), "must be none, "),
        ("token_endpoint_auth_method", json!(false), "is not text"),
        ("software_id", json!(long), "longer than 200"),
        ("software_version", json!(long), "longer than 200"),
        ("software_id", json!({}), "is not text"),
        ("software_id", json!("\0"), "NUL"),
    ] {
        let body = with(name, value).to_string();
        check(&body, metadata, &format!("{name} ")).await;
        check(&body, metadata, words).await;
    }
    for uri in [
        "",
        "vbscript:x",
        "blob:https://a/b",
        "about:blank",
        "https://*.example/",
        "myapp:",
        "http://a.example/",
    ] {
        let body = with("redirect_uris", json!(["https://app.example/cb", uri]));
        check(&body.to_string(), "invalid_redirect_uri", "redirect_uris[1] is refused").await;
    }
    let body = with("redirect_uris", json!([format!("https://app.example/{}", "x".repeat(2000))]));
    check(&body.to_string(), "invalid_redirect_uri", "2,000").await;
    assert_eq!(test.store.calls.load(Ordering::SeqCst), 0, "the store was not called");
}

#[tokio::test]
async fn the_same_public_client_is_registered_once() {
    let test = TestServer::new();
    let register = async |body: &Value| test.server.register(body.to_string().as_bytes()).await.unwrap();
    let body = json!({
        "client_name": "An app",
        "redirect_uris": ["https://app.example/a", "myapp:/b"],
        "grant_types": ["authorization_code", "refresh_token"],
        "scope": "mcp:images mcp:photos",
    });
    let first = register(&body).await;
    test.clock.advance_ms(5000);
    let changed = |name: &str, value: Value| {
        let mut body = body.clone();
        body[name] = value;
        body
    };
    for same in [
        body.clone(),
        changed("redirect_uris", json!(["myapp:/b", "https://app.example/a", "myapp:/b"])),
        changed("grant_types", json!(["refresh_token", "authorization_code", "x"])),
        changed("grant_types", json!(null)),
        changed("response_types", json!(["code", "token"])),
        changed("scope", json!("mcp:photos openid mcp:images")),
        changed("token_endpoint_auth_method", json!("none")),
        changed("software_id", json!(null)),
        changed("client_uri", json!("https://app.example")),
    ] {
        assert_eq!(register(&same).await, first, "{same}");
    }
    let mut ids = vec![first.client_id];
    for other in [
        changed("client_name", json!("an app")),
        changed("redirect_uris", json!(["myapp:/b"])),
        changed("redirect_uris", json!(["https://app.example/a", "myapp:/b/"])),
        changed("grant_types", json!(["authorization_code"])),
        changed("scope", json!("mcp:images")),
        changed("software_id", json!("1")),
        changed("software_version", json!("1")),
    ] {
        ids.push(register(&other).await.client_id);
    }
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[tokio::test]
async fn each_registration_of_a_confidential_client_creates_a_client() {
    let test = TestServer::new();
    for method in ["client_secret_basic", "client_secret_post"] {
        let body = with("token_endpoint_auth_method", json!(method)).to_string();
        let mut seen = Vec::new();
        for _ in 0..2 {
            let registration = test.server.register(body.as_bytes()).await.unwrap();
            let body = serde_json::to_value(&registration).unwrap();
            assert_eq!(
                (&body["token_endpoint_auth_method"], &body["client_secret_expires_at"]),
                (&json!(method), &json!(0))
            );
            let secret = body["client_secret"].as_str().unwrap().to_owned();
            assert_eq!(data_encoding::BASE64URL_NOPAD.decode(secret.as_bytes()).unwrap().len(), 32);
            assert!(!format!("{registration:?}").contains(&secret));
            let stored = test.server.store().client(&registration.client_id).await.unwrap().unwrap();
            assert_eq!(stored.secret, Some(SecretHash::of(&secret)));
            seen.push((registration.client_id, secret));
        }
        assert!(seen[0].0 != seen[1].0 && seen[0].1 != seen[1].1);
    }
}

#[tokio::test]
async fn a_store_failure_is_unavailable() {
    let test = TestServer::new();
    test.store.is_down.store(true, Ordering::SeqCst);
    let error = test.server.register(minimal().to_string().as_bytes()).await.unwrap_err();
    assert!(matches!(error, RegisterError::Unavailable(_)));
    let body = error.body();
    assert_eq!(body.error, "temporarily_unavailable");
    assert!(!body.error_description.contains("disk"));
}

/// Arbitrary metadata, mostly valid.
fn metadata() -> impl Strategy<Value = ClientMetadata> {
    let types = [GrantType::AuthorizationCode, GrantType::RefreshToken];
    (
        "[a-c\u{e4}][a-c\u{e4} ]{0,4}",
        prop::collection::btree_set("https://[a-c]{1,3}\\.example/[a-c]{0,2}", 1..5),
        1..=2_usize,
        prop::sample::subsequence(vec!["mcp:images".to_owned(), "mcp:photos".to_owned()], 1..=2),
        prop::option::of("[a-c]{1,3}"),
    )
        .prop_map(move |(client_name, uris, count, scopes, software_id)| ClientMetadata {
            requires_assertion: false,
            client_name,
            redirect_uris: uris.into_iter().collect(),
            grant_types: types[..count].to_vec(),
            scopes,
            token_endpoint_auth_method: AuthMethod::None,
            software_id,
            software_version: None,
        })
}

fn body_of(metadata: &ClientMetadata) -> Vec<u8> {
    let mut body = serde_json::to_value(metadata).unwrap();
    body["scope"] = metadata.scopes.join(" ").into();
    body.to_string().into_bytes()
}

proptest! {
    #[test]
    fn normalising_is_idempotent(metadata in metadata()) {
        let config = testing::config();
        let once = parse_metadata(&config, &body_of(&metadata)).unwrap();
        prop_assert_eq!(&once, &metadata);
        prop_assert_eq!(parse_metadata(&config, &body_of(&once)).unwrap(), once);
    }

    #[test]
    fn the_order_of_lists_is_ignored(metadata in metadata(), turns in 0..5_usize, reverse: bool) {
        let config = testing::config();
        let mut turned = metadata.clone();
        let count = turned.redirect_uris.len();
        turned.redirect_uris.rotate_left(turns % count);
        if reverse {
            turned.scopes.reverse();
            turned.grant_types.reverse();
        }
        turned.redirect_uris.push(turned.redirect_uris[0].clone());
        let turned = parse_metadata(&config, &body_of(&turned)).unwrap();
        prop_assert_eq!(digest(&turned), digest(&metadata));
    }

    #[test]
    fn different_metadata_have_different_digests(one in metadata(), other in metadata()) {
        prop_assert_eq!(digest(&one) == digest(&other), one == other);
    }
}

const DAY_MS: i64 = 24 * 3_600_000;

/// Registers a client with that name and returns its id.
async fn registered(test: &TestServer, name: &str) -> String {
    let body = with("client_name", json!(name)).to_string();
    test.server.register(body.as_bytes()).await.unwrap().client_id
}

async fn is_known(test: &TestServer, id: &str) -> bool {
    test.server.store().client(id).await.unwrap().is_some()
}

#[tokio::test]
async fn the_oldest_registrations_without_a_grant_are_evicted_after_a_day() {
    let test = TestServer::new();
    let granted = test.register(json!({})).await.client_id;
    test.tokens(&granted).await;
    test.server.store().revoke(Grants::OfSubject("1"), test.clock.now()).await.unwrap();
    let mut ids = Vec::new();
    for number in 0..20_100 {
        test.clock.advance_ms(1);
        ids.push(registered(&test, &number.to_string()).await);
    }
    assert!(is_known(&test, &ids[0]).await, "none of them is a day old");
    test.clock.advance_ms(DAY_MS);
    for number in 0..20 {
        ids.push(registered(&test, &format!("after a day {number}")).await);
    }
    let mut left = Vec::new();
    for id in &ids {
        left.push(is_known(&test, id).await);
    }
    let gone = left.iter().take_while(|known| !**known).count();
    assert_eq!(gone, 120, "20,000 are left, the newest ones");
    assert!(left[gone..].iter().all(|known| *known));
    assert!(is_known(&test, &granted).await, "it had a grant once");
    assert_eq!(registered(&test, "0").await.len(), 26, "an evicted client can register again");
}

#[tokio::test]
async fn a_client_that_registers_again_is_kept_ninety_days_more() {
    let test = TestServer::new();
    let (again, once) = (registered(&test, "Again").await, registered(&test, "Once").await);
    test.clock.advance_ms(60 * DAY_MS);
    assert_eq!(registered(&test, "Again").await, again);
    test.clock.advance_ms(31 * DAY_MS);
    while test.server.sweep(10).await.unwrap() > 0 {}
    assert!(is_known(&test, &again).await && !is_known(&test, &once).await);
    test.clock.advance_ms(60 * DAY_MS);
    while test.server.sweep(10).await.unwrap() > 0 {}
    assert!(!is_known(&test, &again).await);
}
