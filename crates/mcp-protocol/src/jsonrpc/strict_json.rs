//! JSON values read without leniency: a member name that occurs twice in one object is noticed.
//!
//! `serde_json::Value` keeps the last of two equal names, so that two readers of one message could see two different
//! requests. The parser's recursion limit (128 levels) holds here too, because every level goes through it.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;

/// Reads one value of any kind and sets `repeated` when some object in it names a member twice.
#[derive(Clone, Copy)]
pub(super) struct StrictValue<'a> {
    pub(super) repeated: &'a Cell<bool>,
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
            if members.insert(name, map.next_value_seed(self)?).is_some() {
                self.repeated.set(true);
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<(Value, bool)> {
        let repeated = Cell::new(false);
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = StrictValue { repeated: &repeated }.deserialize(&mut deserializer).ok()?;
        deserializer.end().ok()?;
        Some((value, repeated.get()))
    }

    #[test]
    fn repeated_names_are_noticed_at_any_depth() {
        for (text, repeated) in [
            (r#"{"a":1,"b":1}"#, false),
            (r#"{"a":{"a":1},"b":{"a":1}}"#, false),
            (r#"{"a":1,"a":1}"#, true),
            (r#"[{"x":[{"a":1,"\u0061":2}]}]"#, true),
        ] {
            assert_eq!(read(text).unwrap().1, repeated, "{text}");
        }
    }

    #[test]
    fn a_member_name_of_the_parser_itself_is_an_ordinary_name() {
        for name in ["$serde_json::private::RawValue", "$serde_json::private::Number"] {
            let (value, _) = read(&format!(r#"{{"{name}":"[1]"}}"#)).unwrap();
            assert_eq!(value[name], Value::from("[1]"));
        }
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in r#"[\[\]{}":, a0-9.eE+\\-]{0,24}"#) {
            let expect = serde_json::from_str::<Value>(&text).ok();
            prop_assert_eq!(read(&text).map(|(value, _)| value), expect);
        }
    }
}
