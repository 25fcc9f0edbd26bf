use super::*;
use crate::lifecycle::Implementation;
use http::Request;
use serde_json::Value;

fn endpoint() -> Endpoint<()> {
    let server = Server::builder(Implementation::new("s", "1")).build().unwrap();
    Endpoint::new(server).allow_origin("https://app.example").with_max_body_bytes(100)
}

async fn send(method: Method, headers: &[(&'static str, &'static str)], body: &str) -> Response<Bytes> {
    let mut request = Request::builder().method(method);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    endpoint().handle((), &parts, body.as_bytes()).await
}

const TYPE: (&str, &str) = ("content-type", "application/json; charset=utf-8");
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn a_message_gets_a_complete_response() {
    let response = send(Method::POST, &[TYPE], PING).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
    assert_eq!(response.body(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let response =
        send(Method::POST, &[TYPE], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!((response.status(), response.body().len()), (StatusCode::ACCEPTED, 0));
    assert!(!response.headers().contains_key(CONTENT_TYPE));
}

#[tokio::test]
async fn requests_that_break_the_rules_of_http_get_an_error() {
    let long = " ".repeat(101);
    for (method, headers, body, status) in [
        (Method::GET, &[][..], "", 405),
        (Method::DELETE, &[], "", 405),
        (Method::POST, &[], PING, 415),
        (Method::POST, &[("content-type", "text/plain")], PING, 415),
        (Method::POST, &[TYPE], &long, 413),
        (Method::POST, &[TYPE, ("accept", "text/html")], PING, 406),
        (Method::POST, &[TYPE, ("origin", "https://other.example")], PING, 403),
        (Method::OPTIONS, &[("origin", "https://other.example")], "", 403),
        (Method::POST, &[TYPE, ("mcp-protocol-version", "1900-01-01")], PING, 400),
    ] {
        let response = send(method.clone(), headers, body).await;
        assert_eq!(response.status(), status, "{method} {headers:?}");
        assert_eq!(response.headers().contains_key(ALLOW), status == 405);
        let error: Value = serde_json::from_slice(response.body()).unwrap();
        assert!(error["error"]["message"].is_string(), "{error}");
    }
}

#[tokio::test]
async fn a_client_may_accept_only_one_of_the_types() {
    for accept in [
        "application/json, text/event-stream",
        "Application/JSON;q=0.5",
        "text/event-stream",
        "*/*",
        "text/*",
    ] {
        assert_eq!(send(Method::POST, &[TYPE, ("accept", accept)], PING).await.status(), 200, "{accept}");
    }
}

#[tokio::test]
async fn web_pages_of_allowed_origins_can_read_responses() {
    let origin = ("origin", "https://app.example");
    let response = send(Method::POST, &[TYPE, origin], PING).await;
    assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "https://app.example");
    assert_eq!(response.headers()[ACCESS_CONTROL_EXPOSE_HEADERS], "WWW-Authenticate");
    assert_eq!(response.headers()[VARY], "Origin");
    let asked = [
        origin,
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "mcp-method,mcp-param-region"),
    ];
    let response = send(Method::OPTIONS, &asked, "").await;
    assert_eq!(response.status(), 204);
    assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_HEADERS], "mcp-method,mcp-param-region");
    assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_METHODS], "POST, OPTIONS");
    assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "https://app.example");
    let response = send(Method::OPTIONS, &[], "").await;
    assert_eq!((response.status(), &response.headers()[ALLOW]), (StatusCode::NO_CONTENT, &ALLOWED_METHODS));
}

#[test]
fn repeated_headers_are_joined_and_invalid_utf8_is_replaced() {
    let mut headers = HeaderMap::new();
    assert_eq!(joined(&headers, "mcp-name"), None);
    headers.append("mcp-name", HeaderValue::from_bytes("größe\u{ff}".as_bytes()).unwrap());
    assert_eq!(joined(&headers, "mcp-name").as_deref(), Some("größe\u{ff}"));
    headers.append("mcp-name", HeaderValue::from_bytes(b"\xff").unwrap());
    assert_eq!(joined(&headers, "mcp-name").as_deref(), Some("größe\u{ff}, \u{fffd}"));
}
