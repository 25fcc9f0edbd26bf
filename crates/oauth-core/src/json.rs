//! JSON bodies.

use std::fmt;

use serde::{
    Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

/// Why `subject` was refused as strict JSON; a message for the client's developer.
pub(crate) fn fault(subject: &str, error: &strict_json::Error) -> String {
    match error {
        strict_json::Error::Malformed(_) => format!("{subject} is not JSON"),
        strict_json::Error::DuplicateMember { name } => {
            let name: String = name.chars().take(40).collect();
            format!("{subject} has the JSON member {name:?} more than once")
        }
        strict_json::Error::NotAnObject => format!("{subject} is not a JSON object"),
    }
}

/// The members of an object whose names are in `known`, including repeated ones. The others are ignored.
///
/// # Errors
/// What is wrong with the body.
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
