//! Reads JSON and refuses an object that names a member twice.
//!
//! RFC 8259 does not define which of two members with the same name applies, and parsers differ: `serde_json::Value`
//! keeps the last. So two readers of one text can see two different values. Nesting is limited to 128 levels, as in
//! serde_json.
//!
//! [`parse`] and [`parse_object`] read a whole text. A program with its own visitor for the outermost value reads the
//! values inside it with [`ValueSeed`].
//!
//! ```
//! assert_eq!(strict_json::parse(br#"{"a":1}"#)?["a"], 1);
//! let error = strict_json::parse(br#"{"a":1,"a":2}"#).unwrap_err();
//! assert_eq!(error.to_string(), "a: is given more than once");
//! # Ok::<(), strict_json::Error>(())
//! ```
#![deny(missing_docs)]

use std::{cell::OnceCell, fmt};

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Why a text was refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not JSON, or nested deeper than 128 levels.
    #[error("not valid JSON: {0}")]
    Malformed(#[from] serde_json::Error),
    /// An object, at any depth, names a member twice.
    #[error("{name:.40}: is given more than once")]
    DuplicateMember {
        /// The first name that occurs again.
        name: String,
    },
    /// It is JSON, but not an object.
    #[error("not a JSON object")]
    NotAnObject,
}

/// Reads a whole text as one value.
///
/// # Errors
/// [`Error::Malformed`], also when a member is repeated before the malformed part, or [`Error::DuplicateMember`].
pub fn parse(text: &[u8]) -> Result<Value, Error> {
    let duplicate = DuplicateName::default();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = ValueSeed(&duplicate).deserialize(&mut deserializer)?;
    deserializer.end()?;
    match duplicate.0.into_inner() {
        None => Ok(value),
        Some(name) => Err(Error::DuplicateMember { name }),
    }
}

/// Reads a whole text as one object.
///
/// # Errors
/// As [`parse`], and [`Error::NotAnObject`].
pub fn parse_object(text: &[u8]) -> Result<Map<String, Value>, Error> {
    match parse(text)? {
        Value::Object(members) => Ok(members),
        _ => Err(Error::NotAnObject),
    }
}

/// The first member name that occurred twice in one object.
#[derive(Debug, Default)]
pub struct DuplicateName(OnceCell<String>);

impl DuplicateName {
    /// The name, if there is one.
    pub fn get(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// Reads one value of any type. A repeated member name is recorded and is not an error; the first value is kept.
#[derive(Debug, Clone, Copy)]
pub struct ValueSeed<'a>(pub &'a DuplicateName);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
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
                // Only the first duplicate is kept.
                let _ = self.0.0.set(name);
            } else {
                members.insert(name, value);
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn duplicate(text: &str) -> Option<String> {
        match parse(text.as_bytes()) {
            Ok(_) => None,
            Err(Error::DuplicateMember { name }) => Some(name),
            Err(error) => panic!("{text}: {error}"),
        }
    }

    #[test]
    fn the_first_duplicate_is_found_at_any_depth() {
        for (text, expect) in [
            (r#"{"a":1,"b":1}"#, None),
            (r#"{"a":{"a":1},"b":{"a":1}}"#, None),
            (r#"{"a":1,"a":1}"#, Some("a")),
            (r#"{"a":1,"b":1,"b":2,"a":1}"#, Some("b")),
            (r#"[{"x":[{"a":1,"\u0061":2}]}]"#, Some("a")),
        ] {
            assert_eq!(duplicate(text).as_deref(), expect, "{text}");
        }
    }

    #[test]
    fn malformed_text_is_reported_before_a_duplicate() {
        let nested =
            |open: &str, close: &str, depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert!(parse(nested("[", "]", 127).as_bytes()).is_ok());
        for text in [
            "",
            "{",
            r#"{"a":1,"a":1"#,
            r#"{"a":1,"a":1} x"#,
            "{}{}",
            r#"{"a":1,}"#,
            "{a:1}",
            "\u{feff}{}",
            r#"{"a":"\ud800"}"#,
            r#"{"a":1e999}"#,
            &nested("[", "]", 128),
            &nested(r#"{"a":"#, "}", 200),
            &"[".repeat(100_000),
            &r#"{"a":"#.repeat(100_000),
        ] {
            assert!(matches!(parse(text.as_bytes()), Err(Error::Malformed(_))), "{text:.40}");
        }
    }

    #[test]
    fn only_an_object_is_parsed_as_one() {
        assert_eq!(parse_object(br#" {"a":[1,null]} "#).unwrap().len(), 1);
        for text in ["[]", "1", "null", r#""a""#, "true"] {
            assert!(matches!(parse_object(text.as_bytes()), Err(Error::NotAnObject)), "{text}");
        }
    }

    #[test]
    fn names_that_serde_json_reserves_are_ordinary_names() {
        for name in ["$serde_json::private::RawValue", "$serde_json::private::Number"] {
            let value = parse(format!(r#"{{"{name}":"[1]"}}"#).as_bytes()).unwrap();
            assert_eq!(value[name], Value::from("[1]"));
        }
    }

    #[test]
    fn a_long_name_is_cut_in_the_message() {
        let name = "é".repeat(1000);
        let error = parse(format!(r#"{{"{name}":1,"{name}":1}}"#).as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: is given more than once", "é".repeat(40)));
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json_on_text_without_duplicates(text in r#"[\[\]{}":, a0-9.eE+\\-]{0,24}"#) {
            let expect = serde_json::from_str::<Value>(&text).ok();
            match parse(text.as_bytes()) {
                Err(Error::DuplicateMember { .. }) => prop_assert!(expect.is_some()),
                read => prop_assert_eq!(read.ok(), expect),
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }
    }
}
