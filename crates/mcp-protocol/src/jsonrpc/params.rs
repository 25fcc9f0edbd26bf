//! The parameters of a request or notification.

use crate::arguments::{ArgumentError, parse_arguments};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

/// Parameters by name or by position (JSON-RPC 2.0 §4.2). Every method of the protocol takes them by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Params {
    /// Parameters by name.
    Object(Map<String, Value>),
    /// Parameters by position.
    Array(Vec<Value>),
}

/// Why a value cannot be used as parameters.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidParams {
    /// The value serialises to a scalar or to null.
    #[error("params must be an object or an array")]
    NotStructured,
    /// The value cannot be serialised as JSON.
    #[error("params cannot be serialised as JSON: {0}")]
    NotJson(#[from] serde_json::Error),
}

impl Params {
    /// Serialises `value`, usually a struct such as [`CallToolParams`](crate::tools::CallToolParams).
    ///
    /// # Errors
    /// If `value` does not serialise to an object or an array.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, InvalidParams> {
        Self::try_from(serde_json::to_value(value)?)
    }

    /// The parameters by name; `None` when they are given by position.
    pub fn as_object(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Object(members) => Some(members),
            Self::Array(_) => None,
        }
    }

    /// The `_meta` member, which describes the request itself.
    pub fn meta(&self) -> Option<&Map<String, Value>> {
        self.as_object()?.get("_meta")?.as_object()
    }

    /// Deserializes parameters by name; absent ones count as an empty object.
    pub(crate) fn read<T: DeserializeOwned>(params: Option<&Self>) -> Result<T, ArgumentError> {
        match params {
            None => parse_arguments(&Map::new()),
            Some(Self::Object(members)) => parse_arguments(members),
            Some(Self::Array(_)) => Err(Self::by_position()),
        }
    }

    /// The parameters by name; absent ones count as an empty object.
    pub(crate) fn into_object(params: Option<Self>) -> Result<Map<String, Value>, ArgumentError> {
        match params {
            None => Ok(Map::new()),
            Some(Self::Object(members)) => Ok(members),
            Some(Self::Array(_)) => Err(Self::by_position()),
        }
    }

    fn by_position() -> ArgumentError {
        ArgumentError::new("params", "expected an object, got an array")
    }
}

/// Whether a value in place of an optional object means that the object is absent. Some clients send null. Clients in
/// languages such as PHP, where an array is also a map, send an empty array.
pub(crate) fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

impl From<Map<String, Value>> for Params {
    fn from(members: Map<String, Value>) -> Self {
        Self::Object(members)
    }
}

impl TryFrom<Value> for Params {
    type Error = InvalidParams;

    fn try_from(value: Value) -> Result<Self, InvalidParams> {
        match value {
            Value::Object(members) => Ok(Self::Object(members)),
            Value::Array(items) => Ok(Self::Array(items)),
            _ => Err(InvalidParams::NotStructured),
        }
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn params_are_an_object_or_an_array() {
        for (value, accepted) in [
            (json!({}), true),
            (json!([]), true),
            (json!(null), false),
            (json!(1), false),
            (json!("a"), false),
            (json!(true), false),
        ] {
            assert_eq!(Params::of(&value).is_ok(), accepted, "{value}");
        }
    }

    #[test]
    fn meta_is_read_only_from_an_object() {
        let params = Params::of(&json!({"_meta": {"progressToken": 1}})).unwrap();
        assert_eq!(params.meta().unwrap()["progressToken"], json!(1));
        assert!(Params::of(&json!({"_meta": 1})).unwrap().meta().is_none());
        assert!(Params::of(&json!([1])).unwrap().meta().is_none());
    }
}
