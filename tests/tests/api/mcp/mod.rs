//! The Model Context Protocol.

mod access;
mod edits;
mod lifecycle;
mod messages;
mod modern;
mod places;
mod prompts;
mod questions;
mod resources;
mod search_notes;
mod show_images;
mod snapshots;
mod tool_failures;
mod tool_results;
mod tools;
mod url_lifetime;
mod view_images;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tests::{TestApp, TestResponse};

const RESOURCES: [&str; 3] = ["/api/mcp/v1", "/api/mcp/v2", "/api/mcp/legacy"];

/// A message to a resource, as clients send it.
fn message(app: &TestApp, resource: &str, key: &str, body: &Value) -> RequestBuilder {
    app.request(Method::POST, resource)
        .bearer_auth(key)
        .header("accept", "application/json, text/event-stream")
        .json(body)
}

async fn send(app: &TestApp, resource: &str, key: &str, body: &Value) -> TestResponse {
    app.send(message(app, resource, key, body)).await
}

/// The response to a request with the id 7.
async fn request(app: &TestApp, resource: &str, key: &str, method: &str, params: &Value) -> TestResponse {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    send(app, resource, key, &body).await
}

/// A request of revision 2026-07-28 with the id 7, as clients send it: its metadata is in `_meta` and repeated in
/// headers.
fn modern(app: &TestApp, resource: &str, key: &str, method: &str, params: &Value) -> RequestBuilder {
    modern_with(app, resource, key, method, params, &json!({}))
}

/// The same by a client with these capabilities.
fn modern_with(
    app: &TestApp,
    resource: &str,
    key: &str,
    method: &str,
    params: &Value,
    capabilities: &Value,
) -> RequestBuilder {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let request = message(app, resource, key, &body)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    match params["name"].as_str().or(params["uri"].as_str()) {
        Some(name) => request.header("mcp-name", name),
        None => request,
    }
}

/// The result of a tool call; a failed call has a result, too.
async fn call(app: &TestApp, resource: &str, key: &str, tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let answer = request(app, resource, key, "tools/call", &params).await.expect(200);
    assert_eq!(answer.json["jsonrpc"], "2.0");
    assert_eq!(answer.json["id"], 7);
    answer.json["result"].clone()
}

/// The text of a result, which must have exactly one text block.
fn text(result: &Value) -> &str {
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{result}");
    assert_eq!(content[0]["type"], "text");
    content[0]["text"].as_str().unwrap()
}

/// The JSON text of a successful tool call.
fn payload(result: &Value) -> Value {
    assert_ne!(result["isError"], true, "{result}");
    serde_json::from_str(text(result)).unwrap()
}

/// The error text of a failed tool call.
fn failure(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    assert!(result.get("structuredContent").is_none(), "{result}");
    text(result)
}
