//! An MCP server made with rmcp and its default settings, sessions and event streams among them: `mcp-greeter PORT`. It has
//! the tools of `tests/node/servers`, and lists two per page.

use std::{error::Error, sync::Arc};

use axum::Router;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, PingRequest, ProgressNotificationParam, ServerCapabilities,
        ServerConfig, ServerRequest, Tool,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

const PAGE: usize = 2;

struct Greeter;

fn tools() -> Vec<Tool> {
    let schema = |properties: Value| {
        let required: Vec<_> = properties.as_object().into_iter().flat_map(Map::keys).collect();
        let schema = json!({"type": "object", "required": required, "properties": properties});
        schema.as_object().cloned().unwrap_or_default()
    };
    vec![
        Tool::new("greet", "Greets a person.", schema(json!({"name": {"type": "string"}}))),
        Tool::new("count", "Counts, and reports each number.", schema(json!({"to": {"type": "integer"}}))),
        Tool::new("fail", "Always fails.", schema(json!({}))),
        Tool::new("ping", "Waits for the client's reply to a ping.", schema(json!({}))),
    ]
}

impl ServerHandler for Greeter {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("greeter", "1"))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let start: usize = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let end = start + PAGE;
        let page = tools().into_iter().skip(start).take(PAGE).collect();
        let mut result = ListToolsResult::with_all_items(page);
        result.next_cursor = (end < tools().len()).then(|| end.to_string());
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = match request.name.as_ref() {
            "greet" => {
                let name = arguments.get("name").and_then(Value::as_str);
                format!("Hello, {}!", name.ok_or_else(|| invalid("name: a string is required"))?)
            }
            "count" => {
                let to = arguments.get("to").and_then(Value::as_u64);
                count(to.ok_or_else(|| invalid("to: a number is required"))?, &context).await?
            }
            "fail" => {
                let reason = ContentBlock::text("It failed on purpose.");
                return Ok(CallToolResult::error(vec![reason]).into());
            }
            "ping" => {
                let ping = ServerRequest::PingRequest(PingRequest::default());
                context.peer.send_request(ping).await.map_err(failed)?;
                "The client replied.".to_owned()
            }
            name => return Err(invalid(&format!("there is no tool {name}"))),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// Reports each number as progress.
async fn count(to: u64, context: &RequestContext<RoleServer>) -> Result<String, ErrorData> {
    let token = context.meta.get_progress_token().ok_or_else(|| invalid("a progress token is required"))?;
    for number in 1..=to {
        let progress = ProgressNotificationParam::new(token.clone(), number as f64);
        context.peer.notify_progress(progress).await.map_err(failed)?;
    }
    Ok(format!("Counted to {to}."))
}

fn invalid(message: &str) -> ErrorData {
    ErrorData::invalid_params(message.to_owned(), None)
}

fn failed(error: rmcp::ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = std::env::args().nth(1).ok_or("usage: mcp-greeter PORT")?.parse()?;
    let service = StreamableHttpService::new(
        || Ok(Greeter),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    Ok(axum::serve(listener, Router::new().nest_service("/mcp", service)).await?)
}
