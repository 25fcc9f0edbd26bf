use data_encoding::BASE64URL_NOPAD;
use reqwest::Method;
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use super::{Browser, VERIFIER, forms};
use crate::{TestAccount, TestApp, TestResponse};

/// The PKCE challenge of a verifier (RFC 7636, section 4.2).
pub fn challenge(verifier: &str) -> String {
    BASE64URL_NOPAD.encode(&keys::sha256(verifier.as_bytes()))
}

/// A registered client.
#[derive(Debug, Clone)]
pub struct OauthClient {
    pub id: String,
    /// Its secret, if it is confidential.
    pub secret: Option<String>,
    /// The first of its redirect URIs.
    pub redirect_uri: String,
}

/// A response of the token endpoint.
#[derive(Debug, Clone)]
pub struct Tokens {
    pub access: String,
    /// The refresh token; empty when there is none.
    pub refresh: String,
    /// The granted scopes.
    pub scope: String,
}

impl Tokens {
    /// Reads a token response.
    ///
    /// # Panics
    /// If it is an error.
    #[track_caller]
    pub fn read(answer: &TestResponse) -> Self {
        assert_eq!(answer.status, 200, "{}", answer.text());
        let text = |name: &str| answer.json[name].as_str().unwrap_or_default().to_owned();
        assert!(!text("access_token").is_empty(), "{}", answer.text());
        Self { access: text("access_token"), refresh: text("refresh_token"), scope: text("scope") }
    }
}

/// An authorization request. Its parameters can be replaced, removed or repeated.
#[derive(Debug, Clone)]
pub struct Authorize {
    parameters: Vec<(String, String)>,
}

impl Authorize {
    /// A valid request for the current resource.
    pub fn of(app: &TestApp, client: &OauthClient) -> Self {
        let resource = format!("{}/api/mcp/v1", app.service_url);
        let challenge = challenge(VERIFIER);
        let parameters = [
            ("response_type", "code"),
            ("client_id", &client.id),
            ("redirect_uri", &client.redirect_uri),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &resource),
            ("state", "a state/with+odd &characters"),
        ];
        Self { parameters: parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec() }
    }

    /// With this value, replacing any other.
    #[must_use]
    pub fn with(self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value)
    }

    /// Without this parameter.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.parameters.retain(|(known, _)| known != name);
        self
    }

    /// With this value in addition.
    #[must_use]
    pub fn and(mut self, name: &str, value: &str) -> Self {
        self.parameters.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The path with its query.
    pub fn path(&self) -> String {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.parameters).finish();
        format!("/api/oauth/authorize?{query}")
    }
}

impl TestApp {
    /// Registers a client with this body.
    pub async fn register(&self, body: &Value) -> TestResponse {
        self.send(self.request(Method::POST, "/api/oauth/register").json(body)).await
    }

    /// A registered client with these redirect URIs and the other members of the body.
    ///
    /// # Panics
    /// If it is refused.
    pub async fn client_with(&self, redirect_uris: &[&str], more: Value) -> OauthClient {
        let mut body = json!({"client_name": "Test app", "redirect_uris": redirect_uris});
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        let client = self.register(&body).await.expect(201).json;
        OauthClient {
            id: client["client_id"].as_str().unwrap().to_owned(),
            secret: client["client_secret"].as_str().map(str::to_owned),
            redirect_uri: redirect_uris[0].to_owned(),
        }
    }

    pub async fn public_client(&self) -> OauthClient {
        self.client_with(&["https://app.example/callback"], json!({})).await
    }

    /// Posts a form to an endpoint of the authorization server, such as `token`.
    pub async fn oauth_form(&self, name: &str, fields: &[(&str, &str)]) -> TestResponse {
        self.send(self.request(Method::POST, &format!("/api/oauth/{name}")).form(fields)).await
    }

    /// Redeems a code of a public client.
    pub async fn redeem(&self, client: &OauthClient, code: &str) -> TestResponse {
        self.oauth_form(
            "token",
            &[
                ("grant_type", "authorization_code"),
                ("code", code),
                ("redirect_uri", &client.redirect_uri),
                ("code_verifier", VERIFIER),
                ("client_id", &client.id),
            ],
        )
        .await
    }

    /// Refreshes a public client's tokens.
    pub async fn refresh(&self, client: &OauthClient, refresh_token: &str) -> TestResponse {
        let fields =
            [("grant_type", "refresh_token"), ("refresh_token", refresh_token), ("client_id", &client.id)];
        self.oauth_form("token", &fields).await
    }

    /// A code for a client at the current resource.
    pub async fn code(&self, client: &OauthClient, account: &TestAccount) -> String {
        let browser = self.browser().signed_in(account).await;
        browser.allow(&Authorize::of(self, client)).await.code()
    }

    /// Tokens of a public client at the current resource.
    pub async fn tokens(&self, client: &OauthClient, account: &TestAccount) -> Tokens {
        let code = self.code(client, account).await;
        Tokens::read(&self.redeem(client, &code).await)
    }

    /// The response of an MCP resource to `tools/list` with this bearer token.
    pub async fn list_tools(&self, resource: &str, token: &str) -> TestResponse {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        self.send(self.request(Method::POST, resource).bearer_auth(token).json(&body)).await
    }
}

impl Browser<'_> {
    /// Opens the consent form of a request and submits a decision.
    ///
    /// # Panics
    /// If no consent form is shown.
    pub async fn decide(&self, request: &Authorize, decision: &str) -> TestResponse {
        let path = request.path();
        let page = self.open(&path).await.expect(200);
        let form = forms(&page.text()).remove(0);
        assert!(form.fields.contains_key("attempt"), "no consent form: {}", page.text());
        self.submit(&path, &form, &[("decision", decision)]).await
    }

    /// Presses Allow.
    pub async fn allow(&self, request: &Authorize) -> TestResponse {
        self.decide(request, "allow").await.expect(303)
    }
}

impl TestResponse {
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The destination of a redirect.
    ///
    /// # Panics
    /// If this is not a redirect.
    #[track_caller]
    pub fn location(&self) -> Url {
        assert!(matches!(self.status, 302 | 303), "{} {}", self.status, self.text());
        Url::parse(self.header("location").unwrap()).unwrap()
    }

    /// A parameter of the URL that a redirect leads to.
    #[track_caller]
    pub fn redirected(&self, name: &str) -> Option<String> {
        self.location().query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }

    /// The authorization code in a redirect.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn code(&self) -> String {
        self.redirected("code").unwrap()
    }

    /// The code of an OAuth error.
    #[track_caller]
    pub fn oauth_error(&self) -> &str {
        self.json["error"].as_str().unwrap_or_default()
    }
}
