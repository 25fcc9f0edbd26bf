//! Request parameters, each at most once (RFC 6749, section 3.1).

use percent_encoding::percent_decode;
use serde_json::Value;

use crate::json;

/// The known parameters of a request. Without `Debug`, because most values are secrets.
pub(crate) struct Parameters(Vec<(&'static str, Parameter)>);

enum Parameter {
    Text(String),
    /// Invalid UTF-8, or JSON of another type than a string.
    NotText,
    Repeated,
}

/// An invalid parameter; a message for the client's developer.
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
    /// Reads a query or a body of type `application/x-www-form-urlencoded`. Names that are not in `known` are ignored.
    pub(crate) fn from_form(form: &[u8], known: &[&'static str]) -> Self {
        let mut parameters = Self(Vec::new());
        for pair in form.split(|byte| *byte == b'&') {
            let split = pair.iter().position(|byte| *byte == b'=');
            let (name, value) = split.map_or((pair, &[][..]), |at| {
                (pair.get(..at).unwrap_or_default(), pair.get(at + 1..).unwrap_or_default())
            });
            let name = decode(name);
            if let Some(name) = known.iter().find(|known| Some(**known) == name.as_deref()) {
                parameters.add(name, decode(value).map_or(Parameter::NotText, Parameter::Text));
            }
        }
        parameters
    }

    /// Reads a JSON object; `null` counts as absent. Names that are not in `known` are ignored.
    pub(crate) fn from_json(body: &[u8], known: &[&'static str]) -> Result<Self, &'static str> {
        let mut parameters = Self(Vec::new());
        for (name, value) in json::members(body, known)? {
            match value {
                Value::Null => {}
                Value::String(text) => parameters.add(name, Parameter::Text(text)),
                _ => parameters.add(name, Parameter::NotText),
            }
        }
        Ok(parameters)
    }

    fn add(&mut self, name: &'static str, value: Parameter) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, parameter)) => *parameter = Parameter::Repeated,
            None => self.0.push((name, value)),
        }
    }

    /// The value of a parameter; an empty one counts as absent.
    pub(crate) fn get(&self, name: &'static str) -> Result<Option<&str>, BadParameter> {
        match self.0.iter().find(|(known, _)| *known == name) {
            None => Ok(None),
            Some((_, Parameter::Text(text))) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some((_, Parameter::NotText)) => Err(bad(name, "is not text")),
            Some((_, Parameter::Repeated)) => Err(bad(name, "is given more than once")),
        }
    }

    /// The value of a required parameter.
    pub(crate) fn required(&self, name: &'static str) -> Result<&str, BadParameter> {
        self.get(name)?.ok_or(bad(name, "is missing"))
    }

    /// Checks that no parameter is repeated and all are text.
    pub(crate) fn check(&self) -> Result<(), BadParameter> {
        self.check_except(&[])
    }

    /// The same, but the parameters in `unused` need not be text.
    pub(crate) fn check_except(&self, unused: &[&str]) -> Result<(), BadParameter> {
        let is_checked =
            |name: &str, value: &Parameter| !matches!(value, Parameter::NotText) || !unused.contains(&name);
        let mut checked = self.0.iter().filter(|(name, value)| is_checked(name, value));
        checked.try_for_each(|(name, _)| self.get(name).map(|_| ()))
    }
}

/// Decodes form encoding; `None` when the result is not UTF-8.
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
        check(b"state=a&state=a", Err("is given more than once"));
        check(b"state=a&st%61te=", Err("is given more than once"));
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
        check(r#"{"state":"a","st\u0061te":"a"}"#, Err("is given more than once"));
        check(r#"{"state":"a","x":1,"x":{"y":1,"y":2}}"#, Ok(Some("a")));
        check(r#"{"state":{"y":1,"y":2}}"#, Err("is not text"));
        check("state=a", Err("the body is not JSON"));
    }
}
