use serde::Serialize;

use crate::ProtocolVersion;
use crate::jsonrpc::{
    ErrorObject, HEADER_MISMATCH, METHOD_NOT_FOUND, MISSING_REQUIRED_CLIENT_CAPABILITY, RequestId, Response,
    UNSUPPORTED_PROTOCOL_VERSION,
};

/// An HTTP response: a status and, except for a notification, a JSON body.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerResponse {
    /// The HTTP status: 200, 202, 400 or 404.
    pub status: u16,
    /// The JSON-RPC response; `None` for a notification.
    pub body: Option<Vec<u8>>,
}

impl ServerResponse {
    /// The response to a notification.
    pub(super) const ACCEPTED: Self = Self { status: 202, body: None };

    pub(super) fn success<R: Serialize>(id: RequestId, result: R) -> Self {
        Self::of(200, &Response::success(id, result))
    }

    /// A result that is already serialised.
    pub(super) fn serialised(id: &RequestId, result: &[u8]) -> Self {
        let Ok(id) = id.to_json() else { return Self::internal() };
        let parts: [&[u8]; 5] = [br#"{"jsonrpc":"2.0","id":"#, id.as_bytes(), br#","result":"#, result, b"}"];
        Self { status: 200, body: Some(parts.concat()) }
    }

    /// The error of a method, with the status that the revision defines.
    pub(super) fn failure(version: ProtocolVersion, id: RequestId, error: ErrorObject) -> Self {
        let status = if version.is_legacy() {
            200
        } else {
            match error.code {
                METHOD_NOT_FOUND => 404,
                HEADER_MISMATCH | MISSING_REQUIRED_CLIENT_CAPABILITY | UNSUPPORTED_PROTOCOL_VERSION => 400,
                _ => 200,
            }
        };
        Self::error(status, Some(id), error)
    }

    /// An error with a status.
    pub(super) fn error(status: u16, id: Option<RequestId>, error: ErrorObject) -> Self {
        Self::of(status, &Response::failure(id, error))
    }

    fn of<R: Serialize>(status: u16, response: &Response<R>) -> Self {
        response.to_json().map_or_else(|_| Self::internal(), |body| Self { status, body: Some(body) })
    }

    /// The error for a result that cannot be serialised as JSON, such as a map with keys that are not strings.
    fn internal() -> Self {
        let body = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}"#;
        Self { status: 200, body: Some(body.to_vec()) }
    }
}
