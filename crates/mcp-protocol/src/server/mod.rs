//! A server as one pure asynchronous function: [`Server::answer`] takes a message as it arrives and gives the answer as
//! it leaves, with the HTTP status that goes with it. Who may call is decided before, and comes in as the context.
//!
//! One server speaks every revision: those that open with `initialize`, of which nothing is remembered, and 2026-07-28,
//! in which each message describes itself. Errors of a method travel on status 200 in the former; in the latter an unknown
//! method is 404 and a message that describes itself wrongly 400.

mod answer;
mod builder;
mod dispatch;
mod handlers;
mod pages;
mod revision;

pub use self::answer::ServerResponse;
pub use self::builder::ServerBuilder;
pub use self::handlers::{BoxFuture, Eras, MethodCall, ToolCall, ToolReply, typed};

use std::collections::HashMap;

use self::handlers::{Method, ResourceHandler, TemplateHandler, ToolHandler};
use self::pages::Pages;
use crate::lifecycle::{Implementation, ServerCapabilities};
use crate::{Caching, Meta, ToolRegistry};

/// A server whose tools and resources run in a context `C`, made anew for each message: who calls, and what they may
/// reach.
///
/// ```
/// use mcp_protocol::headers::MessageHeaders;
/// use mcp_protocol::lifecycle::Implementation;
/// use mcp_protocol::server::{Server, typed};
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
/// /// Who calls.
/// struct Caller(&'static str);
///
/// let greet = typed(|caller: Caller, greet: Greet| async move {
///     CallToolResult::text(format!("{} greets {}", caller.0, greet.name))
/// });
/// let server = Server::builder(Implementation::new("greeter", "1.0"))
///     .tool(Tool::taking::<Greet>("greet", "Greets somebody."), greet)
///     .build()?;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Bo"}}}"#;
/// let answer = server.answer(Caller("Ann"), &MessageHeaders::default(), body).await;
/// assert_eq!(answer.status, 200);
/// assert!(String::from_utf8_lossy(&answer.body.unwrap()).contains("Ann greets Bo"));
/// # });
/// # Ok::<(), mcp_protocol::RegistryError>(())
/// ```
pub struct Server<C> {
    info: Implementation,
    /// What every result of the modern era says in `_meta`.
    result_meta: Meta,
    capabilities: ServerCapabilities,
    instructions: Option<String>,
    tools: ToolRegistry<ToolHandler<C>>,
    resources: HashMap<String, ResourceHandler<C>>,
    templates: Vec<TemplateHandler<C>>,
    /// How long what `resources/read` gives may be kept.
    reading: Caching,
    methods: HashMap<String, Method<C>>,
    pages: Pages,
}

impl<C: Send + 'static> Server<C> {
    /// Starts a server that says this of itself.
    pub fn builder(info: Implementation) -> ServerBuilder<C> {
        ServerBuilder::new(info)
    }

    /// The tools, in the order in which they are listed.
    pub fn tools(&self) -> &[crate::Tool] {
        self.tools.tools()
    }
}

#[cfg(test)]
mod tests;
