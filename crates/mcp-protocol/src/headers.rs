//! The HTTP headers that repeat parts of a message, so that a gateway can route it without parsing the body (Streamable
//! HTTP, revision 2026-07-28). This module has only names and values; the caller's HTTP library sets and reads them.

mod parameters;

use std::borrow::Cow;
use std::collections::BTreeMap;

use data_encoding::BASE64;

pub use parameters::InvalidHeaderParameter;
pub(crate) use parameters::{HeaderParameter, declared_parameters};

/// The header with the revision's name (from revision 2025-06-18 on).
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The header with the message's method (from revision 2026-07-28 on).
pub const METHOD: &str = "mcp-method";
/// The header with the tool's or prompt's name, or the resource's URI (from revision 2026-07-28 on).
pub const NAME: &str = "mcp-name";
/// The header with the id of a session (before revision 2026-07-28). This crate's servers have none.
pub const SESSION_ID: &str = "mcp-session-id";

/// The prefix and suffix of a value in base64.
const ENCODED: (&str, &str) = ("=?base64?", "?=");

/// The headers of one message, from any HTTP library.
///
/// ```
/// use mcp_wire::headers::MessageHeaders;
///
/// let received = [("mcp-protocol-version", "2025-11-25"), ("content-type", "application/json")];
/// let headers = MessageHeaders::from_fn(|name| Some(received.iter().find(|header| header.0 == name)?.1));
/// assert_eq!(headers.protocol_version.as_deref(), Some("2025-11-25"));
/// assert!(headers.method.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageHeaders<'a> {
    /// [`PROTOCOL_VERSION`].
    pub protocol_version: Option<Cow<'a, str>>,
    /// [`METHOD`].
    pub method: Option<Cow<'a, str>>,
    /// [`NAME`].
    pub name: Option<Cow<'a, str>>,
    /// The headers that repeat arguments, by their names in lower case; see [`Server::headers`](crate::Server::headers).
    pub(crate) parameters: BTreeMap<String, Cow<'a, str>>,
}

impl<'a> MessageHeaders<'a> {
    /// Looks up the headers that every message may have. The names are in lower case. `look_up` must join the values of
    /// a repeated header with `, `, so that the result matches no valid value.
    ///
    /// A server whose tools declare headers for arguments needs [`Server::headers`](crate::Server::headers) instead.
    pub fn from_fn<V: Into<Cow<'a, str>>>(mut look_up: impl FnMut(&str) -> Option<V>) -> Self {
        let mut value = |name| look_up(name).map(Into::into);
        Self {
            protocol_version: value(PROTOCOL_VERSION),
            method: value(METHOD),
            name: value(NAME),
            parameters: BTreeMap::new(),
        }
    }

    pub(crate) fn with_parameters(
        mut self,
        parameters: impl Iterator<Item = (String, Cow<'a, str>)>,
    ) -> Self {
        self.parameters = parameters.collect();
        self
    }

    /// The header that repeats an argument.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(Cow::as_ref)
    }
}

/// Encodes a value for a header: unchanged, or in base64 if it is not plain ASCII or looks encoded.
///
/// ```
/// use mcp_wire::headers::{decode, encode};
///
/// assert_eq!(encode("get_info"), "get_info");
/// assert_eq!(encode("größe"), "=?base64?Z3LDtsOfZQ==?=");
/// assert_eq!(decode(&encode(" größe ")).as_deref(), Some(" größe "));
/// ```
pub fn encode(value: &str) -> Cow<'_, str> {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && value.trim() == value
        && !value.is_empty()
        && encoded_part(value).is_none();
    if is_plain {
        return Cow::Borrowed(value);
    }
    let (before, after) = ENCODED;
    Cow::Owned(format!("{before}{}{after}", BASE64.encode(value.as_bytes())))
}

/// Decodes a header's value; `None` if it is marked as base64 but is not the base64 of a text.
pub fn decode(value: &str) -> Option<Cow<'_, str>> {
    let value = value.trim_matches([' ', '\t']);
    let Some(encoded) = encoded_part(value) else { return Some(Cow::Borrowed(value)) };
    let bytes = BASE64.decode(encoded.as_bytes()).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn encoded_part(value: &str) -> Option<&str> {
    value.strip_prefix(ENCODED.0)?.strip_suffix(ENCODED.1)
}

/// A media type without parameters.
pub(crate) fn essence(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn malformed_base64_is_refused() {
        for (value, expect) in [
            ("search_images", Some("search_images")),
            ("  a b\t", Some("a b")),
            ("=?base64?YQ==?=", Some("a")),
            ("=?base64??=", Some("")),
            ("=?base64?YQ?=", None),
            ("=?base64?/w==?=", None),
            ("=?BASE64?YQ==?=", Some("=?BASE64?YQ==?=")),
            ("=?base64?YQ==", Some("=?base64?YQ==")),
        ] {
            assert_eq!(decode(value).as_deref(), expect, "{value}");
        }
    }

    proptest! {
        #[test]
        fn texts_survive_a_round_trip(text: String) {
            let header = encode(&text);
            prop_assert!(header.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            prop_assert_eq!(decode(&header).unwrap(), text.as_str());
        }
    }
}
