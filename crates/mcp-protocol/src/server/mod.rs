//! A server as one async function without state: [`Server::handle`] takes a message and returns the response with its
//! HTTP status. The caller authenticates the request first and passes the result as the context.
//!
//! One server supports all revisions: the legacy ones, which start with `initialize`, without storing anything between
//! requests; and 2026-07-28, in which each message describes itself. In the legacy revisions errors of methods have the
//! status 200. In 2026-07-28 an unknown method is 404, and a message with a wrong description 400.

mod builder;
mod dispatch;
mod handlers;
mod response;
mod revision;
mod static_results;

pub use self::builder::ServerBuilder;
pub use self::handlers::{BoxFuture, Eras, MethodCall, ToolCall, ToolReply, typed_handler};
pub use self::response::ServerResponse;

use std::collections::HashMap;

use self::handlers::{Method, ResourceHandler, TemplateHandler, ToolHandler};
use self::static_results::StaticResults;
use crate::lifecycle::{Implementation, ServerCapabilities};
use crate::{Caching, Meta, ToolRegistry};

/// A server whose tools and resources get a context `C` per message: the caller and its permissions.
///
/// ```
/// use mcp_protocol::headers::MessageHeaders;
/// use mcp_protocol::lifecycle::Implementation;
/// use mcp_protocol::server::{Server, typed_handler};
/// use mcp_protocol::{CallToolResult, Tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greet {
///     /// Whom to greet.
///     name: String,
/// }
///
/// /// The authenticated caller.
/// struct Caller(&'static str);
///
/// let greet = typed_handler(|caller: Caller, greet: Greet| async move {
///     CallToolResult::text(format!("{} greets {}", caller.0, greet.name))
/// });
/// let server = Server::builder(Implementation::new("greeter", "1.0"))
///     .tool(Tool::typed::<Greet>("greet", "Greets somebody."), greet)
///     .build()?;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Bo"}}}"#;
/// let response = server.handle(Caller("Ann"), &MessageHeaders::default(), body).await;
/// assert_eq!(response.status, 200);
/// assert!(String::from_utf8_lossy(&response.body.unwrap()).contains("Ann greets Bo"));
/// # });
/// # Ok::<(), mcp_protocol::RegistryError>(())
/// ```
pub struct Server<C> {
    info: Implementation,
    /// The `_meta` of every result of the modern era.
    result_meta: Meta,
    capabilities: ServerCapabilities,
    instructions: Option<String>,
    tools: ToolRegistry<ToolHandler<C>>,
    resources: HashMap<String, ResourceHandler<C>>,
    templates: Vec<TemplateHandler<C>>,
    resource_caching: Caching,
    methods: HashMap<String, Method<C>>,
    static_results: StaticResults,
}

impl<C: Send + 'static> Server<C> {
    /// Starts a server with this description.
    pub fn builder(info: Implementation) -> ServerBuilder<C> {
        ServerBuilder::new(info)
    }

    /// The tools, in the order of `tools/list`.
    pub fn tools(&self) -> &[crate::Tool] {
        self.tools.tools()
    }
}

#[cfg(test)]
mod tests;
