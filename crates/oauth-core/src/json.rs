//! JSON objects in which every member stands once. RFC 8259 leaves open which of two equal members counts, and
//! readers differ.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// Reads one object and nothing behind it. Depth is limited to 128 by the parser.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn object(body: &[u8]) -> Result<Map<String, Value>, &'static str> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let strict = Strict::deserialize(&mut deserializer);
    match strict.and_then(|strict| deserializer.end().map(|()| strict.0)) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err("the body is not a JSON object"),
        Err(error) if error.is_data() => Err("the body has a JSON member twice"),
        Err(_) => Err("the body is not JSON"),
    }
}

/// The members of one object that have known names, as often as they were sent. Others are ignored, whatever they hold.
///
/// # Errors
/// What is wrong with the body, in words.
pub(crate) fn members(
    body: &[u8],
    known: &[&'static str],
) -> Result<Vec<(&'static str, Value)>, &'static str> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let members = deserializer.deserialize_any(KnownMembers(known));
    members.and_then(|members| deserializer.end().map(|()| members)).map_err(|error| {
        if error.is_data() { "the body is not a JSON object" } else { "the body is not JSON" }
    })
}

struct KnownMembers<'a>(&'a [&'static str]);

impl<'de> Visitor<'de> for KnownMembers<'_> {
    type Value = Vec<(&'static str, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            match self.0.iter().find(|known| **known == name) {
                Some(known) => members.push((*known, map.next_value()?)),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(members)
    }
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue).map(Strict)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(Strict(entry)) = sequence.next_element()? {
            entries.push(entry);
        }
        Ok(Value::Array(entries))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some((name, Strict(value))) = map.next_entry::<String, Strict>()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a member stands twice"));
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn members_stand_once_at_every_depth() {
        let check = |body: &str, expect: Result<&str, &str>| {
            let got = object(body.as_bytes()).map(|members| Value::Object(members).to_string());
            assert_eq!(got.as_deref().map_err(|error| *error), expect, "{body}");
        };
        check("{}", Ok("{}"));
        check(
            r#" {"a":[1,-2,1.5,"x\n",null,true,{"a":{}}]} "#,
            Ok(r#"{"a":[1,-2,1.5,"x\n",null,true,{"a":{}}]}"#),
        );
        let twice = Err("the body has a JSON member twice");
        check(r#"{"a":1,"a":1}"#, twice);
        check(r#"{"a":1,"\u0061":2}"#, twice);
        check(r#"{"x":[{"b":{"a":1,"a":2}}]}"#, twice);
        check("[]", Err("the body is not a JSON object"));
        check("null", Err("the body is not a JSON object"));
        for body in ["", "{", "{}x", "{}{}", r#"{"a":1,}"#, "{a:1}", "\u{feff}{}", r#"{"a":"\ud800"}"#] {
            check(body, Err("the body is not JSON"));
        }
        check(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), Err("the body is not JSON"));
        check(&r#"{"a":"#.repeat(100_000), Err("the body is not JSON"));
    }

    proptest! {
        #[test]
        fn whatever_has_no_duplicates_is_read_as_serde_reads_it(body in "[\\[\\]{}\":,a-c0-9 .e-]{0,40}") {
            if let Ok(members) = object(body.as_bytes()) {
                prop_assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), Value::Object(members));
            }
        }
    }
}
