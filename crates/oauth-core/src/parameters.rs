//! Named parameters of a request, each at most once (RFC 6749, section 3.1).

use percent_encoding::percent_decode;
use serde_json::Value;

use crate::json;

/// The parameters that a request may have. It shows no value by `{:?}`, as most are secrets.
pub(crate) struct Parameters(Vec<(&'static str, Found)>);

enum Found {
    Text(String),
    /// Not text: invalid UTF-8, or JSON of another type.
    NoText,
    Repeated,
}

/// A parameter that cannot be used. In words for the client's developer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} {fault}")]
pub(crate) struct BadParameter {
    pub(crate) name: &'static str,
    pub(crate) fault: &'static str,
}

pub(crate) fn bad(name: &'static str, fault: &'static str) -> BadParameter {
    BadParameter { name, fault }
}

impl Parameters {
    /// Reads `application/x-www-form-urlencoded`, a query or a body. Names that are not in `known` are left out.
    pub(crate) fn from_form(form: &[u8], known: &[&'static str]) -> Self {
        let mut found = Self(Vec::new());
        for pair in form.split(|byte| *byte == b'&') {
            let split = pair.iter().position(|byte| *byte == b'=');
            let (name, value) = split.map_or((pair, &[][..]), |at| {
                (pair.get(..at).unwrap_or_default(), pair.get(at + 1..).unwrap_or_default())
            });
            let name = decode(name);
            if let Some(name) = known.iter().find(|known| Some(**known) == name.as_deref()) {
                found.add(name, decode(value).map_or(Found::NoText, Found::Text));
            }
        }
        found
    }

    /// Reads a JSON object, in which `null` is as good as absent. Names that are not in `known` are left out.
    pub(crate) fn from_json(body: &[u8], known: &[&'static str]) -> Result<Self, &'static str> {
        let mut found = Self(Vec::new());
        for (name, value) in json::members(body, known)? {
            match value {
                Value::Null => {}
                Value::String(text) => found.add(name, Found::Text(text)),
                _ => found.add(name, Found::NoText),
            }
        }
        Ok(found)
    }

    fn add(&mut self, name: &'static str, value: Found) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, found)) => *found = Found::Repeated,
            None => self.0.push((name, value)),
        }
    }

    /// The value of a parameter; one without a value counts as absent.
    pub(crate) fn get(&self, name: &'static str) -> Result<Option<&str>, BadParameter> {
        match self.0.iter().find(|(known, _)| *known == name) {
            None => Ok(None),
            Some((_, Found::Text(text))) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some((_, Found::NoText)) => Err(bad(name, "is not text")),
            Some((_, Found::Repeated)) => Err(bad(name, "stands more than once")),
        }
    }

    /// The value of a parameter that must be there.
    pub(crate) fn required(&self, name: &'static str) -> Result<&str, BadParameter> {
        self.get(name)?.ok_or(bad(name, "is missing"))
    }

    /// The first parameter that stands more than once or is not text.
    pub(crate) fn first_bad(&self) -> Result<(), BadParameter> {
        self.first_bad_but_for(&[])
    }

    /// The same; what stands under these names is not looked at, so it need not be text.
    pub(crate) fn first_bad_but_for(&self, unread: &[&str]) -> Result<(), BadParameter> {
        let looked_at =
            |found: &Found, name: &str| !matches!(found, Found::NoText) || !unread.contains(&name);
        let mut bad = self.0.iter().filter(|(name, found)| looked_at(found, name));
        bad.try_for_each(|(name, _)| self.get(name).map(|_| ()))
    }
}

/// The text that form encoding stands for; `None` when it is not UTF-8.
pub(crate) fn decode(encoded: &[u8]) -> Option<String> {
    let spaced: Vec<u8> = encoded.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    String::from_utf8(percent_decode(&spaced).collect()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 2] = ["state", "scope"];

    #[test]
    fn forms_are_read() {
        let check = |form: &[u8], expect: Result<Option<&str>, &str>| {
            let found = Parameters::from_form(form, &KNOWN);
            assert_eq!(found.get("state").map_err(|bad| bad.fault), expect, "{}", form.escape_ascii());
        };
        check(b"", Ok(None));
        check(b"state", Ok(None));
        check(b"state=", Ok(None));
        check(b"&&=x&state=a&&", Ok(Some("a")));
        check(b"state=a=b", Ok(Some("a=b")));
        check(b"st%61te=a+b%20c%2B%26", Ok(Some("a b c+&")));
        check(b"State=a", Ok(None));
        check(b"state=%C3%A4%00%0d%0A", Ok(Some("ä\0\r\n")));
        check(b"state=%", Ok(Some("%")));
        check(b"state=%zz%4", Ok(Some("%zz%4")));
        check(b"state=a&state=a", Err("stands more than once"));
        check(b"state=a&st%61te=", Err("stands more than once"));
        check(b"state=a&other=1&other=2", Ok(Some("a")));
        check(b"state=%ff", Err("is not text"));
        check(b"state=\xff", Err("is not text"));
        check(b"%ff=a&state=b", Ok(Some("b")));
    }

    #[test]
    fn objects_are_read() {
        let check = |body: &str, expect: Result<Option<&str>, &str>| {
            let found = Parameters::from_json(body.as_bytes(), &KNOWN);
            let got = found
                .as_ref()
                .map_err(|error| *error)
                .and_then(|found| found.get("state").map_err(|bad| bad.fault));
            assert_eq!(got, expect, "{body}");
        };
        check("{}", Ok(None));
        check(r#"{"state":null}"#, Ok(None));
        check(r#"{"state":""}"#, Ok(None));
        check(r#"{"state":"a b","x":[1]}"#, Ok(Some("a b")));
        check(r#"{"state":1}"#, Err("is not text"));
        check(r#"{"state":["a"]}"#, Err("is not text"));
        check(r#"{"state":"a","st\u0061te":"a"}"#, Err("stands more than once"));
        check(r#"{"state":"a","x":1,"x":{"y":1,"y":2}}"#, Ok(Some("a")));
        check(r#"{"state":{"y":1,"y":2}}"#, Err("is not text"));
        check("state=a", Err("the body is not JSON"));
    }
}
