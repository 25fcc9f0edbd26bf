//! Errors in arguments, with messages for a model.

use serde::de::{self, Expected, Unexpected};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// The most characters of a caller's text that a message repeats.
const MAX_ECHO_CHARS: usize = 40;

/// An invalid argument, such as `limit: expected an integer, got a string`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentError {
    field: String,
    problem: String,
}

impl ArgumentError {
    /// An error from a tool's own check. `problem` completes a sentence that starts with the field, such as `must be at
    /// most 200`.
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }

    /// The path to the value, such as `limit`, `circle.latitude` or `imageIds[2]`; empty for the arguments as a whole.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The problem.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    pub(crate) fn unexpected(field: &str, expected: &str, got: &Value) -> Self {
        Self::new(field, format!("expected {expected}, got {}", kind_of(unexpected(got))))
    }

    /// Prepends the name of a member to the path.
    pub(crate) fn within_member(mut self, name: &str) -> Self {
        let separator = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        self.field = format!("{}{separator}{}", shortened(name), self.field);
        self
    }

    /// Prepends the index in an array to the path.
    pub(super) fn within_item(mut self, position: usize) -> Self {
        let separator = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        self.field = format!("[{position}]{separator}{}", self.field);
        self
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.problem)
        } else {
            write!(f, "{}: {}", self.field, self.problem)
        }
    }
}

impl std::error::Error for ArgumentError {}

impl de::Error for ArgumentError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        // serde's message contains the name of a Rust type.
        if message.starts_with("data did not match any variant") {
            return Self::new("", "does not have one of the accepted forms");
        }
        Self::new("", message)
    }

    fn invalid_type(got: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        Self::new("", format!("expected {}, got {}", type_name(&expected), kind_of(got)))
    }

    fn invalid_value(got: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        let range = integer_range(&expected).map_or_else(|| type_name(&expected), Cow::Borrowed);
        let got = match got {
            Unexpected::Str(text) => Cow::Owned(format!("{:?}", shortened(text))),
            other => kind_of(other),
        };
        Self::new("", format!("expected {range}, got {got}"))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new("", format!("expected {}, got {length} items", type_name(&expected.to_string())))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(
            "",
            format!("{:?} is not accepted; use one of: {}", shortened(variant), expected.join(", ")),
        )
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let known = if expected.is_empty() { "none".to_owned() } else { expected.join(", ") };
        Self::new(shortened(field), format!("is not known; known names: {known}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(field, "is required")
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(field, "is given twice")
    }
}

/// serde's view of a value.
pub(super) fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => number
            .as_u64()
            .map(Unexpected::Unsigned)
            .or_else(|| number.as_i64().map(Unexpected::Signed))
            .or_else(|| number.as_f64().map(Unexpected::Float))
            .unwrap_or(Unexpected::Other("a number")),
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

/// The type of a sent value in JSON's terms; numbers are shown.
fn kind_of(got: Unexpected<'_>) -> Cow<'static, str> {
    match got {
        Unexpected::Bool(_) => Cow::Borrowed("a boolean"),
        Unexpected::Unsigned(number) => Cow::Owned(format!("the number {number}")),
        Unexpected::Signed(number) => Cow::Owned(format!("the number {number}")),
        Unexpected::Float(number) => Cow::Owned(format!("the number {number:?}")),
        Unexpected::Str(_) | Unexpected::Char(_) => Cow::Borrowed("a string"),
        Unexpected::Unit | Unexpected::Option => Cow::Borrowed("null"),
        Unexpected::Seq => Cow::Borrowed("an array"),
        Unexpected::Map => Cow::Borrowed("an object"),
        other => Cow::Owned(other.to_string()),
    }
}

/// The expected type in JSON's terms instead of Rust's.
fn type_name(expected: &str) -> Cow<'_, str> {
    let name = match expected {
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => {
            "an integer"
        }
        "f32" | "f64" => "a number",
        "a sequence" => "an array",
        "a map" => "an object",
        "unit" => "null",
        "a character" => "a string of one character",
        "string or map" | "variant identifier" => "one of the accepted names",
        _ if expected.starts_with("struct ") => "an object",
        _ if expected.starts_with("enum ") => "one of the accepted names",
        _ if expected.starts_with("tuple ") || expected.starts_with("a tuple ") => "an array",
        _ if expected.starts_with("a nonzero ") => "an integer other than 0",
        _ => return Cow::Borrowed(expected),
    };
    Cow::Borrowed(name)
}

/// The range of an integer type.
fn integer_range(expected: &str) -> Option<&'static str> {
    match expected {
        "i8" => Some("an integer from -128 to 127"),
        "i16" => Some("an integer from -32768 to 32767"),
        "i32" => Some("an integer from -2147483648 to 2147483647"),
        "i64" | "isize" => Some("an integer from -9223372036854775808 to 9223372036854775807"),
        "u8" => Some("an integer from 0 to 255"),
        "u16" => Some("an integer from 0 to 65535"),
        "u32" => Some("an integer from 0 to 4294967295"),
        "u64" | "usize" | "u128" => Some("an integer of 0 or more"),
        _ => None,
    }
}

fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let mut shown: String = characters.by_ref().take(MAX_ECHO_CHARS).collect();
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}
