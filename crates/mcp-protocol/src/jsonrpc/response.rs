//! Responses.

use super::envelope::Document;
use super::{ErrorObject, Incoming, JSONRPC_VERSION, ParseFailure, ParseFailureKind, RequestId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// The response to a request: a result or an error (JSON-RPC 2.0 §5).
///
/// A server constructs it with a typed result. A client parses a `Response<Value>` and converts it with
/// [`Response::into_result`].
#[derive(Debug, Clone, PartialEq)]
pub enum Response<R = Value> {
    /// The call succeeded.
    Success {
        /// The request's id.
        id: RequestId,
        /// The result of the method.
        result: R,
    },
    /// The call failed.
    Failure {
        /// The request's id; `None` (written as null) when it could not be read.
        id: Option<RequestId>,
        /// The error.
        error: ErrorObject,
    },
}

/// Why a response has no result of the expected type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server returned an error.
    #[error("the server returned an error: {0}")]
    Refused(ErrorObject),
    /// The result does not have the expected type.
    #[error("the result does not have the expected type: {0}")]
    UnexpectedResult(#[from] serde_json::Error),
}

impl<R> Response<R> {
    /// A successful response.
    pub fn success(id: RequestId, result: R) -> Self {
        Self::Success { id, result }
    }

    /// The id of the request.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Success { id, .. } => Some(id),
            Self::Failure { id, .. } => id.as_ref(),
        }
    }
}

impl Response {
    /// An error response; `id` is `None` when it could not be read.
    pub fn failure(id: Option<RequestId>, error: ErrorObject) -> Self {
        Self::Failure { id, error }
    }

    /// Parses a response.
    ///
    /// # Errors
    /// If the bytes are not JSON or not a response.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseFailure> {
        match Incoming::parse(bytes)? {
            Incoming::Response(response) => Ok(response),
            Incoming::Request(request) => Err(ParseFailureKind::NotAResponse.with_id(Some(request.id))),
            Incoming::Notification(_) => Err(ParseFailureKind::NotAResponse.with_id(None)),
        }
    }

    /// Deserializes the result.
    ///
    /// # Errors
    /// If the server returned an error, or a result of another type.
    pub fn into_result<T: DeserializeOwned>(self) -> Result<T, CallError> {
        match self {
            Self::Success { result, .. } => Ok(serde_json::from_value(result)?),
            Self::Failure { error, .. } => Err(CallError::Refused(error)),
        }
    }
}

impl<R: Serialize> Response<R> {
    /// The response as JSON, with the id in its spelling as sent.
    ///
    /// # Errors
    /// If the result cannot be serialised as JSON, such as a map with keys that are not strings.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let id = self.id().map_or_else(|| Ok("null".to_owned()), RequestId::to_json)?;
        let mut json = format!(r#"{{"jsonrpc":"{JSONRPC_VERSION}","id":{id},"#).into_bytes();
        match self {
            Self::Success { result, .. } => {
                json.extend_from_slice(br#""result":"#);
                serde_json::to_writer(&mut json, result)?;
            }
            Self::Failure { error, .. } => {
                json.extend_from_slice(br#""error":"#);
                serde_json::to_writer(&mut json, error)?;
            }
        }
        json.push(b'}');
        Ok(json)
    }
}

/// The serialised form.
#[derive(Serialize)]
struct Wire<'a, R> {
    jsonrpc: &'static str,
    id: Option<&'a RequestId>,
    #[serde(flatten)]
    outcome: Outcome<'a, R>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome<'a, R> {
    Result(&'a R),
    Error(&'a ErrorObject),
}

impl<R: Serialize> Serialize for Response<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let outcome = match self {
            Self::Success { result, .. } => Outcome::Result(result),
            Self::Failure { error, .. } => Outcome::Error(error),
        };
        Wire { jsonrpc: JSONRPC_VERSION, id: self.id(), outcome }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Response {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Document::deserialize(deserializer)?.into_message().map_err(de::Error::custom)? {
            Incoming::Response(response) => Ok(response),
            _ => Err(de::Error::custom(ParseFailureKind::NotAResponse)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::{METHOD_NOT_FOUND, PARSE_ERROR};
    use serde_json::json;

    #[test]
    fn responses_are_serialised_with_a_null_id_if_unknown() {
        let success = Response::success(RequestId::from("a"), vec![1, 2]);
        assert_eq!(serde_json::to_string(&success).unwrap(), r#"{"jsonrpc":"2.0","id":"a","result":[1,2]}"#);
        assert_eq!(success.to_json().unwrap(), serde_json::to_vec(&success).unwrap());
        let failure = Response::failure(None, ErrorObject::new(PARSE_ERROR, "no"));
        assert_eq!(
            serde_json::to_string(&failure).unwrap(),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#
        );
        assert_eq!(failure.to_json().unwrap(), serde_json::to_vec(&failure).unwrap());
    }

    #[test]
    fn a_result_is_deserialised() {
        let response = Response::parse(br#"{"jsonrpc":"2.0","id":1,"result":[1,2]}"#).unwrap();
        assert_eq!(response.id(), Some(&RequestId::Integer(1)));
        assert_eq!(response.clone().into_result::<Vec<u8>>().unwrap(), [1, 2]);
        assert!(matches!(response.into_result::<String>(), Err(CallError::UnexpectedResult(_))));
    }

    #[test]
    fn an_error_response_gives_an_error() {
        let body = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}"#;
        let Err(CallError::Refused(error)) = Response::parse(body).unwrap().into_result::<Value>() else {
            panic!("an error response gave a result");
        };
        assert_eq!(error.code, METHOD_NOT_FOUND);
    }

    #[test]
    fn other_messages_are_refused() {
        for (body, expect) in [
            (json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}), ParseFailureKind::NotAResponse),
            (json!({"jsonrpc": "2.0", "method": "n"}), ParseFailureKind::NotAResponse),
            (json!({"jsonrpc": "2.0", "id": 1}), ParseFailureKind::MissingMethod),
        ] {
            assert_eq!(Response::parse(body.to_string().as_bytes()).unwrap_err().kind, expect, "{body}");
            assert!(serde_json::from_str::<Response>(&body.to_string()).is_err(), "{body}");
        }
    }
}
