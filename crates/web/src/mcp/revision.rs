//! Which protocol revision a message is written in, and whether that is served.
//!
//! Served are the revisions that open with `initialize`. A later one says its name in the message itself.

use http::{HeaderMap, StatusCode};
use mcp_protocol::{
    ProtocolVersion, UnsupportedProtocolVersion,
    jsonrpc::{ErrorObject, Params},
    methods,
};

/// The header that names the revision.
const HEADER: &str = "mcp-protocol-version";
/// The member of `_meta` by which a message names its revision (from 2026-07-28 on).
const META_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// What is served.
const SERVED: [ProtocolVersion; 3] =
    [ProtocolVersion::V2025_03_26, ProtocolVersion::V2025_06_18, ProtocolVersion::V2025_11_25];

/// The refusal of a message.
#[derive(Debug, PartialEq)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) error: ErrorObject,
}

/// Lets a message pass whose revision is served.
pub(super) fn check(headers: &HeaderMap, method: &str, params: Option<&Params>) -> Result<(), Refused> {
    if let Some(named) = params.and_then(Params::meta).and_then(|meta| meta.get(META_KEY)) {
        let named = named.as_str().map_or_else(|| named.to_string(), str::to_owned);
        if method == methods::INITIALIZE {
            let error = ErrorObject::method_not_found(method);
            return Err(Refused { status: StatusCode::NOT_FOUND, error });
        }
        return served(named.parse());
    }
    match ProtocolVersion::from_header(header_value(headers).as_deref()) {
        // `initialize` negotiates the revision in its own way.
        Err(_) if method == methods::INITIALIZE => Ok(()),
        version => served(version),
    }
}

fn served(version: Result<ProtocolVersion, UnsupportedProtocolVersion>) -> Result<(), Refused> {
    let unsupported = match version {
        Ok(version) if SERVED.contains(&version) => return Ok(()),
        Ok(version) => UnsupportedProtocolVersion { requested: version.to_string() },
        Err(unsupported) => unsupported,
    };
    Err(Refused { status: StatusCode::BAD_REQUEST, error: unsupported.error_object(&SERVED) })
}

/// The header's value; several are joined, which names no revision.
fn header_value(headers: &HeaderMap) -> Option<String> {
    let values: Vec<_> = headers
        .get_all(HEADER)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use serde_json::{Value, json};

    fn checked(header: &[&'static str], method: &str, meta: &Value) -> Result<(), (u16, i64)> {
        let mut headers = HeaderMap::new();
        for value in header {
            headers.append(HEADER, HeaderValue::from_static(value));
        }
        let params = Params::of(&json!({"_meta": meta})).unwrap();
        check(&headers, method, Some(&params))
            .map_err(|refused| (refused.status.as_u16(), refused.error.code))
    }

    #[test]
    fn headers_name_a_served_revision_or_nothing() {
        for (header, method, expect) in [
            (&[][..], "tools/list", Ok(())),
            (&["2025-03-26"], "tools/list", Ok(())),
            (&["2025-11-25"], "notifications/initialized", Ok(())),
            (&["2024-11-05"], "tools/list", Err((400, -32022))),
            (&["2026-07-28"], "tools/list", Err((400, -32022))),
            (&["2026-07-28"], "initialize", Err((400, -32022))),
            (&["2099-01-01"], "initialize", Ok(())),
            (&["2025-11-25", "2025-11-25"], "ping", Err((400, -32022))),
            (&[""], "ping", Err((400, -32022))),
        ] {
            assert_eq!(checked(header, method, &json!({})), expect, "{header:?} {method}");
        }
    }

    #[test]
    fn a_message_can_name_its_revision_itself() {
        for (named, method, expect) in [
            (json!("2025-11-25"), "tools/list", Ok(())),
            (json!("2026-07-28"), "tools/list", Err((400, -32022))),
            (json!(7), "tools/list", Err((400, -32022))),
            (json!("2026-07-28"), "initialize", Err((404, -32601))),
        ] {
            assert_eq!(checked(&[], method, &json!({META_KEY: named})), expect, "{named} {method}");
        }
    }

    #[test]
    fn a_refusal_tells_what_is_served() {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_static("2026-07-28"));
        let refused = check(&headers, "server/discover", None).unwrap_err();
        let expect =
            json!({"supported": ["2025-03-26", "2025-06-18", "2025-11-25"], "requested": "2026-07-28"});
        assert_eq!(refused.error.data, Some(expect));
    }
}
