//! JSON values read without leniency: a member name that occurs twice in one object is noticed.
//!
//! `serde_json::Value` keeps the last of two equal names, so that two readers of one message could see two different
//! requests. The parser's recursion limit (128 levels) holds here too, because every level goes through it.

use crate::arguments::shortened;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::fmt;

/// Why a text was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StrictJsonError {
    /// It is not JSON, or nested deeper than the parser goes.
    #[error("not valid JSON: {0}")]
    Malformed(#[from] serde_json::Error),
    /// An object, at any depth, names a member twice.
    #[error("{}: is given more than once", shortened(name))]
    Repeated {
        /// The first name that came again.
        name: String,
    },
}

/// Reads a whole text as one value.
///
/// ```
/// use mcp_protocol::strict_json;
///
/// assert_eq!(strict_json::parse(br#"{"a":1}"#).unwrap()["a"], 1);
/// let error = strict_json::parse(br#"{"a":1,"a":2}"#).unwrap_err();
/// assert_eq!(error.to_string(), "a: is given more than once");
/// ```
///
/// # Errors
/// [`StrictJsonError`]; what is malformed counts as that even when a member is repeated in it.
pub fn parse(bytes: &[u8]) -> Result<Value, StrictJsonError> {
    let repeated = Repeated::default();
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = StrictValue { repeated: &repeated }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    match repeated.into_name() {
        None => Ok(value),
        Some(name) => Err(StrictJsonError::Repeated { name }),
    }
}

/// The first member name that came again.
#[derive(Default)]
pub(crate) struct Repeated(OnceCell<String>);

impl Repeated {
    fn note(&self, name: String) {
        // Of several the first is kept.
        let _ = self.0.set(name);
    }

    pub(crate) fn is_noted(&self) -> bool {
        self.0.get().is_some()
    }

    fn into_name(self) -> Option<String> {
        self.0.into_inner()
    }
}

/// Reads one value of any kind and notes in `repeated` when some object in it names a member twice.
#[derive(Clone, Copy)]
pub(crate) struct StrictValue<'a> {
    pub(crate) repeated: &'a Repeated,
}

impl<'de> DeserializeSeed<'de> for StrictValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictValue<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(self)?;
            if members.contains_key(&name) {
                self.repeated.note(name);
            } else {
                members.insert(name, value);
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name_repeated(text: &str) -> Option<String> {
        match parse(text.as_bytes()) {
            Ok(_) => None,
            Err(StrictJsonError::Repeated { name }) => Some(name),
            Err(StrictJsonError::Malformed(error)) => panic!("{text}: {error}"),
        }
    }

    #[test]
    fn the_first_repeated_name_is_noticed_at_any_depth() {
        for (text, repeated) in [
            (r#"{"a":1,"b":1}"#, None),
            (r#"{"a":{"a":1},"b":{"a":1}}"#, None),
            (r#"{"a":1,"a":1}"#, Some("a")),
            (r#"{"a":1,"b":1,"b":2,"a":1}"#, Some("b")),
            (r#"[{"x":[{"a":1,"\u0061":2}]}]"#, Some("a")),
        ] {
            assert_eq!(name_repeated(text).as_deref(), repeated, "{text}");
        }
    }

    #[test]
    fn what_is_malformed_is_that_first() {
        for text in ["", "{", r#"{"a":1,"a":1"#, r#"{"a":1,"a":1} x"#] {
            assert!(matches!(parse(text.as_bytes()), Err(StrictJsonError::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn a_member_name_of_the_parser_itself_is_an_ordinary_name() {
        for name in ["$serde_json::private::RawValue", "$serde_json::private::Number"] {
            let value = parse(format!(r#"{{"{name}":"[1]"}}"#).as_bytes()).unwrap();
            assert_eq!(value[name], Value::from("[1]"));
        }
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in r#"[\[\]{}":, a0-9.eE+\\-]{0,24}"#) {
            let expect = serde_json::from_str::<Value>(&text).ok();
            match parse(text.as_bytes()) {
                Err(StrictJsonError::Repeated { .. }) => prop_assert!(expect.is_some()),
                read => prop_assert_eq!(read.ok(), expect),
            }
        }
    }
}
