use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use oauth_core::{CodeStatus, Grant, IssuedCode, NewCode, Redemption, SecretHash, UnixMillis};
use reqwest::Method;
use serde_json::{Value, json};
use tests::{
    TestAccount, TestApp, TestResponse,
    oauth::{Authorize, Tokens},
};

use super::decoded;

/// The resources and the scope of each.
const RESOURCES: [(&str, &str); 3] =
    [("/api/mcp/v1", "mcp:images"), ("/api/mcp/v2", "mcp:images"), ("/api/mcp/legacy", "mcp:photos")];

fn challenge(app: &TestApp, resource: &str, scope: &str) -> String {
    format!(
        "Bearer scope=\"{scope}\", resource_metadata=\"{}/.well-known/oauth-protected-resource{resource}\"",
        app.base_url
    )
}

/// Checks the 401 of a resource and its exact header.
#[track_caller]
fn unauthorized(app: &TestApp, answer: &TestResponse, resource: &str, scope: &str) {
    assert_eq!(answer.status, 401, "{}", answer.text());
    assert_eq!(answer.header("www-authenticate"), Some(challenge(app, resource, scope).as_str()));
}

async fn tokens_for(app: &TestApp, person: &TestAccount, resource: &str) -> Tokens {
    let client = app.public_client().await;
    let browser = app.browser().signed_in(person).await;
    let request = Authorize::of(app, &client).with("resource", &format!("{}{resource}", app.base_url));
    let code = browser.allow(&request).await.code();
    Tokens::read(&app.redeem(&client, &code).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_valid_for_its_own_resource_only() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    for (issued_for, _) in RESOURCES {
        let tokens = tokens_for(&app, &person, issued_for).await;
        for (resource, scope) in RESOURCES {
            let answer = app.list_tools(resource, &tokens.access).await;
            if resource == issued_for {
                assert!(!answer.expect(200).json["result"]["tools"].as_array().unwrap().is_empty());
            } else {
                unauthorized(&app, &answer, resource, scope);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_token_sees_its_owners_photos_only() {
    let app = TestApp::start().await;
    let (anna, bert) = (app.person("anna").await, app.person("bert").await);
    app.seed(&anna, vec![tests::SeedImage::at("2024-01-01T00:00:00Z")]).await;
    for (person, expect) in [(&anna, 1), (&bert, 0)] {
        let tokens = tokens_for(&app, person, "/api/mcp/v2").await;
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "get_info", "arguments": {}},
        });
        let request = app.request(Method::POST, "/api/mcp/v2").bearer_auth(&tokens.access).json(&call);
        let answer = app.send(request).await.expect(200);
        assert_eq!(
            answer.json["result"]["structuredContent"]["result"]["totalImages"],
            expect,
            "{}",
            answer.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_token_expires_after_an_hour() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let tokens = tokens_for(&app, &person, "/api/mcp/v1").await;
    app.advance(Duration::from_secs(3599));
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);
    app.advance(Duration::from_secs(1));
    unauthorized(&app, &app.list_tools("/api/mcp/v1", &tokens.access).await, "/api/mcp/v1", "mcp:images");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_token_is_refused_by_the_image_api() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let tokens = tokens_for(&app, &person, "/api/mcp/v1").await;
    app.get("/images", &tokens.access).await.expect(401);
    app.list_tools("/api/mcp/v1", &person.key).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_in_url_body_or_cookie_are_ignored() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let token = tokens_for(&app, &person, "/api/mcp/v1").await.access;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "access_token": token});
    let in_url = app.request(Method::POST, &format!("/api/mcp/v1?access_token={token}")).json(&body);
    app.send(in_url).await.expect(401);
    let in_cookie =
        app.request(Method::POST, "/api/mcp/v1").header("cookie", format!("access_token={token}"));
    app.send(in_cookie.json(&body)).await.expect(401);
    let browser = app.browser().signed_in(&person).await;
    browser.send(browser.request(Method::POST, "/api/mcp/v1").json(&body)).await.expect(401);
    let twice = app.request(Method::POST, "/api/mcp/v1").bearer_auth(&token).bearer_auth(&token);
    app.send(twice.json(&body)).await.expect(401);
}

/// HMAC with SHA-256.
fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key), message).as_ref().to_vec()
}

fn encoded(value: &Value) -> String {
    BASE64URL_NOPAD.encode(value.to_string().as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_tokens_are_refused() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let tokens = tokens_for(&app, &person, "/api/mcp/v1").await;
    let good = tokens.access.clone();
    let parts: Vec<&str> = good.split('.').collect();
    let [head, payload, signature] = parts[..] else { panic!("a JWT has three parts") };
    let (header, claims) = decoded(&good);
    let jwks = app.fetch("/api/oauth/jwks").await.json;
    let public = jwks["keys"][0].to_string();

    let mut forged: Vec<(String, String)> = Vec::new();
    let with_header = |changes: Value| {
        let mut header = header.clone();
        for (name, value) in changes.as_object().unwrap() {
            header[name] = value.clone();
        }
        encoded(&header)
    };
    for alg in ["none", "None", "NONE", "nOnE", "HS256", "RS256", "ES384"] {
        let head = with_header(json!({"alg": alg}));
        forged.push((format!("alg {alg}, no signature"), format!("{head}.{payload}.")));
        forged.push((format!("alg {alg}, old signature"), format!("{head}.{payload}.{signature}")));
    }
    let head_hs = with_header(json!({"alg": "HS256"}));
    for key in [public.as_bytes(), jwks["keys"][0]["x"].as_str().unwrap_or_default().as_bytes()] {
        let message = format!("{head_hs}.{payload}");
        let mac = hmac(key, message.as_bytes());
        forged
            .push(("HS256 by the public key".into(), format!("{message}.{}", BASE64URL_NOPAD.encode(&mac))));
    }
    let long = "k".repeat(100_000);
    for kid in ["", "../../secret", "' OR 1=1 --", long.as_str(), "unknown"] {
        let head = with_header(json!({"kid": kid}));
        forged.push((format!("kid {}", &kid[..kid.len().min(20)]), format!("{head}.{payload}.{signature}")));
    }
    for extra in [
        json!({"crit": ["x"], "x": 1}),
        json!({"jwk": jwks["keys"][0]}),
        json!({"jku": "https://evil.example/keys"}),
        json!({"x5u": "https://evil.example/cert"}),
        json!({"typ": "JWT"}),
        json!({"typ": null}),
    ] {
        forged.push((extra.to_string(), format!("{}.{payload}.{signature}", with_header(extra))));
    }
    for (name, value) in [
        ("sub", json!("999")),
        ("exp", json!(99_999_999_999_i64)),
        ("aud", json!(["x"])),
        ("scope", json!("mcp:images mcp:photos")),
    ] {
        let mut changed = claims.clone();
        changed[name] = value;
        forged.push((format!("claim {name}"), format!("{head}.{}.{signature}", encoded(&changed))));
    }
    let twice = claims.to_string().replacen('{', "{\"sub\":\"1\",", 1);
    forged.push((
        "a member twice".into(),
        format!("{head}.{}.{signature}", BASE64URL_NOPAD.encode(twice.as_bytes())),
    ));
    forged.push(("no signature".into(), format!("{head}.{payload}.")));
    forged.push(("two parts".into(), format!("{head}.{payload}")));
    forged.push(("four parts".into(), format!("{good}.{signature}")));
    forged.push(("padding".into(), format!("{good}=")));
    forged.push(("dots".into(), "..".into()));
    forged.push(("refresh token".into(), tokens.refresh.clone()));
    // The last base64 character of 64 bytes has unused bits: another character decodes to the same bytes.
    let last = signature.chars().last().unwrap();
    for other in
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".chars().filter(|c| *c != last)
    {
        forged.push((format!("last character {other}"), format!("{}{other}", &good[..good.len() - 1])));
    }
    for (what, token) in &forged {
        // A request head above the server's limit is refused with 431 before the token is checked.
        let answer = app.list_tools("/api/mcp/v1", token).await;
        assert!(
            answer.status == 401 || (token.len() > 50_000 && answer.status == 431),
            "{what}: {}",
            answer.status
        );
    }
    app.list_tools("/api/mcp/v1", &good).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_rotation_the_new_key_signs_and_the_old_one_verifies() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let old = app.tokens(&client, &person).await;
    let secret = tests::secret();
    app.other_process().await.accounts.signing_keys(secret).rotate(false).await.unwrap();
    app.list_tools("/api/mcp/v1", &old.access).await.expect(200);
    let new = Tokens::read(&app.refresh(&client, &old.refresh).await);
    assert_ne!(decoded(&old.access).0["kid"], decoded(&new.access).0["kid"]);
    app.list_tools("/api/mcp/v1", &new.access).await.expect(200);
    app.list_tools("/api/mcp/v1", &old.access).await.expect(200);
    let kids: Vec<Value> = app.fetch("/api/oauth/jwks").await.json["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| key["kid"].clone())
        .collect();
    assert!(kids.contains(&decoded(&old.access).0["kid"]) && kids.contains(&decoded(&new.access).0["kid"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_a_deleted_user_is_refused() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let tokens = tokens_for(&app, &person, "/api/mcp/v1").await;
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);
    app.library.accounts.delete_account(person.id).await.unwrap();
    unauthorized(&app, &app.list_tools("/api/mcp/v1", &tokens.access).await, "/api/mcp/v1", "mcp:images");
}

/// No consent leads to a grant without the scope. Such a grant could remain after a change of the scopes of a resource.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_the_scope_is_403_in_header_and_body() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let subject = decoded(&app.tokens(&client, &person).await.access).1["sub"].clone();
    let now = UnixMillis(app.library.clock().now().millis());
    for (resource, scope) in RESOURCES {
        let url = format!("{}{resource}", app.base_url);
        let other_scope = if scope == "mcp:images" { "mcp:photos" } else { "mcp:images" };
        let grant = Grant {
            id: format!("crafted-{}", &resource[9..]),
            client_id: client.id.clone(),
            subject: person.id.0.to_string(),
            resource: url.clone(),
            scopes: vec![other_scope.to_owned()],
            created_at: now,
            revoked_at: None,
        };
        let claims = json!({
            "iss": format!("{}/api", app.base_url), "sub": subject, "aud": url, "client_id": client.id,
            "scope": other_scope, "iat": now.seconds(), "exp": now.seconds() + 3600, "jti": grant.id, "grant_id": grant.id,
        });
        let hash = SecretHash(keys::sha256(grant.id.as_bytes()));
        let code = IssuedCode {
            redirect_uri: client.redirect_uri.clone(),
            challenge: "c".repeat(43),
            expires_at: now.plus_ms(600_000),
            redeemed_at: None,
        };
        let grants = app.library.accounts.grants();
        assert_eq!(
            grants.issue_code(NewCode { hash, code, grant, client: None }).await.unwrap(),
            CodeStatus::Pending
        );
        let redemption =
            Redemption { code: hash, at: now, refresh: None, access_expires_at: now.plus_ms(3_600_000) };
        assert!(grants.redeem_code(redemption).await.unwrap());
        let signing_keys = app.library.accounts.signing_keys(tests::secret());
        let token = signing_keys.sign(claims.to_string().as_bytes()).await.unwrap();
        let answer = app.list_tools(resource, &token).await;
        assert_eq!(answer.status, 403, "{}", answer.text());
        assert_eq!(answer.json, json!({"error": "insufficient_scope"}));
        let expect =
            challenge(&app, resource, scope).replacen("Bearer ", "Bearer error=\"insufficient_scope\", ", 1);
        assert_eq!(answer.header("www-authenticate"), Some(expect.as_str()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unavailable_store_is_503_not_401() {
    let app = TestApp::builder().unmigrated().start().await;
    for token in ["photos_x", "a.b.c"] {
        let answer = app.list_tools("/api/mcp/v1", token).await;
        if token.contains('.') {
            assert!(matches!(answer.status, 401 | 503), "{}", answer.status);
        } else {
            assert_eq!(answer.status, 503);
            assert!(answer.header("www-authenticate").is_none());
        }
    }
}

/// The claims of a token with some replaced.
fn with_claims(token: &str, changes: &Value) -> Vec<u8> {
    let mut claims = decoded(token).1;
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims.to_string().into_bytes()
}

/// The key that signed a token. An attacker with both the store and the secret could decrypt it in this way.
async fn stolen_key(app: &TestApp, token: &str) -> keys::SigningKey {
    let kid = decoded(token).0["kid"].as_str().unwrap().to_owned();
    let stored = app.store.signing_keys().await.unwrap();
    let stored = stored.iter().find(|key| key.kid == kid).unwrap();
    keys::SigningKey::open(&kid, &stored.sealed, &tests::secret()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cached_token_is_refused_when_its_key_expires() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let tokens = tokens_for(&app, &person, "/api/mcp/v1").await;
    let stolen = stolen_key(&app, &tokens.access).await;
    app.other_process().await.accounts.signing_keys(tests::secret()).rotate(false).await.unwrap();
    app.advance(Duration::from_secs(3_500));
    let now_s = app.library.clock().now().millis() / 1000;
    let late = with_claims(&tokens.access, &json!({"iat": now_s, "exp": now_s + 3600}));
    let late = stolen.sign(&late).unwrap();
    app.list_tools("/api/mcp/v1", &late).await.expect(200);
    app.advance(Duration::from_secs(99));
    app.list_tools("/api/mcp/v1", &late).await.expect(200);
    app.advance(Duration::from_secs(1));
    for _ in 0..2 {
        unauthorized(&app, &app.list_tools("/api/mcp/v1", &late).await, "/api/mcp/v1", "mcp:images");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cached_token_is_refused_when_its_key_is_removed() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let tokens = tokens_for(&app, &person, "/api/mcp/v1").await;
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);
    app.other_process().await.accounts.signing_keys(tests::secret()).rotate(false).await.unwrap();
    app.store.delete_retired_signing_keys(app.library.clock().now().plus_millis(1)).await.unwrap();
    app.advance(Duration::from_secs(60));
    unauthorized(&app, &app.list_tools("/api/mcp/v1", &tokens.access).await, "/api/mcp/v1", "mcp:images");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_with_a_long_lifetime_or_from_the_future_is_refused() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let tokens = tokens_for(&app, &person, "/api/mcp/v1").await;
    let keys = app.library.accounts.signing_keys(tests::secret());
    let now = app.library.clock().now().millis() / 1000;
    for (iat, exp, expect) in [
        (now, now + 3600, 200),
        (now, now + 3601, 401),
        (now - 1, now + 3600, 401),
        (now, now + 10 * 365 * 86_400, 401),
        (now, i64::MAX, 401),
        (i64::MIN, now + 1, 401),
        (i64::MIN, i64::MAX, 401),
        // The clock of another server may be 10 seconds ahead.
        (now + 10, now + 3610, 200),
        (now + 11, now + 3611, 401),
        (i64::MAX, i64::MAX, 401),
    ] {
        let claims = with_claims(&tokens.access, &json!({"iat": iat, "exp": exp}));
        let token = keys.sign(&claims).await.unwrap();
        assert_eq!(app.list_tools("/api/mcp/v1", &token).await.status, expect, "iat {iat}, exp {exp}");
    }
}
