//! Headers that repeat arguments of a tool: a property of its input schema declares one by `x-mcp-header` (revision
//! 2026-07-28, section "Custom Headers from Tool Parameters").

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{decode, encode};

/// The keyword that declares a header.
const KEYWORD: &str = "x-mcp-header";
/// The start of every such header's name.
const PREFIX: &str = "mcp-param-";
/// The types of arguments that fit a header.
const TYPES: [&str; 3] = ["string", "integer", "boolean"];

/// An argument that a header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderParameter {
    /// The header's name, in lower case.
    pub(crate) header: String,
    /// The names that lead to the argument.
    path: Vec<String>,
}

/// Why a schema's declarations of headers are invalid. Clients leave such a tool out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidHeaderParameter {
    /// The name is not a token of HTTP (RFC 9110, section 5.6.2).
    #[error("{name:?} is not a part of a header's name")]
    NotAToken {
        /// The declared name.
        name: String,
    },
    /// Two arguments declare one header.
    #[error("two arguments declare the header {name:?}")]
    Duplicate {
        /// The declared name.
        name: String,
    },
    /// The argument is not of the type `string`, `integer` or `boolean`.
    #[error("the argument of the header {name:?} must have the type string, integer or boolean")]
    Type {
        /// The declared name.
        name: String,
    },
    /// The declaration is in a place that is not reachable through `properties` alone, or its value is not a string.
    #[error("x-mcp-header must be a string in a property that only `properties` lead to")]
    Misplaced,
}

/// The headers that an input schema declares.
pub(crate) fn declared_parameters(schema: &Value) -> Result<Vec<HeaderParameter>, InvalidHeaderParameter> {
    let mut found = Vec::new();
    if let Value::Object(root) = schema {
        if root.contains_key(KEYWORD) {
            return Err(InvalidHeaderParameter::Misplaced);
        }
        collect(root, &mut Vec::new(), &mut found)?;
    }
    Ok(found)
}

/// Visits the properties of an object's schema.
fn collect(
    schema: &Map<String, Value>,
    path: &mut Vec<String>,
    found: &mut Vec<HeaderParameter>,
) -> Result<(), InvalidHeaderParameter> {
    for (keyword, value) in schema {
        match value {
            Value::Object(properties) if keyword == "properties" => {
                for (name, property) in properties {
                    let Value::Object(property) = property else { continue };
                    path.push(name.clone());
                    if let Some(declared) = property.get(KEYWORD) {
                        found.push(parameter(declared, property, path, found)?);
                    }
                    collect(property, path, found)?;
                    path.pop();
                }
            }
            // The values of these keywords are data, in which `x-mcp-header` has no meaning.
            _ if matches!(keyword.as_str(), "default" | "const" | "enum" | "examples") => {}
            other if declares(other) => return Err(InvalidHeaderParameter::Misplaced),
            _ => {}
        }
    }
    Ok(())
}

/// Whether the keyword is anywhere in a part of a schema.
fn declares(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.contains_key(KEYWORD) || members.values().any(declares),
        Value::Array(items) => items.iter().any(declares),
        _ => false,
    }
}

fn parameter(
    declared: &Value,
    property: &Map<String, Value>,
    path: &[String],
    others: &[HeaderParameter],
) -> Result<HeaderParameter, InvalidHeaderParameter> {
    let Value::String(name) = declared else { return Err(InvalidHeaderParameter::Misplaced) };
    let name = name.clone();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(InvalidHeaderParameter::NotAToken { name });
    }
    if !property.get("type").and_then(Value::as_str).is_some_and(|kind| TYPES.contains(&kind)) {
        return Err(InvalidHeaderParameter::Type { name });
    }
    let header = format!("{PREFIX}{}", name.to_ascii_lowercase());
    if others.iter().any(|other| other.header == header) {
        return Err(InvalidHeaderParameter::Duplicate { name });
    }
    Ok(HeaderParameter { header, path: path.to_vec() })
}

impl HeaderParameter {
    fn argument<'a>(&self, arguments: &'a Map<String, Value>) -> Option<&'a Value> {
        let (first, rest) = self.path.split_first()?;
        let argument = rest.iter().try_fold(arguments.get(first)?, |value, name| value.get(name))?;
        (!argument.is_null()).then_some(argument)
    }

    /// The header's value for these arguments; `None` if the argument is absent, null, or fits no header.
    pub(crate) fn value(&self, arguments: &Map<String, Value>) -> Option<String> {
        let text = match self.argument(arguments)? {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            scalar @ (Value::Bool(_) | Value::Number(_)) => Cow::Owned(scalar.to_string()),
            _ => return None,
        };
        Some(encode(&text).into_owned())
    }

    /// Whether the header repeats the argument. Numbers are compared by their value.
    pub(crate) fn matches(&self, header: Option<&str>, arguments: &Map<String, Value>) -> bool {
        let (header, argument) = match (header, self.argument(arguments)) {
            (None, None) => return true,
            (Some(header), Some(argument)) => (decode(header), argument),
            _ => return false,
        };
        header.is_some_and(|header| match argument {
            Value::String(text) => *text == header,
            Value::Bool(flag) => header == flag.to_string(),
            Value::Number(number) => {
                header == number.to_string()
                    || header.parse::<f64>().is_ok_and(|value| number.as_f64() == Some(value))
            }
            // An array or object has the wrong type. The tool refuses it with a better message.
            _ => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "page": {"type": "object", "properties": {"size": {"type": "integer", "x-mcp-header": "Page-Size"}}},
            "query": {"type": "string", "default": {"x-mcp-header": "data"}},
        }})
    }

    #[test]
    fn declarations_are_found_in_properties_at_any_depth() {
        let found = declared_parameters(&schema()).unwrap();
        let headers: Vec<_> = found.iter().map(|parameter| parameter.header.as_str()).collect();
        assert_eq!(headers, ["mcp-param-region", "mcp-param-page-size"]);
        let arguments = json!({"region": "größe", "page": {"size": 20}});
        let arguments = arguments.as_object().unwrap();
        let values: Vec<_> = found.iter().filter_map(|parameter| parameter.value(arguments)).collect();
        assert_eq!(values, ["=?base64?Z3LDtsOfZQ==?=", "20"]);
    }

    #[test]
    fn invalid_declarations_are_refused() {
        use InvalidHeaderParameter::{Duplicate, Misplaced, NotAToken, Type};
        let name = |name: &str| name.to_owned();
        let declared = |name: &str| json!({"type": "string", "x-mcp-header": name});
        for (schema, expect) in [
            (json!({"properties": {"a": declared("")}}), NotAToken { name: name("") }),
            (json!({"properties": {"a": declared("a b")}}), NotAToken { name: name("a b") }),
            (json!({"properties": {"a": declared("A"), "b": declared("a")}}), Duplicate { name: name("a") }),
            (json!({"properties": {"a": {"x-mcp-header": "A"}}}), Type { name: name("A") }),
            (json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}), Type { name: name("A") }),
            (
                json!({"properties": {"a": {"type": ["string", "null"], "x-mcp-header": "A"}}}),
                Type { name: name("A") },
            ),
            (json!({"properties": {"a": {"type": "string", "x-mcp-header": 1}}}), Misplaced),
            (json!({"x-mcp-header": "A"}), Misplaced),
            (json!({"properties": {"a": {"type": "array", "items": declared("A")}}}), Misplaced),
            (json!({"anyOf": [{"properties": {"a": declared("A")}}]}), Misplaced),
            (json!({"$defs": {"A": declared("A")}}), Misplaced),
        ] {
            assert_eq!(declared_parameters(&schema), Err(expect), "{schema}");
        }
        assert_eq!(declared_parameters(&json!({"type": "object"})), Ok(Vec::new()));
    }

    #[test]
    fn a_header_must_repeat_its_argument() {
        let found = declared_parameters(&schema()).unwrap();
        let check = |position: usize, header: Option<&str>, arguments: Value, expect: bool| {
            let matches = found[position].matches(header, arguments.as_object().unwrap());
            assert_eq!(matches, expect, "{header:?} {arguments}");
        };
        check(0, Some("us"), json!({"region": "us"}), true);
        check(0, Some("=?base64?dXM=?="), json!({"region": "us"}), true);
        check(0, Some("=?base64?dXM?="), json!({"region": "us"}), false);
        check(0, Some("US"), json!({"region": "us"}), false);
        check(0, None, json!({"region": "us"}), false);
        check(0, None, json!({"region": null}), true);
        check(0, None, json!({}), true);
        check(0, Some("us"), json!({}), false);
        check(1, Some("42.0"), json!({"page": {"size": 42}}), true);
        check(1, Some("43"), json!({"page": {"size": 42}}), false);
        check(1, None, json!({"page": 7}), true);
    }

    proptest! {
        #[test]
        fn the_header_of_any_argument_repeats_it(text: String, size: i64) {
            let arguments = json!({"region": text, "page": {"size": size}});
            let arguments = arguments.as_object().unwrap();
            for parameter in declared_parameters(&schema()).unwrap() {
                prop_assert!(parameter.matches(parameter.value(arguments).as_deref(), arguments));
            }
        }
    }
}
