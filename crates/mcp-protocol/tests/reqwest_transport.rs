//! The transport with reqwest, over real connections.
#![cfg(feature = "reqwest")]
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::{StatusCode, request::Parts};
use axum::response::Redirect;
use axum::routing::any;
use mcp_wire::client::{Client, ClientError, ReqwestTransport, ResponseError};
use mcp_wire::http::Endpoint;
use mcp_wire::lifecycle::Implementation;
use mcp_wire::{CallToolParams, CallToolResult, Server, Tool};
use serde_json::json;
use tokio::net::TcpListener;

/// The token of a request.
struct Token(String);

impl<S: Sync> FromRequestParts<S> for Token {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, StatusCode> {
        let header = parts.headers.get("authorization").ok_or(StatusCode::UNAUTHORIZED)?;
        Ok(Self(header.to_str().unwrap().to_owned()))
    }
}

/// Serves a tool that returns the caller's token at `/mcp`, and a redirect to it at `/`. Returns the URL.
async fn serve() -> String {
    let who = Tool::new("who", "", json!({"type": "object"}));
    let server = Server::<Token>::builder(Implementation::new("s", "1"))
        .tool(who, |call| Box::pin(async move { CallToolResult::text(call.context.0).into() }))
        .build()
        .unwrap();
    let app = Router::new()
        .route("/mcp", Endpoint::new(server).into_route())
        .route("/", any(async || Redirect::temporary("/mcp")));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

fn info() -> Implementation {
    Implementation::new("c", "1")
}

fn status(error: &ClientError) -> Option<u16> {
    match error {
        ClientError::Response(ResponseError::Status { status, .. }) => Some(*status),
        _ => None,
    }
}

#[tokio::test]
async fn requests_have_the_token_and_redirects_are_not_followed() {
    let url = serve().await;
    let transport = ReqwestTransport::new(&format!("{url}mcp")).unwrap();
    let error = Client::connect(transport.clone(), info()).await.unwrap_err();
    assert_eq!(status(&error), Some(401));

    let transport = transport.with_bearer_token("secret");
    assert!(!format!("{transport:?}").contains("secret"));
    let mut client = Client::connect(transport, info()).await.unwrap();
    let result = client.call_tool(&CallToolParams::new("who")).await.unwrap().result().unwrap();
    assert_eq!(result.first_text(), Some("Bearer secret"));

    let transport = ReqwestTransport::new(&url).unwrap().with_bearer_token("secret");
    let error = Client::connect(transport, info()).await.unwrap_err();
    assert_eq!(status(&error), Some(307));

    ReqwestTransport::new("no URL").unwrap_err();
    let transport = ReqwestTransport::new("http://127.0.0.1:1/").unwrap();
    assert!(matches!(Client::connect(transport, info()).await, Err(ClientError::Transport(_))));
}
