//! OAuth clients and a browser for tests against a running server.

use std::collections::BTreeMap;

use reqwest::{Client, Method, RequestBuilder, Url, header, redirect::Policy};
use serde_json::{Value, json};
use tests::oauth::{HtmlForm, VERIFIER, challenge, forms};

use crate::program::{EMAIL, Instance, Server};

/// The account's password. Its characters need no escaping, so that a search finds it in any output.
pub(crate) const PASSWORD: &str = "correct-horse-battery-staple";

/// The base URL, which stays the same although each start picks another port.
pub(crate) const BASE_URL: &str = "https://photos.example.org";

const REDIRECT_URI: &str = "https://app.example/callback";

/// Starts a server with [`BASE_URL`].
pub(crate) fn serve(instance: &Instance) -> Server {
    Server::start(&mut instance.command(["serve", "--listen", "127.0.0.1:0", "--base-url", BASE_URL]))
}

/// A registered client.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) id: String,
    pub(crate) secret: Option<String>,
}

/// The tokens of a grant.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: String,
}

/// A response with a text body.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) text: String,
    location: Option<String>,
    cookies: Vec<(String, String)>,
}

impl Response {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// Whether the token endpoint refused the code or token.
    pub(crate) fn is_invalid_grant(&self) -> bool {
        self.status == 400 && self.json()["error"] == "invalid_grant"
    }

    #[track_caller]
    pub(crate) fn tokens(&self) -> Tokens {
        assert_eq!(self.status, 200, "{}", self.text);
        let text = |name: &str| self.json()[name].as_str().unwrap().to_owned();
        Tokens { access: text("access_token"), refresh: text("refresh_token") }
    }
}

/// An HTTP client of a running server.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    client: Client,
    address: String,
}

impl Http {
    pub(crate) fn to(server: &Server) -> Self {
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        Self { client, address: server.address.clone() }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    pub(crate) async fn get(&self, path: &str, bearer: &str) -> Response {
        send(self.request(Method::GET, path).bearer_auth(bearer)).await.unwrap()
    }

    /// Registers a client with this metadata and the redirect URI.
    pub(crate) async fn register(&self, mut body: Value) -> App {
        body["redirect_uris"] = json!([REDIRECT_URI]);
        let request = self.request(Method::POST, "/api/oauth/register").json(&body);
        let registered = send(request).await.unwrap().expect(201).json();
        let text = |name: &str| registered[name].as_str().map(str::to_owned);
        App { id: text("client_id").unwrap(), secret: text("client_secret") }
    }

    async fn token(&self, app: &App, fields: &[(&str, &str)]) -> reqwest::Result<Response> {
        let request = self.request(Method::POST, "/api/oauth/token");
        let mut fields = fields.to_vec();
        send(match &app.secret {
            Some(secret) => request.basic_auth(&app.id, Some(secret)).form(&fields),
            None => {
                fields.push(("client_id", &app.id));
                request.form(&fields)
            }
        })
        .await
    }

    pub(crate) async fn redeem(&self, app: &App, code: &str) -> reqwest::Result<Response> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", REDIRECT_URI),
            ("code_verifier", VERIFIER),
        ];
        self.token(app, &fields).await
    }

    pub(crate) async fn refresh(&self, app: &App, token: &str) -> reqwest::Result<Response> {
        self.token(app, &[("grant_type", "refresh_token"), ("refresh_token", token)]).await
    }

    pub(crate) async fn revoke(&self, token: &str) -> reqwest::Result<Response> {
        send(self.request(Method::POST, "/api/oauth/revoke").form(&[("token", token)])).await
    }

    /// The status of an MCP request with this bearer token.
    pub(crate) async fn mcp_status(&self, bearer: &str) -> u16 {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let request = self.request(Method::POST, "/api/mcp/v1").bearer_auth(bearer).json(&body);
        send(request).await.unwrap().status
    }
}

/// Sends a request and reads the whole response. Fails if the server exits before that.
pub(crate) async fn send(request: RequestBuilder) -> reqwest::Result<Response> {
    let response = request.send().await?;
    let header = |name| response.headers().get_all(name).iter().map(|value| value.to_str().unwrap());
    let cookie = |cookie: &str| {
        let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
        (name.to_owned(), value.to_owned())
    };
    Ok(Response {
        status: response.status().as_u16(),
        location: header(header::LOCATION).next().map(str::to_owned),
        cookies: header(header::SET_COOKIE).map(cookie).collect(),
        text: response.text().await?,
    })
}

/// A browser with its cookies.
pub(crate) struct Browser {
    http: Http,
    cookies: BTreeMap<String, String>,
    /// All values of cookies and hidden fields received so far.
    pub(crate) received: Vec<String>,
}

impl Browser {
    pub(crate) fn new(http: Http) -> Self {
        Self { http, cookies: BTreeMap::new(), received: Vec::new() }
    }

    /// Switches to a restarted server.
    pub(crate) fn reconnect(&mut self, http: Http) {
        self.http = http;
    }

    async fn send(&mut self, request: RequestBuilder) -> Response {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let response = send(request.header(header::COOKIE, cookies.join("; "))).await.unwrap();
        self.received.extend(response.cookies.iter().map(|(_, value)| value.clone()));
        self.cookies.extend(response.cookies.iter().cloned());
        response
    }

    /// The first form of a page.
    async fn form(&mut self, path: &str) -> HtmlForm {
        let request = self.http.request(Method::GET, path);
        let page = self.send(request).await.expect(200);
        let forms = forms(&page.text);
        self.received.extend(forms.iter().flat_map(|form| form.fields.values().cloned()));
        forms.into_iter().next().unwrap()
    }

    async fn submit(&mut self, path: &str, mut form: HtmlForm, filled: &[(&str, &str)]) -> Response {
        form.fields.extend(filled.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let action = if form.action.is_empty() { path } else { &form.action };
        let request = self.http.request(Method::POST, action).header(header::ORIGIN, BASE_URL);
        self.send(request.form(&form.fields)).await
    }

    pub(crate) async fn sign_in(&mut self, password: &str) -> Response {
        let form = self.form("/sign-in").await;
        self.submit("/sign-in", form, &[("email", EMAIL), ("password", password)]).await
    }

    /// Allows the app's authorization request and returns the code. The browser must be signed in.
    pub(crate) async fn consent(&mut self, app: &App) -> String {
        let challenge = challenge(VERIFIER);
        let parameters = [
            ("response_type", "code"),
            ("client_id", &app.id),
            ("redirect_uri", REDIRECT_URI),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        let url = Url::parse_with_params(&format!("{BASE_URL}/api/oauth/authorize"), parameters).unwrap();
        let path = format!("{}?{}", url.path(), url.query().unwrap());
        let form = self.form(&path).await;
        assert!(form.fields.contains_key("attempt"), "no consent form: {form:?}");
        let response = self.submit(&path, form, &[("decision", "allow")]).await.expect(303);
        let url = Url::parse(&response.location.unwrap()).unwrap();
        url.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned()
    }
}
