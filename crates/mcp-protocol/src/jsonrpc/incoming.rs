//! Parses one body as one message.

use super::envelope::Document;
use super::{ErrorObject, INVALID_REQUEST, Notification, PARSE_ERROR, Request, RequestId, Response};

/// One received message.
///
/// ```
/// use mcp_wire::jsonrpc::{Incoming, PARSE_ERROR};
///
/// let Incoming::Request(request) = Incoming::parse(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)? else {
///     unreachable!("it has an id and a method");
/// };
/// assert_eq!(request.method, "ping");
///
/// let failure = Incoming::parse(b"{").unwrap_err();
/// assert_eq!(failure.code(), PARSE_ERROR);
/// # Ok::<(), mcp_wire::jsonrpc::ParseFailure>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// A call with a response.
    Request(Request),
    /// A call without a response.
    Notification(Notification),
    /// A response. A server that never sends requests refuses it with [`ParseFailure::unexpected_response`].
    Response(Response),
}

impl Incoming {
    /// Reads one message from a whole body.
    ///
    /// Members that JSON-RPC does not define are ignored. `params` that is null or an empty array counts as absent. Nesting
    /// deeper than 128 levels counts as malformed.
    ///
    /// # Errors
    /// [`PARSE_ERROR`] when the bytes are not JSON, [`INVALID_REQUEST`] when the JSON is not one message.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseFailure> {
        Document::parse(bytes)?.into_message()
    }
}

/// Why a body is not a valid message, with the id for the error response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct ParseFailure {
    /// The message's id, if it is readable.
    pub id: Option<RequestId>,
    /// The problem.
    pub kind: ParseFailureKind,
}

/// The problem with a body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseFailureKind {
    /// Not JSON, or nested too deeply.
    #[error("the body is not valid JSON: {reason}")]
    Malformed {
        /// The parser's message, with the position.
        reason: String,
    },
    /// An array; the protocol has no batches.
    #[error("batches are not supported: send one message per request")]
    Batch,
    /// A string, a number, a boolean or null.
    #[error("the message must be a JSON object")]
    NotAnObject,
    /// An object names a member twice, so that two parsers can read it differently.
    #[error("an object in the message has the member `{name:.40}` more than once")]
    RepeatedMember {
        /// The name of the member.
        name: String,
    },
    /// `jsonrpc` is missing or not "2.0".
    #[error("`jsonrpc` must be \"2.0\"")]
    WrongVersion,
    /// `method`, `result` and `error` are all missing.
    #[error("`method` is missing: the message is not a request or notification")]
    MissingMethod,
    /// `method` is not a string.
    #[error("`method` must be a string")]
    MethodNotAString,
    /// `id` is not a string or an integer.
    #[error("`id` must be a string or an integer")]
    InvalidId,
    /// `params` is a string, a number or a boolean.
    #[error("`params` must be an object or an array")]
    ParamsNotStructured,
    /// `method` together with `result` or `error`.
    #[error("the message has both `method` and `result` or `error`")]
    RequestAndResponse,
    /// `result` together with `error`, or an `error` without a code and a message.
    #[error("a response has either a `result` or an `error` with `code` and `message`")]
    InvalidResponse,
    /// A response, sent to a server that sends no requests.
    #[error("the message is not a request or notification")]
    UnexpectedResponse,
    /// A call instead of a response.
    #[error("the message is not a response")]
    NotAResponse,
}

impl ParseFailureKind {
    pub(super) fn with_id(self, id: Option<RequestId>) -> ParseFailure {
        ParseFailure { id, kind: self }
    }
}

impl ParseFailure {
    /// The error for a response that a server receives although it sends no requests. The error has no id, because the
    /// id of a response does not identify a request of its sender.
    pub fn unexpected_response() -> Self {
        ParseFailureKind::UnexpectedResponse.with_id(None)
    }

    /// [`PARSE_ERROR`] or [`INVALID_REQUEST`].
    pub fn code(&self) -> i64 {
        match self.kind {
            ParseFailureKind::Malformed { .. } => PARSE_ERROR,
            _ => INVALID_REQUEST,
        }
    }

    /// The error response to send.
    pub fn into_response(self) -> Response {
        let error = ErrorObject::new(self.code(), self.kind.to_string());
        Response::failure(self.id, error)
    }
}

#[cfg(test)]
mod tests;
