//! The handlers of tools, prompts, resources and methods.

use std::pin::Pin;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::content::ResourceContents;
use crate::elicitation::{self, ElicitResult};
use crate::jsonrpc::{ErrorObject, Params};
use crate::prompts::{GetPromptParams, GetPromptResult};
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
        request_meta::client_capabilities(self.params.meta.as_ref())
    }

    /// The user's answer to the [`Elicitation`](crate::elicitation::Elicitation) with this name; `None` if it has not been
    /// asked yet.
    ///
    /// # Errors
    /// If the answer is malformed.
    pub fn elicited(&self, name: &str) -> Result<Option<ElicitResult>, ArgumentError> {
        elicitation::answer(self.params.input_responses.as_ref(), name)
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

/// One request for a prompt.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PromptCall<C> {
    /// The caller and its permissions.
    pub context: C,
    /// The caller's revision.
    pub version: ProtocolVersion,
    /// The parameters as sent, with all required arguments.
    pub params: GetPromptParams,
}

impl<C> PromptCall<C> {
    /// The client's capabilities; `None` for legacy revisions, which send them only in `initialize`.
    pub fn client_capabilities(&self) -> Option<&Map<String, Value>> {
        request_meta::client_capabilities(self.params.meta.as_ref())
    }

    /// The user's answer to the [`Elicitation`](crate::elicitation::Elicitation) with this name; `None` if it has not been
    /// asked yet.
    ///
    /// # Errors
    /// If the answer is malformed.
    pub fn elicited(&self, name: &str) -> Result<Option<ElicitResult>, ArgumentError> {
        elicitation::answer(self.params.input_responses.as_ref(), name)
    }
}

/// The outcome of a request for a prompt.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PromptReply {
    /// The messages.
    Result(GetPromptResult),
    /// The prompt requires input first (from revision 2026-07-28 on). A client of an earlier revision gets an error; one
    /// without the capability gets `MissingRequiredClientCapability`.
    InputRequired(InputRequiredResult),
    /// The request is refused, for example because of an invalid argument.
    Refused(ErrorObject),
}

impl From<GetPromptResult> for PromptReply {
    fn from(result: GetPromptResult) -> Self {
        Self::Result(result)
    }
}

impl From<InputRequiredResult> for PromptReply {
    fn from(required: InputRequiredResult) -> Self {
        Self::InputRequired(required)
    }
}

impl From<ErrorObject> for PromptReply {
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

pub(super) type PromptHandler<C> = Box<dyn Fn(PromptCall<C>) -> BoxFuture<PromptReply> + Send + Sync>;

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
