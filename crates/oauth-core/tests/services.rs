//! Runs a client against the example services.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, unreachable_pub, reason = "the example is a program of its own")]
#[path = "../examples/axum_service.rs"]
mod axum_service;
#[expect(dead_code, unreachable_pub, reason = "the example is a program of its own")]
#[path = "../examples/hyper_service.rs"]
mod hyper_service;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const JSON: &str = "content-type: application/json\r\n";
const FORM: &str = "content-type: application/x-www-form-urlencoded\r\n";

/// An example service.
struct Service(std::net::SocketAddr);

impl Service {
    /// Status, head and body of the response.
    async fn ask(&self, line: &str, headers: &str, body: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.0).await.unwrap();
        let length = body.len();
        let request = format!(
            "{line} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), head.to_owned(), body.to_owned())
    }

    async fn json(&self, line: &str, body: &str) -> (u16, Value) {
        let content_type = if body.starts_with('{') { JSON } else { FORM };
        let (status, _, body) = self.ask(line, content_type, body).await;
        (status, serde_json::from_str(&body).unwrap())
    }

    /// Signs in on the page at the line's URL. Returns the `Cookie` header of the session.
    async fn sign_in(&self, line: &str) -> String {
        assert_eq!(self.ask(line, FORM, "email=ada%40example.org&password=wrong").await.0, 403);
        let (status, head, _) = self.ask(line, FORM, "email=ada%40example.org&password=correct+horse").await;
        assert!(status == 303 && head.contains("location: ?client_id="), "{head}");
        let cookie = head.split_once("set-cookie: ").unwrap().1.split(';').next().unwrap();
        format!("cookie: {cookie}\r\n")
    }

    async fn photos(&self, token: &Value) -> u16 {
        let header = format!("authorization: Bearer {}\r\n", token.as_str().unwrap());
        self.ask("GET /", &header, "").await.0
    }
}

async fn listen() -> (TcpListener, Service) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let service = Service(listener.local_addr().unwrap());
    (listener, service)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_completes_the_flow_with_axum() {
    let (listener, service) = listen().await;
    tokio::spawn(axum_service::run(listener));
    complete_the_flow(&service).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_completes_the_flow_with_hyper() {
    let (listener, service) = listen().await;
    tokio::spawn(hyper_service::run(listener));
    complete_the_flow(&service).await;
}

async fn complete_the_flow(service: &Service) {
    let (status, head, _) = service.ask("GET /", "", "").await;
    let challenge = "www-authenticate: Bearer scope=\"photos\", resource_metadata=\"http://";
    assert!(status == 401 && head.contains(challenge), "{head}");
    let (_, resource) = service.json("GET /.well-known/oauth-protected-resource", "").await;
    let (_, metadata) = service.json("GET /.well-known/oauth-authorization-server", "").await;
    assert_eq!(resource["authorization_servers"][0], metadata["issuer"]);

    let about = json!({"client_name": "A & B", "redirect_uris": ["https://app.example/cb"]}).to_string();
    let (status, client) = service.json("POST /register", &about).await;
    let id = client["client_id"].as_str().unwrap();
    assert_eq!(status, 201);
    assert_eq!(service.json("POST /register", "{}").await.0, 400);

    let query = format!(
        "client_id={id}&redirect_uri=https://app.example/cb&response_type=code&state=x\
         &code_challenge={CHALLENGE}&code_challenge_method=S256"
    );
    let (show, line) = (format!("GET /authorize?{query}"), format!("POST /authorize?{query}"));
    let (_, _, sign_in) = service.ask(&show, "", "").await;
    let cookie = if sign_in.contains("password") { service.sign_in(&line).await } else { String::new() };
    let form_headers = format!("{FORM}{cookie}");
    let (status, head, form) = service.ask(&show, &cookie, "").await;
    assert!(status == 200 && form.contains("“A &amp; B”"), "{form}");
    let policy = "frame-ancestors 'none'; form-action 'self' https://app.example https:";
    assert!(head.contains(policy), "{head}");
    let token = form.split_once("name=\"token\" value=\"").unwrap().1.split('"').next().unwrap();
    // A consent without a valid form token is refused.
    let allow = format!("token={token}&answer=allow");
    assert_eq!(service.ask(&line, &form_headers, &format!("token=x{token}&answer=allow")).await.0, 403);
    if !cookie.is_empty() {
        assert_eq!(service.ask(&line, FORM, &allow).await.0, 403);
    }
    let (status, head, _) = service.ask(&line, &form_headers, &format!("token={token}&answer=deny")).await;
    assert!(status == 303 && head.contains("error=access_denied"), "{head}");
    let (status, head, _) = service.ask(&line, &form_headers, &allow).await;
    assert_eq!(status, 303);
    let code = head.split_once("https://app.example/cb?code=").unwrap().1.split('&').next().unwrap();
    assert_eq!(service.ask("GET /authorize?client_id=x", "", "").await.0, 400);
    let (status, head, _) = service.ask(&format!("GET /authorize?{query}&scope=x"), "", "").await;
    assert!(status == 303 && head.contains("error=invalid_scope"), "{head}");

    let redeem = format!(
        "grant_type=authorization_code&client_id={id}&code={code}&code_verifier={VERIFIER}\
         &redirect_uri=https://app.example/cb"
    );
    let (status, tokens) = service.json("POST /token", &redeem).await;
    assert_eq!((status, service.photos(&tokens["access_token"]).await), (200, 200));
    let (status, error) = service.json("POST /token", &redeem).await;
    assert_eq!((status, &error["error"]), (400, &json!("invalid_grant")));
    assert_eq!(service.json("POST /token", &redeem.replace(id, "x")).await.0, 401);

    let refresh_token = tokens["refresh_token"].as_str().unwrap();
    let refresh = format!("grant_type=refresh_token&client_id={id}&refresh_token={refresh_token}");
    let (status, renewed) = service.json("POST /token", &refresh).await;
    assert_eq!((status, service.photos(&renewed["access_token"]).await), (200, 200));
    assert_eq!(service.json("POST /revoke", &format!("token={refresh_token}")).await.0, 200);
    assert_eq!(service.photos(&renewed["access_token"]).await, 401);
    assert_eq!(service.json("POST /revoke", "").await.0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_router_refuses_long_bodies() {
    let (listener, service) = listen().await;
    tokio::spawn(axum_service::run(listener));
    let long = format!("{{{}}}", " ".repeat(oauth_core::MAX_BODY_BYTES));
    let (status, error) = service.json("POST /register", &long).await;
    assert_eq!((status, &error["error"]), (413, &json!("invalid_client_metadata")));
}
