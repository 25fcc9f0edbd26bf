//! JSON objects that every reader reads alike.

use std::{collections::BTreeSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Whether a text is one JSON object in which no object, at any depth, names a member twice. Readers differ in which of
/// two they take. Deeper than 128 levels the parser does not go.
pub(crate) fn is_strict_object(text: &[u8]) -> bool {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    first == Some(&b'{') && Strict.deserialize(&mut deserializer).is_ok() && deserializer.end().is_ok()
}

/// Reads a value of any kind and keeps nothing of it.
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON in which no object names a member twice")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = members.next_key::<String>()? {
            members.next_value_seed(Self)?;
            if !names.insert(name) {
                return Err(Error::custom("a member is named twice"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_that_are_read_in_one_way_pass() {
        let check =
            |text: &str, expect: bool| assert_eq!(is_strict_object(text.as_bytes()), expect, "{text}");
        check(r#"{"a":1,"b":[1.5,-1,true,null,"x",{"a":1}]}"#, true);
        check(" {} ", true);
        check(r#"{"a":1,"a":1}"#, false);
        check(r#"{"a":1,"\u0061":1}"#, false);
        check(r#"{"x":[{"a":{"b":1,"b":2}}]}"#, false);
        check("", false);
        check("[]", false);
        check("1", false);
        check(r#"{"a":1"#, false);
        check(r#"{"a":1}{}"#, false);
        check(r#"{"a":1,}"#, false);
        check(r#"{"a":1e999}"#, false);
        check(&format!("{}1{}", r#"{"a":"#.repeat(100), "}".repeat(100)), true);
        check(&format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200)), false);
        check(&r#"{"a":"#.repeat(100_000), false);
        check(&format!(r#"{{"a":{}"#, "[".repeat(100_000)), false);
    }
}
