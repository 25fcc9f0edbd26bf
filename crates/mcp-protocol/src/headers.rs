//! The HTTP headers that repeat what a message says, so that a gateway can route it unread (Streamable HTTP, revision
//! 2026-07-28). Only names and values: whoever has the HTTP library sets and gets them.

use std::borrow::Cow;

use data_encoding::BASE64;

/// The header with the revision's name (from revision 2025-06-18 on).
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The header with the message's method (from revision 2026-07-28 on).
pub const METHOD: &str = "mcp-method";
/// The header with the tool's or prompt's name, or the resource's address (from revision 2026-07-28 on).
pub const NAME: &str = "mcp-name";

/// What stands before and after a value in base64, which any text can be written in.
const ENCODED: (&str, &str) = ("=?base64?", "?=");

/// The values of the headers of one message, each `None` when there is none. Several of one name are joined by `, `,
/// which then equals nothing that a message says.
///
/// ```
/// use mcp_protocol::headers::MessageHeaders;
///
/// let headers = MessageHeaders { protocol_version: Some("2025-11-25".into()), ..MessageHeaders::default() };
/// assert!(headers.method.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageHeaders<'a> {
    /// [`PROTOCOL_VERSION`].
    pub protocol_version: Option<Cow<'a, str>>,
    /// [`METHOD`].
    pub method: Option<Cow<'a, str>>,
    /// [`NAME`].
    pub name: Option<Cow<'a, str>>,
}

/// A value as a header can hold it: as it is, or in base64 when a header would change it, or when it looks encoded.
///
/// ```
/// use mcp_protocol::headers::{decoded, encoded};
///
/// assert_eq!(encoded("get_info"), "get_info");
/// assert_eq!(encoded("größe"), "=?base64?Z3LDtsOfZQ==?=");
/// assert_eq!(decoded(&encoded(" größe ")).as_deref(), Some(" größe "));
/// ```
pub fn encoded(value: &str) -> Cow<'_, str> {
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

/// What a header's value stands for; `None` when it says that it is base64 of a text, and is not.
pub fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let value = value.trim_matches([' ', '\t']);
    let Some(encoded) = encoded_part(value) else { return Some(Cow::Borrowed(value)) };
    let bytes = BASE64.decode(encoded.as_bytes()).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn encoded_part(value: &str) -> Option<&str> {
    value.strip_prefix(ENCODED.0)?.strip_suffix(ENCODED.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_base64_of_a_text_is_nothing() {
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
            assert_eq!(decoded(value).as_deref(), expect, "{value}");
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_through_a_header(text: String) {
            let header = encoded(&text);
            prop_assert!(header.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            prop_assert_eq!(decoded(&header).unwrap(), text.as_str());
        }
    }
}
