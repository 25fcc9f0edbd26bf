use reqwest::Method;
use serde_json::json;
use tests::{
    TestApp,
    oauth::{Authorize, OauthClient, PASSWORD, Tokens, VERIFIER, challenge, forms},
};
use url::Url;

/// The flow of a client that knows only the MCP URL.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_connects_from_the_bare_mcp_url() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    for resource in ["/api/mcp/v1", "/api/mcp/v2", "/api/mcp/legacy"] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let refused = app.send(app.request(Method::POST, resource).json(&body)).await.expect(401);
        let challenge_header = refused.header("www-authenticate").unwrap();
        let metadata_url =
            challenge_header.split("resource_metadata=\"").nth(1).unwrap().trim_end_matches('"');
        let metadata = app.fetch(metadata_url).await.expect(200).json;
        assert_eq!(metadata["resource"], format!("{}{resource}", app.base_url));
        let issuer = Url::parse(metadata["authorization_servers"][0].as_str().unwrap()).unwrap();
        let inserted = format!("{}/.well-known/oauth-authorization-server{}", app.base_url, issuer.path());
        let server = app.fetch(&inserted).await.expect(200).json;
        assert_eq!(server["issuer"], issuer.as_str());

        let path =
            |name: &str| server[name].as_str().unwrap().strip_prefix(&app.base_url).unwrap().to_owned();
        let registration = json!({
            "client_name": "An app",
            "redirect_uris": ["http://127.0.0.1:9/cb"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "scope": metadata["scopes_supported"][0],
        });
        let client = app
            .send(app.request(Method::POST, &path("registration_endpoint")).json(&registration))
            .await
            .expect(201);
        let client = OauthClient {
            id: client.json["client_id"].as_str().unwrap().to_owned(),
            secret: None,
            redirect_uri: "http://127.0.0.1:9/cb".to_owned(),
        };
        let request = Authorize::of(&app, &client).with("resource", &format!("{}{resource}", app.base_url));
        assert!(request.path().starts_with(&path("authorization_endpoint")));
        let browser = app.browser();
        browser.sign_in(&request.path(), &person, PASSWORD).await.expect(303);
        let code = browser.allow(&request).await.code();
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", &client.redirect_uri),
            ("code_verifier", VERIFIER),
            ("client_id", &client.id),
        ];
        let answer = app.send(app.request(Method::POST, &path("token_endpoint")).form(&fields)).await;
        let tokens = Tokens::read(&answer);
        app.list_tools(resource, &tokens.access).await.expect(200);
        let tokens = Tokens::read(&app.refresh(&client, &tokens.refresh).await);
        app.list_tools(resource, &tokens.access).await.expect(200);
        let by = [("token", tokens.refresh.as_str())];
        app.send(app.request(Method::POST, &path("revocation_endpoint")).form(&by)).await.expect(200);
        app.list_tools(resource, &tokens.access).await.expect(401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pkce_is_required() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let browser = app.browser().signed_in(&person).await;
    for verifier in ["x".repeat(43), "x".repeat(128), format!("-._~{}", "aZ0".repeat(20))] {
        let request = Authorize::of(&app, &client).with("code_challenge", &challenge(&verifier));
        let code = browser.allow(&request).await.code();
        let mut fields = super::code_fields(&client, &code);
        super::refused(&app.oauth_form("token", &fields).await, 400, "invalid_grant");
        fields = super::changed(&fields, "code_verifier", Some(&verifier));
        app.oauth_form("token", &fields).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_for_programs_allow_any_origin() {
    let app = TestApp::start().await;
    for path in ["/api/oauth/register", "/api/oauth/token", "/api/oauth/revoke", "/api/mcp/v1"] {
        let preflight = app
            .request(Method::OPTIONS, path)
            .header("origin", "http://localhost:6274")
            .header("access-control-request-method", "POST")
            .header(
                "access-control-request-headers",
                "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name",
            );
        let answer = app.send(preflight).await.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert!(answer.header("access-control-allow-methods").unwrap().contains("POST"));
        assert!(answer.header("access-control-allow-headers").unwrap().contains("authorization"));
        assert!(answer.header("access-control-allow-credentials").is_none());
    }
    let client = app.public_client().await;
    let page = app.browser().open(&Authorize::of(&app, &client).path()).await.expect(200);
    assert!(!forms(&page.text()).is_empty());
    assert!(page.header("access-control-allow-origin").is_none());
}
