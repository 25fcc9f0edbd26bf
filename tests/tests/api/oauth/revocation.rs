use reqwest::Method;
use serde_json::json;
use tests::{TestApp, oauth::Tokens};

use super::{opens, refused};

#[tokio::test(flavor = "multi_thread")]
async fn either_token_revokes_the_grant_at_once() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    for hint in [None, Some("access_token"), Some("refresh_token"), Some("nonsense")] {
        for by_refresh in [false, true] {
            let tokens = app.tokens(&client, &person).await;
            assert!(opens(&app, &tokens.access).await, "its signature is cached now");
            let token = if by_refresh { &tokens.refresh } else { &tokens.access };
            let mut fields = vec![("token", token.as_str())];
            fields.extend(hint.map(|hint| ("token_type_hint", hint)));
            let answer = app.oauth_form("revoke", &fields).await.expect(200);
            assert_eq!(answer.header("cache-control"), Some("no-store"));
            assert!(!opens(&app, &tokens.access).await);
            refused(&app.refresh(&client, &tokens.refresh).await, 400, "invalid_grant");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_refresh_token_revokes_its_grant() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let first = app.tokens(&client, &person).await;
    let second = Tokens::read(&app.refresh(&client, &first.refresh).await);
    app.oauth_form("revoke", &[("token", &first.refresh)]).await.expect(200);
    assert!(!opens(&app, &second.access).await);
    refused(&app.refresh(&client, &second.refresh).await, 400, "invalid_grant");
}

#[tokio::test(flavor = "multi_thread")]
async fn revoking_one_grant_leaves_the_others() {
    let app = TestApp::start().await;
    let (anna, bert) = (app.person("anna").await, app.person("bert").await);
    let client = app.public_client().await;
    let (one, two, berts) = (
        app.tokens(&client, &anna).await,
        app.tokens(&client, &anna).await,
        app.tokens(&client, &bert).await,
    );
    app.oauth_form("revoke", &[("token", &one.access)]).await.expect(200);
    assert!(!opens(&app, &one.access).await);
    assert!(opens(&app, &two.access).await && opens(&app, &berts.access).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn revoking_an_invalid_token_is_200() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let tokens = app.tokens(&client, &person).await;
    let long = "x".repeat(100_000);
    let forged = format!("{}x", &tokens.access[..tokens.access.len() - 1]);
    for token in ["unknown", "a.b.c", "ü\u{0}", &long, &forged, &person.key] {
        app.oauth_form("revoke", &[("token", token)]).await.expect(200);
    }
    assert!(opens(&app, &tokens.access).await);
    assert!(opens(&app, &person.key).await);
    for _ in 0..2 {
        app.oauth_form("revoke", &[("token", &tokens.refresh)]).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_accepted_and_malformed_bodies_are_refused() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let tokens = app.tokens(&client, &person).await;
    refused(&app.oauth_form("revoke", &[]).await, 400, "invalid_request");
    refused(&app.oauth_form("revoke", &[("token", "")]).await, 400, "invalid_request");
    let twice = [("token", tokens.access.as_str()), ("token", tokens.access.as_str())];
    refused(&app.oauth_form("revoke", &twice).await, 400, "invalid_request");
    let post = |content_type: &str, body: String| {
        app.send(
            app.request(Method::POST, "/api/oauth/revoke").header("content-type", content_type).body(body),
        )
    };
    for body in ["", "[]", "{}", "null", "{", r#"{"token": 7}"#, r#"{"token": "a", "token": "a"}"#] {
        refused(&post("application/json", body.to_owned()).await, 400, "invalid_request");
    }
    refused(&post("text/plain", format!("token={}", tokens.access)).await, 400, "invalid_request");
    app.send(app.request(Method::GET, "/api/oauth/revoke")).await.expect(405);
    assert!(opens(&app, &tokens.access).await);
    let body = json!({"token": tokens.access, "token_type_hint": "refresh_token"});
    post("application/json", body.to_string()).await.expect(200);
    assert!(!opens(&app, &tokens.access).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revocation_by_another_process_takes_effect_at_once() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let tokens = app.tokens(&client, &person).await;
    assert!(opens(&app, &tokens.access).await);
    app.other_process().await.accounts.delete_account(person.id).await.unwrap();
    assert!(!opens(&app, &tokens.access).await);
    refused(&app.refresh(&client, &tokens.refresh).await, 400, "invalid_grant");
}

/// Forged tokens with the handle and generation of a real one.
fn forged_from(refresh: &str) -> Vec<String> {
    let real = data_encoding::BASE64URL_NOPAD.decode(refresh.as_bytes()).unwrap();
    let mut made_up = vec![vec![0; real.len() - 20], vec![0xff; real.len() - 20], real[20..].to_vec()];
    made_up[2][0] ^= 1;
    let mut last_byte = real[20..].to_vec();
    *last_byte.last_mut().unwrap() ^= 1;
    made_up.push(last_byte);
    let with_secret = |secret: &Vec<u8>| {
        let generations = [&real[16..20], &[0, 0, 0, 0], &[0, 0, 0, 1], &[0xff; 4]];
        generations.map(|generation| {
            data_encoding::BASE64URL_NOPAD.encode(&[&real[..16], generation, secret].concat())
        })
    };
    made_up.iter().flat_map(with_secret).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_token_with_a_real_handle_changes_nothing() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let first = app.tokens(&client, &person).await;
    let second = Tokens::read(&app.refresh(&client, &first.refresh).await);
    app.advance(std::time::Duration::from_secs(60));
    for token in forged_from(&first.refresh) {
        app.oauth_form("revoke", &[("token", &token)]).await.expect(200);
        assert!(opens(&app, &second.access).await, "revoked by {token}");
        refused(&app.refresh(&client, &token).await, 400, "invalid_grant");
        assert!(opens(&app, &second.access).await, "replayed by {token}");
    }
    let third = Tokens::read(&app.refresh(&client, &second.refresh).await);
    refused(&app.refresh(&client, &first.refresh).await, 400, "invalid_grant");
    assert!(!opens(&app, &third.access).await, "a genuine old token still revokes the grant");
}
