//! Deserializes a tool's arguments, with errors that a model can act on.
//!
//! Apart from the messages, there is one difference from `serde_json`: a number such as `10.0` is an integer, as in
//! JSON Schema, because some clients write integers in this way.
//!
//! For arguments in a `#[serde(flatten)]` struct, serde does not report the path, so the error lacks the field's name.
//! Use plain fields instead.

mod deserializer;
mod error;

pub use error::ArgumentError;

use deserializer::ArgumentDeserializer;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Deserializes arguments.
///
/// ```
/// use mcp_wire::parse_arguments;
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
/// If an argument is missing, of another type or out of range; the error names it.
pub fn parse_arguments<T: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<T, ArgumentError> {
    T::deserialize(ArgumentDeserializer::Object(arguments))
}

/// The arguments of a tool without any; extra arguments are ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(description = ""))]
pub struct NoArguments {}

#[cfg(test)]
mod tests;
