//! What runs when a message asks for it.

use std::pin::Pin;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::content::ResourceContents;
use crate::jsonrpc::{ErrorObject, Params};
use crate::tools::InputRequiredResult;
use crate::{ArgumentError, CallToolParams, CallToolResult, ProtocolVersion, parse_arguments, request_meta};

/// A future on the heap, which may move between threads.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// One call of a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolCall<C> {
    /// Who calls, and what they may reach.
    pub context: C,
    /// The revision that the caller speaks.
    pub version: ProtocolVersion,
    /// What was sent.
    pub params: CallToolParams,
}

impl<C> ToolCall<C> {
    /// The arguments as a type.
    ///
    /// # Errors
    /// When an argument is missing, of another type or out of range; the error names it.
    pub fn arguments<A: DeserializeOwned>(&self) -> Result<A, ArgumentError> {
        parse_arguments(&self.params.arguments)
    }

    /// What the client says that it can do; revisions with `initialize` do not repeat it in a call.
    pub fn client_capabilities(&self) -> Option<&Map<String, Value>> {
        self.params.meta.as_ref()?.get(request_meta::CLIENT_CAPABILITIES)?.as_object()
    }
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolReply {
    /// It ran; that it failed is a result, too.
    Result(CallToolResult),
    /// It has to ask something first (from revision 2026-07-28 on). A client of an earlier one is told that the tool
    /// cannot be used by it; one that does not say it can answer gets `MissingRequiredClientCapability`.
    InputRequired(InputRequiredResult),
    /// The call itself is refused. What a model could do better next time belongs in a result instead.
    Refused(ErrorObject),
}

impl From<CallToolResult> for ToolReply {
    fn from(result: CallToolResult) -> Self {
        Self::Result(result)
    }
}

impl From<InputRequiredResult> for ToolReply {
    fn from(asked: InputRequiredResult) -> Self {
        Self::InputRequired(asked)
    }
}

/// The eras in which a method exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eras {
    /// Before 2026-07-28.
    Legacy,
    /// From 2026-07-28 on.
    Modern,
    /// In all revisions.
    Both,
}

impl Eras {
    pub(super) fn contain(self, version: ProtocolVersion) -> bool {
        match self {
            Self::Legacy => version.is_legacy(),
            Self::Modern => !version.is_legacy(),
            Self::Both => true,
        }
    }
}

/// A tool from a function of its arguments as a type. Arguments that do not fit are told to the model in a result.
///
/// ```
/// use mcp_protocol::CallToolResult;
/// use mcp_protocol::server::typed;
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Square {
///     side: f64,
/// }
///
/// let area = typed(|(), square: Square| async move { CallToolResult::text((square.side * square.side).to_string()) });
/// # fn check(_: impl Fn(mcp_protocol::server::ToolCall<()>) -> mcp_protocol::server::BoxFuture<mcp_protocol::server::ToolReply>) {}
/// # check(area);
/// ```
pub fn typed<C, A, F, R>(run: F) -> impl Fn(ToolCall<C>) -> BoxFuture<ToolReply> + Send + Sync + 'static
where
    A: DeserializeOwned,
    F: Fn(C, A) -> R + Send + Sync + 'static,
    R: Future<Output: Into<ToolReply>> + Send + 'static,
{
    move |call| match call.arguments::<A>() {
        Ok(arguments) => {
            let running = run(call.context, arguments);
            Box::pin(async move { running.await.into() })
        }
        Err(error) => {
            let told =
                CallToolResult::error(format!("{error}. Correct this argument and call the tool again."));
            Box::pin(std::future::ready(told.into()))
        }
    }
}

pub(super) type ToolHandler<C> = Box<dyn Fn(ToolCall<C>) -> BoxFuture<ToolReply> + Send + Sync>;

/// Gives the contents of one resource.
pub(super) type ResourceHandler<C> = Box<dyn Fn(C) -> BoxFuture<Vec<ResourceContents>> + Send + Sync>;

/// Gives the contents of what a template describes, and `None` for any other address.
pub(super) type TemplateHandler<C> =
    Box<dyn Fn(&C, &str) -> Option<BoxFuture<Option<Vec<ResourceContents>>>> + Send + Sync>;

/// One call of a method that whoever built the server added.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MethodCall<C> {
    /// Who calls, and what they may reach.
    pub context: C,
    /// The revision that the caller speaks.
    pub version: ProtocolVersion,
    /// What was sent.
    pub params: Option<Params>,
}

pub(super) struct Method<C> {
    pub(super) eras: Eras,
    pub(super) handler: MethodHandler<C>,
}

/// Gives the members of a result.
pub(super) type MethodHandler<C> =
    Box<dyn Fn(MethodCall<C>) -> BoxFuture<Result<Map<String, Value>, ErrorObject>> + Send + Sync>;
