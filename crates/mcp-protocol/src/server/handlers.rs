//! The handlers of tools, resources and methods.

use std::pin::Pin;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::content::ResourceContents;
use crate::jsonrpc::{ErrorObject, Params};
use crate::tools::InputRequiredResult;
use crate::{ArgumentError, CallToolParams, CallToolResult, ProtocolVersion, parse_arguments, request_meta};

/// A boxed future that can be sent between threads.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// One call of a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolCall<C> {
    /// The caller and its permissions.
    pub context: C,
    /// The caller's revision.
    pub version: ProtocolVersion,
    /// The parameters as sent.
    pub params: CallToolParams,
}

impl<C> ToolCall<C> {
    /// The arguments as a type.
    ///
    /// # Errors
    /// If an argument is missing, of another type or out of range; the error names it.
    pub fn arguments<A: DeserializeOwned>(&self) -> Result<A, ArgumentError> {
        parse_arguments(&self.params.arguments)
    }

    /// The client's capabilities; `None` for legacy revisions, which send them only in `initialize`.
    pub fn client_capabilities(&self) -> Option<&Map<String, Value>> {
        self.params.meta.as_ref()?.get(request_meta::CLIENT_CAPABILITIES)?.as_object()
    }
}

/// The outcome of a tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolReply {
    /// The tool ran, successfully or not.
    Result(CallToolResult),
    /// The tool requires input first (from revision 2026-07-28 on). A client of an earlier revision gets an error
    /// result; one without the capability gets `MissingRequiredClientCapability`.
    InputRequired(InputRequiredResult),
    /// The call is refused. An error that a model can correct belongs in a result instead.
    Refused(ErrorObject),
}

impl From<CallToolResult> for ToolReply {
    fn from(result: CallToolResult) -> Self {
        Self::Result(result)
    }
}

impl From<InputRequiredResult> for ToolReply {
    fn from(required: InputRequiredResult) -> Self {
        Self::InputRequired(required)
    }
}

impl From<ErrorObject> for ToolReply {
    fn from(error: ErrorObject) -> Self {
        Self::Refused(error)
    }
}

/// The eras in which a method exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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

pub(super) type ToolHandler<C> = Box<dyn Fn(ToolCall<C>) -> BoxFuture<ToolReply> + Send + Sync>;

/// Reads one resource.
pub(super) type ResourceHandler<C> = Box<dyn Fn(C) -> BoxFuture<Vec<ResourceContents>> + Send + Sync>;

/// Reads a resource of a template; `None` for any other URI.
pub(super) type TemplateHandler<C> =
    Box<dyn Fn(&C, &str) -> Option<BoxFuture<Option<Vec<ResourceContents>>>> + Send + Sync>;

/// One call of an added method.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MethodCall<C> {
    /// The caller and its permissions.
    pub context: C,
    /// The caller's revision.
    pub version: ProtocolVersion,
    /// The parameters as sent.
    pub params: Option<Params>,
}

pub(super) struct Method<C> {
    pub(super) eras: Eras,
    pub(super) handler: MethodHandler<C>,
}

/// Returns the members of a result.
pub(super) type MethodHandler<C> =
    Box<dyn Fn(MethodCall<C>) -> BoxFuture<Result<Map<String, Value>, ErrorObject>> + Send + Sync>;
