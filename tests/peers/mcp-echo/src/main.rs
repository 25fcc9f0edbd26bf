//! An MCP server with the tool `echo`, made with rmcp and axum. It has no authentication, no sessions and no event streams,
//! so that a benchmark measures only these two libraries.
//!
//! It prints its base URL in one line, and exits when stdin is closed.

use std::{error::Error, io::Write as _, sync::Arc};

use axum::Router;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const NAME: &str = "echo";

#[derive(Clone)]
struct Echo {
    tool: Arc<Tool>,
}

impl Echo {
    fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {"text": {"type": "string", "description": "Text to return."}},
            "required": ["text"],
        });
        let Value::Object(schema) = schema else { unreachable!("the schema is an object") };
        Self { tool: Arc::new(Tool::new(NAME, "Returns its text.", schema)) }
    }
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == NAME).then(|| (*self.tool).clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![(*self.tool).clone()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request.arguments.as_ref().and_then(|arguments| arguments.get("text")?.as_str());
        match text {
            Some(text) if request.name == NAME => {
                Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
            }
            _ => Err(ErrorData::invalid_params("the only tool is echo, with the argument text", None)),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let echo = Echo::new();
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(
        move || Ok(echo.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    let stdin_closed =
        tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    let app = Router::new().nest_service("/mcp", service);
    tokio::select! {
        served = axum::serve(listener, app) => served?,
        closed = stdin_closed => drop(closed??),
    }
    Ok(())
}
