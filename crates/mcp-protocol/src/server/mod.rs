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
#[cfg(feature = "schema")]
mod typed;

pub use self::builder::ServerBuilder;
pub use self::handlers::{BoxFuture, Eras, MethodCall, PromptCall, PromptReply, ToolCall, ToolReply};
pub use self::response::ServerResponse;
#[cfg(feature = "schema")]
pub use self::typed::{ToolFailure, ToolOutput, TypedTool, typed_tool};

use std::borrow::Cow;
use std::collections::HashMap;

use self::handlers::{Method, PromptHandler, ResourceHandler, TemplateHandler, ToolHandler};
use self::static_results::StaticResults;
use crate::headers::{HeaderParameter, MessageHeaders};
use crate::lifecycle::{Implementation, ServerCapabilities};
use crate::{Caching, Meta, Prompt, ToolRegistry};

/// A server whose tools, prompts and resources get a context `C` per message: the caller and its permissions.
///
/// ```
/// use mcp_wire::headers::MessageHeaders;
/// use mcp_wire::lifecycle::Implementation;
/// use mcp_wire::server::Server;
/// use mcp_wire::{CallToolResult, Tool};
/// use serde_json::json;
///
/// /// The authenticated caller.
/// struct Caller(&'static str);
///
/// let who = Tool::new("who", "Returns the caller's name.", json!({"type": "object", "properties": {}}));
/// let server = Server::<Caller>::builder(Implementation::new("directory", "1.0"))
///     .tool(who, |call| Box::pin(async move { CallToolResult::text(call.context.0).into() }))
///     .build()?;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who"}}"#;
/// let response = server.handle(Caller("Ann"), &MessageHeaders::default(), body).await;
/// assert_eq!(response.status, 200);
/// assert!(String::from_utf8_lossy(&response.body.unwrap()).contains("Ann"));
/// # });
/// # Ok::<(), mcp_wire::RegistryError>(())
/// ```
pub struct Server<C> {
    info: Implementation,
    /// The `_meta` of every result of the modern era.
    result_meta: Meta,
    capabilities: ServerCapabilities,
    instructions: Option<String>,
    tools: ToolRegistry<ToolHandler<C>>,
    prompts: HashMap<String, (Prompt, PromptHandler<C>)>,
    resources: HashMap<String, ResourceHandler<C>>,
    templates: Vec<TemplateHandler<C>>,
    resource_caching: Caching,
    methods: HashMap<String, Method<C>>,
    static_results: StaticResults,
    /// The headers that repeat arguments, by tool.
    header_parameters: HashMap<String, Vec<HeaderParameter>>,
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

    /// Looks up all headers that the server checks: those of every message, and those that repeat arguments of tools,
    /// which schemas declare by `x-mcp-header`. See [`MessageHeaders::from_fn`].
    pub fn headers<'a, V: Into<Cow<'a, str>>>(
        &self,
        mut look_up: impl FnMut(&str) -> Option<V>,
    ) -> MessageHeaders<'a> {
        let headers = MessageHeaders::from_fn(&mut look_up);
        let declared = self.header_parameters.values().flatten();
        headers.with_parameters(declared.filter_map(|parameter| {
            let value = look_up(&parameter.header)?;
            Some((parameter.header.clone(), value.into()))
        }))
    }
}

#[cfg(test)]
mod tests;
