//! Requests, which have a response, and notifications, which have none.

use super::envelope::Document;
use super::{Incoming, JSONRPC_VERSION, Params, RequestId};
use crate::arguments::ArgumentError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

/// A call with a response (JSON-RPC 2.0 §4).
///
/// ```
/// use mcp_wire::jsonrpc::Request;
///
/// let request = Request::new(1, "tools/list", None);
/// let text = serde_json::to_string(&request)?;
/// assert_eq!(text, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Links the response to this request.
    pub id: RequestId,
    /// The method; see [`crate::methods`].
    pub method: String,
    /// The parameters.
    pub params: Option<Params>,
}

/// A call without a response (JSON-RPC 2.0 §4.1).
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// The method; see [`crate::methods`].
    pub method: String,
    /// The parameters.
    pub params: Option<Params>,
}

impl Request {
    /// A request. [`Params::of`] makes `params`.
    pub fn new(id: impl Into<RequestId>, method: impl Into<String>, params: Option<Params>) -> Self {
        Self { id: id.into(), method: method.into(), params }
    }

    /// Deserializes the parameters; absent ones count as an empty object.
    ///
    /// # Errors
    /// If they are given by position or do not fit the type. The error becomes an
    /// [`ErrorObject`](super::ErrorObject) with code [`INVALID_PARAMS`](super::INVALID_PARAMS) by `into()`.
    pub fn params_as<T: DeserializeOwned>(&self) -> Result<T, ArgumentError> {
        Params::read(self.params.as_ref())
    }

    /// The `_meta` member of the parameters.
    pub fn meta(&self) -> Option<&Map<String, Value>> {
        self.params.as_ref()?.meta()
    }
}

impl Notification {
    /// A notification. [`Params::of`] makes `params`.
    pub fn new(method: impl Into<String>, params: Option<Params>) -> Self {
        Self { method: method.into(), params }
    }

    /// Deserializes the parameters; absent ones count as an empty object.
    ///
    /// # Errors
    /// If they are given by position or do not fit the type.
    pub fn params_as<T: DeserializeOwned>(&self) -> Result<T, ArgumentError> {
        Params::read(self.params.as_ref())
    }
}

/// The serialised form.
#[derive(Serialize)]
struct Wire<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RequestId>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a Params>,
}

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { id, method, params } = self;
        Wire { jsonrpc: JSONRPC_VERSION, id: Some(id), method, params: params.as_ref() }.serialize(serializer)
    }
}

impl Serialize for Notification {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { method, params } = self;
        Wire { jsonrpc: JSONRPC_VERSION, id: None, method, params: params.as_ref() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Document::deserialize(deserializer)?.into_message().map_err(de::Error::custom)? {
            Incoming::Request(request) => Ok(request),
            _ => Err(de::Error::custom("the message is not a request")),
        }
    }
}

impl<'de> Deserialize<'de> for Notification {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Document::deserialize(deserializer)?.into_message().map_err(de::Error::custom)? {
            Incoming::Notification(notification) => Ok(notification),
            _ => Err(de::Error::custom("the message is not a notification")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::{ErrorObject, INVALID_PARAMS};
    use serde_json::json;

    #[derive(Deserialize, Debug, PartialEq)]
    struct Cursor {
        cursor: Option<String>,
    }

    #[test]
    fn absent_params_are_an_empty_object() {
        let request = Request::new("a", "tools/list", None);
        assert_eq!(request.params_as::<Cursor>(), Ok(Cursor { cursor: None }));
        assert_eq!(Notification::new("n", None).params_as::<Cursor>(), Ok(Cursor { cursor: None }));
    }

    #[test]
    fn params_that_do_not_fit_are_invalid_params() {
        for (params, message) in [
            (json!([1]), "params: expected an object, got an array"),
            (json!({"cursor": 1}), "cursor: expected a string, got the number 1"),
        ] {
            let request = Request::new(1, "tools/list", Some(Params::of(&params).unwrap()));
            let error = ErrorObject::from(request.params_as::<Cursor>().unwrap_err());
            assert_eq!((error.code, error.message.as_str()), (INVALID_PARAMS, message));
        }
    }

    #[test]
    fn a_request_does_not_parse_as_a_notification_or_the_reverse() {
        let request = serde_json::to_string(&Request::new(1, "ping", None)).unwrap();
        let notification = serde_json::to_string(&Notification::new("n", None)).unwrap();
        assert!(serde_json::from_str::<Notification>(&request).is_err());
        assert!(serde_json::from_str::<Request>(&notification).is_err());
    }
}
