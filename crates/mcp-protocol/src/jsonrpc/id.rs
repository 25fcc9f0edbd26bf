//! The id that links a response to its request.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Number, Value};
use std::fmt;

/// The id of a request: a string or an integer (JSON-RPC 2.0 §4, narrowed by the protocol: never null, no fraction).
///
/// A response repeats the id in the request's exact spelling; see [`Response::to_json`](super::Response::to_json).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestId {
    /// An integer from −2⁶³ to 2⁶³ − 1 in its usual spelling.
    Integer(i64),
    /// Any other integer, as sent: `18446744073709551616`, `1.0`, `1e3`.
    Verbatim(String),
    /// A string, possibly empty.
    String(String),
}

/// The value is not a string or an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a request id must be a string or an integer")]
pub struct InvalidRequestId;

impl RequestId {
    /// Reads an id from a borrowed value.
    pub(super) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::String(text.clone())),
            Value::Number(number) => Self::of_number(number, None),
            _ => None,
        }
    }

    /// An integer; `text` is its spelling as sent, if known.
    pub(super) fn of_number(number: &Number, text: Option<&str>) -> Option<Self> {
        if let Some(integer) = number.as_i64() {
            return Some(Self::Integer(integer));
        }
        let is_integer = number.is_u64() || number.as_f64().is_some_and(|value| value.fract() == 0.0);
        is_integer.then(|| Self::Verbatim(text.map_or_else(|| number.to_string(), str::to_owned)))
    }

    /// The id as JSON, exactly as it was sent.
    ///
    /// # Errors
    /// None in practice: strings and numbers can always be serialised.
    pub fn to_json(&self) -> serde_json::Result<String> {
        match self {
            Self::Integer(id) => Ok(id.to_string()),
            Self::Verbatim(id) => Ok(id.clone()),
            Self::String(id) => serde_json::to_string(id),
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

/// A [`RequestId::Verbatim`] is serialised as the nearest number that serde can represent.
impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(id) => serializer.serialize_i64(*id),
            Self::Verbatim(id) => {
                let number: Number = serde_json::from_str(id).map_err(serde::ser::Error::custom)?;
                number.serialize(serializer)
            }
            Self::String(id) => serializer.serialize_str(id),
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
            Self::Verbatim(id) | Self::String(id) => f.write_str(id),
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
            ("9223372036854775808", Some(RequestId::Verbatim("9223372036854775808".into()))),
            ("1.0", Some(RequestId::Verbatim("1.0".into()))),
            ("1.5", None),
            ("1e-3", None),
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
