//! The id that ties an answer to its request.

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use std::fmt;

/// The id of a request: a string or an integer (JSON-RPC 2.0 §4, narrowed by the protocol: never null, no fraction).
///
/// Integers reach from −2⁶³ to 2⁶³ − 1; an answer carries the id exactly as the request did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(untagged)]
pub enum RequestId {
    /// An integer.
    Integer(i64),
    /// A string, possibly empty.
    String(String),
}

/// The value is not a string or an integer in range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a request id must be a string or an integer")]
pub struct InvalidRequestId;

impl RequestId {
    /// Reads an id without taking the value.
    pub(super) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::String(text.clone())),
            Value::Number(number) => number.as_i64().map(Self::Integer),
            _ => None,
        }
    }
}

impl TryFrom<Value> for RequestId {
    type Error = InvalidRequestId;

    fn try_from(value: Value) -> Result<Self, InvalidRequestId> {
        match value {
            Value::String(text) => Ok(Self::String(text)),
            other => Self::read(&other).ok_or(InvalidRequestId),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        Self::Integer(id)
    }
}

impl From<String> for RequestId {
    fn from(id: String) -> Self {
        Self::String(id)
    }
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self::String(id.to_owned())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(id) => write!(f, "{id}"),
            Self::String(id) => f.write_str(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_strings_and_integers_are_ids() {
        for (text, expect) in [
            ("1", Some(RequestId::Integer(1))),
            ("0", Some(RequestId::Integer(0))),
            ("-7", Some(RequestId::Integer(-7))),
            ("9223372036854775807", Some(RequestId::Integer(i64::MAX))),
            ("\"\"", Some(RequestId::from(""))),
            ("\"1\"", Some(RequestId::from("1"))),
            ("9223372036854775808", None),
            ("1.0", None),
            ("1.5", None),
            ("1e3", None),
            ("null", None),
            ("true", None),
            ("{}", None),
            ("[1]", None),
        ] {
            assert_eq!(serde_json::from_str::<RequestId>(text).ok(), expect, "{text}");
        }
    }

    proptest! {
        #[test]
        fn ids_survive_a_round_trip(number: i64, text: String) {
            for id in [RequestId::from(number), RequestId::from(text)] {
                let json = serde_json::to_string(&id).unwrap();
                prop_assert_eq!(serde_json::from_str::<RequestId>(&json).unwrap(), id);
            }
        }
    }
}
