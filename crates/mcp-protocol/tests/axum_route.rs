//! The route of axum, over a real connection.
#![cfg(feature = "axum")]
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::{StatusCode, request::Parts};
use mcp_wire::http::Endpoint;
use mcp_wire::lifecycle::Implementation;
use mcp_wire::{CallToolResult, Server, Tool};
use reqwest::{Client, RequestBuilder};
use serde_json::json;
use tokio::net::TcpListener;

/// The caller. For a request with any token, its name is the router's state.
struct Caller(&'static str);

impl FromRequestParts<&'static str> for Caller {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, name: &&'static str) -> Result<Self, StatusCode> {
        match parts.headers.get("authorization") {
            Some(_) => Ok(Self(name)),
            None => Err(StatusCode::UNAUTHORIZED),
        }
    }
}

/// Serves a tool that returns the caller's name; returns the URL.
async fn serve() -> String {
    let who = Tool::new("who", "Returns the caller's name.", json!({"type": "object"}));
    let server = Server::<Caller>::builder(Implementation::new("s", "1"))
        .tool(who, |call| Box::pin(async move { CallToolResult::text(call.context.0).into() }))
        .build()
        .unwrap();
    let route = Endpoint::new(server).with_max_body_bytes(200).into_route();
    let app = Router::new().route("/mcp", route).with_state("Ann");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

/// The status, whether a web page may read the response, and the body.
async fn send(request: RequestBuilder) -> (u16, bool, String) {
    let response = request.header("origin", "http://localhost").send().await.unwrap();
    let status = response.status().as_u16();
    let is_readable = response.headers().contains_key("access-control-allow-origin");
    (status, is_readable, response.text().await.unwrap())
}

#[tokio::test]
async fn a_route_authenticates_callers_and_limits_bodies() {
    let url = serve().await;
    let http = Client::builder().no_proxy().build().unwrap();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "who"}});
    let (status, is_readable, body) = send(http.post(&url).bearer_auth("token").json(&call)).await;
    assert_eq!((status, is_readable), (200, true));
    assert!(body.contains("Ann"), "{body}");
    assert_eq!(send(http.post(&url).json(&call)).await, (401, true, String::new()));
    let long = http.post(&url).bearer_auth("token").json(&json!(" ".repeat(200)));
    let (status, is_readable, _) = send(long).await;
    assert_eq!((status, is_readable), (413, true));
    assert_eq!(send(http.get(&url)).await.0, 405);
    let preflight =
        http.request(reqwest::Method::OPTIONS, &url).header("access-control-request-method", "POST");
    assert_eq!(send(preflight).await, (204, true, String::new()));
}
