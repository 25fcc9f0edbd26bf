//! A tool's arguments read into a type, with errors that a model can act on.
//!
//! Beside the words, it differs from `serde_json` in one point: a number such as `10.0` is an integer, as JSON Schema
//! says it is and as some clients write it.
//!
//! An argument inside a `#[serde(flatten)]` struct is read all the same, but serde then no longer tells where a wrong
//! value stood: the error lacks the field's name. Prefer plain fields.

mod deserializer;
mod error;

pub use error::ArgumentError;
pub(crate) use error::shortened;

use crate::jsonrpc::ErrorObject;
use deserializer::ArgumentDeserializer;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Reads arguments into a type.
///
/// ```
/// use mcp_protocol::parse_arguments;
/// use serde::Deserialize;
/// use serde_json::{Map, json};
///
/// #[derive(Deserialize, Debug)]
/// struct Search {
///     limit: u32,
/// }
///
/// let arguments = Map::from_iter([("limit".to_owned(), json!("ten"))]);
/// let error = parse_arguments::<Search>(&arguments).unwrap_err();
/// assert_eq!(error.to_string(), "limit: expected an integer, got a string");
/// ```
///
/// # Errors
/// When an argument is missing, of another type or out of range; the error names it.
pub fn parse_arguments<T: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<T, ArgumentError> {
    T::deserialize(ArgumentDeserializer::Object(arguments))
}

/// The arguments of a tool that takes none; whatever is sent is ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct NoArguments {}

impl From<ArgumentError> for ErrorObject {
    fn from(error: ArgumentError) -> Self {
        Self::invalid_params(error.to_string())
    }
}

#[cfg(test)]
mod tests;
