use data_encoding::BASE64;
use reqwest::Method;
use serde_json::json;
use tests::{
    TestApp, TestResponse,
    oauth::{OauthClient, Tokens},
};

use super::{changed, code_fields, refused};

async fn confidential(app: &TestApp, method: &str) -> OauthClient {
    app.client_with(&["https://app.example/callback"], json!({"token_endpoint_auth_method": method})).await
}

fn basic(id: &str, secret: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{id}:{secret}").as_bytes()))
}

async fn with_header(app: &TestApp, authorization: &str, fields: &[(&str, &str)]) -> TestResponse {
    let request = app.request(Method::POST, "/api/oauth/token").header("authorization", authorization);
    app.send(request.form(fields)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_accepted_by_basic_or_in_the_body() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    for method in ["client_secret_basic", "client_secret_post"] {
        let client = confidential(&app, method).await;
        let secret = client.secret.clone().unwrap();
        let encoded = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
        for authorization in [basic(&client.id, &secret), basic(&encoded(&client.id), &encoded(&secret))] {
            let code = app.code(&client, &person).await;
            let fields = changed(&code_fields(&client, &code), "client_id", None);
            let tokens = Tokens::read(&with_header(&app, &authorization, &fields).await);
            let refresh = [("grant_type", "refresh_token"), ("refresh_token", tokens.refresh.as_str())];
            with_header(&app, &authorization, &refresh).await.expect(200);
        }
        let code = app.code(&client, &person).await;
        let mut fields = code_fields(&client, &code);
        fields.push(("client_secret", &secret));
        let tokens = Tokens::read(&app.oauth_form("token", &fields).await);
        refused(&app.refresh(&client, &tokens.refresh).await, 401, "invalid_client");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_secret_is_401_and_consumes_nothing() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = confidential(&app, "client_secret_basic").await;
    let secret = client.secret.clone().unwrap();
    let code = app.code(&client, &person).await;
    let fields = code_fields(&client, &code);
    let bare = changed(&fields, "client_id", None);
    for authorization in [
        basic(&client.id, "wrong"),
        basic(&client.id, ""),
        basic(&client.id, &format!("{secret} ")),
        basic("unknown", &secret),
    ] {
        let answer = with_header(&app, &authorization, &bare).await;
        refused(&answer, 401, "invalid_client");
        assert!(answer.header("www-authenticate").unwrap().starts_with("Basic "));
    }
    let mut wrong = fields.clone();
    wrong.push(("client_secret", "wrong"));
    let unknown = changed(&fields, "client_id", Some("unknown"));
    for fields in [fields, wrong, unknown] {
        let answer = app.oauth_form("token", &fields).await;
        refused(&answer, 401, "invalid_client");
        assert!(
            answer.header("www-authenticate").is_some_and(|header| header.starts_with("Basic ")),
            "every 401 names how to authenticate"
        );
    }
    with_header(&app, &basic(&client.id, &secret), &bare).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_one_authentication_method_is_accepted() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = confidential(&app, "client_secret_basic").await;
    let other = confidential(&app, "client_secret_basic").await;
    let secret = client.secret.clone().unwrap();
    let code = app.code(&client, &person).await;
    let fields = code_fields(&client, &code);
    let authorization = basic(&client.id, &secret);

    let mut both = fields.clone();
    both.push(("client_secret", &secret));
    refused(&with_header(&app, &authorization, &both).await, 400, "invalid_request");
    let differing = changed(&fields, "client_id", Some(&other.id));
    let answer = with_header(&app, &authorization, &differing).await;
    assert!(matches!(answer.oauth_error(), "invalid_request" | "invalid_client"), "{}", answer.text());
    let twice = app
        .request(Method::POST, "/api/oauth/token")
        .header("authorization", &authorization)
        .header("authorization", &authorization);
    refused(&app.send(twice.form(&fields)).await, 400, "invalid_request");
    for bad in ["Basic !!!", "Basic", "Basic YWJj", &format!("{authorization}!")] {
        let answer = with_header(&app, bad, &fields).await;
        assert!(matches!(answer.status, 400 | 401), "{bad}: {}", answer.text());
        assert!(matches!(answer.oauth_error(), "invalid_request" | "invalid_client"), "{bad}");
    }
    with_header(&app, &authorization, &fields).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_client_must_not_send_a_secret() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let code = app.code(&client, &person).await;
    let fields = code_fields(&client, &code);
    refused(&with_header(&app, &basic(&client.id, "x"), &fields).await, 401, "invalid_client");
    app.oauth_form("token", &fields).await.expect(200);
}
