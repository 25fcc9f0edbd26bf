//! One body read as one message, and every way in which that can fail.

use super::envelope::Document;
use super::{ErrorObject, INVALID_REQUEST, Notification, PARSE_ERROR, Request, RequestId, Response};

/// One message as it arrives.
///
/// ```
/// use mcp_protocol::jsonrpc::{Incoming, PARSE_ERROR};
///
/// let Incoming::Request(request) = Incoming::parse(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)? else {
///     unreachable!("it has an id and a method");
/// };
/// assert_eq!(request.method, "ping");
///
/// let failure = Incoming::parse(b"{").unwrap_err();
/// assert_eq!(failure.code(), PARSE_ERROR);
/// # Ok::<(), mcp_protocol::jsonrpc::ParseFailure>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// A call that wants an answer.
    Request(Request),
    /// A call that wants none.
    Notification(Notification),
    /// An answer. A server that never sends requests refuses it with [`ParseFailure::unexpected_response`].
    Response(Response),
}

impl Incoming {
    /// Reads one message from a whole body.
    ///
    /// Members beside those of JSON-RPC are ignored. Nesting deeper than 128 levels counts as malformed.
    ///
    /// # Errors
    /// [`PARSE_ERROR`] when the bytes are not JSON, [`INVALID_REQUEST`] when the JSON is not one message.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseFailure> {
        Document::parse(bytes)?.into_message()
    }
}

/// A body that is not a message that can be served, with what the error answer to it needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ParseFailure {
    /// The id that the message carries, where it is readable.
    pub id: Option<RequestId>,
    /// What is wrong with it.
    pub kind: ParseFailureKind,
}

/// What is wrong with a body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseFailureKind {
    /// Not JSON, or nested deeper than the parser goes.
    #[error("the body is not valid JSON: {reason}")]
    Malformed {
        /// What the parser stumbled over, and where.
        reason: String,
    },
    /// An array; the protocol has no batches.
    #[error("batches are not supported: send one message per request")]
    Batch,
    /// A string, a number, a boolean or null.
    #[error("the message must be a JSON object")]
    NotAnObject,
    /// An object names one member twice, so that two readers could understand it differently.
    #[error("an object in the message names a member twice")]
    RepeatedMember,
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
    /// `params` is neither an object nor an array.
    #[error("`params` must be an object or an array")]
    ParamsNotStructured,
    /// `method` together with `result` or `error`.
    #[error("the message has both `method` and `result` or `error`")]
    CallAndAnswer,
    /// `result` together with `error`, or an `error` without a code and a message.
    #[error("a response has either a `result` or an `error` with `code` and `message`")]
    InvalidResponse,
    /// An answer, where only calls are served.
    #[error("the message is not a request or notification")]
    UnexpectedResponse,
    /// A call, where an answer was expected.
    #[error("the message is not a response")]
    NotAResponse,
}

impl ParseFailureKind {
    pub(super) fn with_id(self, id: Option<RequestId>) -> ParseFailure {
        ParseFailure { id, kind: self }
    }
}

impl ParseFailure {
    /// The failure with which a server that sends no requests meets an answer. It carries no id: the answer's id is
    /// not one of the sender's own requests.
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

    /// The error answer to send.
    pub fn into_response(self) -> Response {
        let error = ErrorObject::new(self.code(), self.kind.to_string());
        Response::failure(self.id, error)
    }
}

#[cfg(test)]
mod tests;
