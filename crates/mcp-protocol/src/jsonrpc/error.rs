//! The error object of a response, and the error codes of JSON-RPC and MCP.

use crate::ArgumentError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The body is not JSON (JSON-RPC 2.0 §5.1).
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is not a request or notification (JSON-RPC 2.0 §5.1).
pub const INVALID_REQUEST: i64 = -32600;
/// The server does not know the method (JSON-RPC 2.0 §5.1).
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The method does not take these parameters (JSON-RPC 2.0 §5.1). Also an unknown tool and a bad cursor.
pub const INVALID_PARAMS: i64 = -32602;
/// The server failed (JSON-RPC 2.0 §5.1).
pub const INTERNAL_ERROR: i64 = -32603;
/// The first server-defined code (JSON-RPC 2.0 §5.1), used here for an unsupported HTTP method.
pub const SERVER_ERROR: i64 = -32000;
/// The resource does not exist; revisions before 2026-07-28 only, later ones use [`INVALID_PARAMS`].
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// A header is missing or differs from the body (`HeaderMismatch`, revision 2026-07-28).
pub const HEADER_MISMATCH: i64 = -32020;
/// The client did not declare a capability that the request needs (`MissingRequiredClientCapability`, revision
/// 2026-07-28).
pub const MISSING_REQUIRED_CLIENT_CAPABILITY: i64 = -32021;
/// The server does not support the requested revision (`UnsupportedProtocolVersion`, revision 2026-07-28).
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

/// Why a request failed (JSON-RPC 2.0 §5.1).
///
/// ```
/// use mcp_wire::jsonrpc::{ErrorObject, METHOD_NOT_FOUND};
///
/// let error = ErrorObject::method_not_found("tools/paint");
/// assert_eq!(error.code, METHOD_NOT_FOUND);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct ErrorObject {
    /// The kind of error; see the constants of this module.
    pub code: i64,
    /// A message for a person.
    pub message: String,
    /// Details for a program; `code` defines their form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Sets `data`.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// [`INVALID_REQUEST`].
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message)
    }

    /// [`METHOD_NOT_FOUND`]; the message names the method, shortened to 64 characters.
    pub fn method_not_found(method: &str) -> Self {
        let shown: String = method.chars().take(64).collect();
        Self::new(METHOD_NOT_FOUND, format!("method not found: {shown}"))
    }

    /// [`INVALID_PARAMS`].
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    /// [`INTERNAL_ERROR`] without details, which belong in the server's log.
    pub fn internal() -> Self {
        Self::new(INTERNAL_ERROR, "internal error")
    }

    /// Reads the `error` member of a response; `None` without an integer `code` and a string `message`.
    pub(super) fn from_member(member: Value) -> Option<Self> {
        let Value::Object(mut members) = member else { return None };
        let code = members.get("code")?.as_i64()?;
        let Some(Value::String(message)) = members.remove("message") else { return None };
        Some(Self { code, message, data: members.remove("data") })
    }
}

impl From<ArgumentError> for ErrorObject {
    fn from(error: ArgumentError) -> Self {
        Self::invalid_params(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn absent_data_is_not_written() {
        let error = ErrorObject::invalid_params("limit: expected an integer");
        assert_eq!(
            serde_json::to_value(&error).unwrap(),
            json!({"code": -32602, "message": "limit: expected an integer"})
        );
        let error = error.with_data(json!({"uri": "ui://x"}));
        assert_eq!(serde_json::to_value(&error).unwrap()["data"], json!({"uri": "ui://x"}));
    }

    #[test]
    fn a_long_method_name_is_shortened() {
        let error = ErrorObject::method_not_found(&"é".repeat(1000));
        assert_eq!(error.message.chars().count(), "method not found: ".len() + 64);
    }

    #[test]
    fn an_error_member_needs_code_and_message() {
        for (member, readable) in [
            (json!({"code": -1, "message": "m"}), true),
            (json!({"code": -1, "message": "m", "data": [1], "more": 2}), true),
            (json!({"code": -1}), false),
            (json!({"message": "m"}), false),
            (json!({"code": 1.5, "message": "m"}), false),
            (json!({"code": "1", "message": "m"}), false),
            (json!({"code": 1, "message": 2}), false),
            (json!("failed"), false),
            (json!(null), false),
        ] {
            assert_eq!(ErrorObject::from_member(member.clone()).is_some(), readable, "{member}");
        }
    }
}
