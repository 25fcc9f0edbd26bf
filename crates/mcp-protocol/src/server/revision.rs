//! Determines the revision of a message and checks its headers and `_meta`.

use std::borrow::Cow;

use serde_json::Value;

use crate::headers::{MessageHeaders, decode};
use crate::jsonrpc::{ErrorObject, HEADER_MISMATCH, INVALID_PARAMS, Params};
use crate::{Meta, ProtocolVersion, UnsupportedProtocolVersion, methods, request_meta};

/// The revisions without sessions.
pub(super) const MODERN: [ProtocolVersion; 1] = [ProtocolVersion::V2026_07_28];

/// Why a message is refused before its method runs: HTTP 400, or 404 for a method of the other era.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rejection {
    pub(super) status: u16,
    pub(super) error: ErrorObject,
}

/// The revision of a request.
pub(super) fn determine(
    headers: &MessageHeaders<'_>,
    method: &str,
    params: Option<&Params>,
) -> Result<ProtocolVersion, Rejection> {
    let meta = params.and_then(Params::meta);
    let named = meta.and_then(|meta| meta.get(request_meta::PROTOCOL_VERSION));
    let header = headers.protocol_version.as_deref();
    let version = ProtocolVersion::from_header(header);
    let is_initialize = method == methods::INITIALIZE;
    match version {
        _ if named.is_some() && is_initialize => {
            Err(Rejection { status: 404, error: ErrorObject::method_not_found(method) })
        }
        _ if named.is_some() => check_modern(headers, method, params, meta),
        Ok(version) if !version.is_legacy() => check_modern(headers, method, params, meta),
        // `initialize` negotiates the revision in its parameters.
        _ if is_initialize => Ok(ProtocolVersion::LATEST_LEGACY),
        Ok(version) => Ok(version),
        Err(unsupported) => Err(bad_request(unsupported.error_object(&ProtocolVersion::ALL))),
    }
}

/// Checks a notification: headers must not contradict the body. Headers may be missing, because clients of all
/// revisions omit some.
pub(super) fn check_notification(
    headers: &MessageHeaders<'_>,
    method: &str,
    params: Option<&Params>,
) -> Result<(), Rejection> {
    let named = params.and_then(Params::meta).and_then(|meta| meta.get(request_meta::PROTOCOL_VERSION));
    let named = named.and_then(Value::as_str);
    let version = trimmed(headers.protocol_version.as_deref());
    check_consistent("MCP-Protocol-Version", version, named)?;
    // Only modern revisions have the other headers.
    let is_modern = [version, named]
        .into_iter()
        .flatten()
        .any(|name| name.parse::<ProtocolVersion>().is_ok_and(|version| !version.is_legacy()));
    if is_modern {
        check_consistent("Mcp-Method", trimmed(headers.method.as_deref()), Some(method))
    } else {
        Ok(())
    }
}

/// Checks the `_meta` of a modern request, and that its headers repeat it.
fn check_modern(
    headers: &MessageHeaders<'_>,
    method: &str,
    params: Option<&Params>,
    meta: Option<&Meta>,
) -> Result<ProtocolVersion, Rejection> {
    let member = |name: &str| meta.and_then(|meta| meta.get(name));
    let version = match member(request_meta::PROTOCOL_VERSION) {
        Some(Value::String(version)) => version,
        Some(_) => return Err(bad_request(invalid_meta(request_meta::PROTOCOL_VERSION, "must be a string"))),
        None => return Err(bad_request(invalid_meta(request_meta::PROTOCOL_VERSION, "is required"))),
    };
    check_equal("MCP-Protocol-Version", trimmed(headers.protocol_version.as_deref()), Some(version))?;
    let version = version
        .parse()
        .ok()
        .filter(|version| MODERN.contains(version))
        .ok_or_else(|| UnsupportedProtocolVersion { requested: version.clone() })
        .map_err(|unsupported| bad_request(unsupported.error_object(&MODERN)))?;
    check_equal("Mcp-Method", trimmed(headers.method.as_deref()), Some(method))?;
    check_name(headers, method, params)?;
    match member(request_meta::CLIENT_CAPABILITIES) {
        Some(Value::Object(_)) => Ok(version),
        Some(_) => Err(bad_request(invalid_meta(request_meta::CLIENT_CAPABILITIES, "must be an object"))),
        None => Err(bad_request(invalid_meta(request_meta::CLIENT_CAPABILITIES, "is required"))),
    }
}

/// Checks that the header `Mcp-Name` repeats the tool's or prompt's name, or the resource's URI.
fn check_name(headers: &MessageHeaders<'_>, method: &str, params: Option<&Params>) -> Result<(), Rejection> {
    let member = match method {
        methods::TOOLS_CALL | methods::PROMPTS_GET => "name",
        methods::RESOURCES_READ => "uri",
        _ => return Ok(()),
    };
    let name = params.and_then(Params::as_object).and_then(|params| params.get(member));
    let Some(name) = name.and_then(Value::as_str) else {
        let message = format!("{member}: a string is required");
        return Err(bad_request(ErrorObject::new(INVALID_PARAMS, message)));
    };
    let header = match headers.name.as_deref() {
        None => None,
        Some(value) => Some(decode(value).ok_or_else(|| mismatch("Mcp-Name is not valid base64"))?),
    };
    check_equal("Mcp-Name", header.as_ref().map(Cow::as_ref), Some(name))
}

fn trimmed(header: Option<&str>) -> Option<&str> {
    header.map(|value| value.trim_matches([' ', '\t']))
}

fn check_equal(name: &str, header: Option<&str>, body: Option<&str>) -> Result<(), Rejection> {
    match header {
        None => Err(mismatch(&format!("the header {name} is required"))),
        _ if header == body => Ok(()),
        Some(_) => Err(mismatch(&format!("the header {name} differs from the body"))),
    }
}

/// Checks that a header and a body member are equal if both are present.
fn check_consistent(name: &str, header: Option<&str>, body: Option<&str>) -> Result<(), Rejection> {
    if header.is_none() || body.is_none() { Ok(()) } else { check_equal(name, header, body) }
}

fn mismatch(message: &str) -> Rejection {
    bad_request(ErrorObject::new(HEADER_MISMATCH, message))
}

fn invalid_meta(member: &str, problem: &str) -> ErrorObject {
    ErrorObject::new(INVALID_PARAMS, format!("_meta.{member}: {problem}"))
}

fn bad_request(error: ErrorObject) -> Rejection {
    Rejection { status: 400, error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(
        headers: [Option<&str>; 3],
        method: &str,
        params: &Value,
    ) -> Result<ProtocolVersion, (u16, i64)> {
        let [protocol_version, header_method, name] = headers.map(|value| value.map(Cow::Borrowed));
        let headers =
            MessageHeaders { protocol_version, method: header_method, name, ..MessageHeaders::default() };
        let params = Params::of(params).unwrap();
        determine(&headers, method, Some(&params))
            .map_err(|rejection| (rejection.status, rejection.error.code))
    }

    fn meta(version: &str) -> Value {
        json!({"_meta": {request_meta::PROTOCOL_VERSION: version, request_meta::CLIENT_CAPABILITIES: {}}})
    }

    const NEW: Option<&str> = Some("2026-07-28");

    #[test]
    fn without_meta_the_header_determines_the_revision() {
        use ProtocolVersion::{V2025_03_26, V2025_11_25};
        for (header, method, expect) in [
            (None, "tools/list", Ok(V2025_03_26)),
            (Some("2025-03-26"), "tools/list", Ok(V2025_03_26)),
            (Some(" 2025-11-25\t"), "ping", Ok(V2025_11_25)),
            (Some("2024-11-05"), "tools/list", Err((400, -32022))),
            (Some("2025-11-25, 2025-11-25"), "ping", Err((400, -32022))),
            (Some(""), "ping", Err((400, -32022))),
            (NEW, "tools/list", Err((400, -32602))),
            (Some("2099-01-01"), "initialize", Ok(V2025_11_25)),
            (None, "initialize", Ok(V2025_11_25)),
            (Some("2025-06-18"), "initialize", Ok(V2025_11_25)),
            (NEW, "initialize", Err((400, -32602))),
        ] {
            assert_eq!(checked([header, None, None], method, &json!({})), expect, "{header:?} {method}");
        }
    }

    #[test]
    fn headers_must_repeat_the_meta() {
        let modern = meta("2026-07-28");
        for (headers, expect) in [
            ([NEW, Some("tools/list"), None], Ok(ProtocolVersion::V2026_07_28)),
            ([NEW, Some(" tools/list "), None], Ok(ProtocolVersion::V2026_07_28)),
            ([None, Some("tools/list"), None], Err((400, -32020))),
            ([Some("2025-11-25"), Some("tools/list"), None], Err((400, -32020))),
            ([NEW, None, None], Err((400, -32020))),
            ([NEW, Some("tools/call"), None], Err((400, -32020))),
            ([NEW, Some("TOOLS/LIST"), None], Err((400, -32020))),
        ] {
            assert_eq!(checked(headers, "tools/list", &modern), expect, "{headers:?}");
        }
        for (version, expect) in [("2099-01-01", (400, -32022)), ("2025-11-25", (400, -32022))] {
            let headers = [Some(version), Some("tools/list"), None];
            assert_eq!(checked(headers, "tools/list", &meta(version)), Err(expect), "{version}");
        }
        assert_eq!(checked([NEW, None, None], "initialize", &modern), Err((404, -32601)));
    }

    #[test]
    fn the_name_header_must_repeat_the_name_or_uri() {
        for (method, member) in [("tools/call", "name"), ("resources/read", "uri"), ("prompts/get", "name")] {
            let mut params = meta("2026-07-28");
            params[member] = json!("größe");
            for (name, expect) in [
                (Some("=?base64?Z3LDtsOfZQ==?="), Ok(ProtocolVersion::V2026_07_28)),
                (Some("größe"), Ok(ProtocolVersion::V2026_07_28)),
                (Some("grösse"), Err((400, -32020))),
                (Some("=?base64?Z3L?="), Err((400, -32020))),
                (None, Err((400, -32020))),
            ] {
                assert_eq!(checked([NEW, Some(method), name], method, &params), expect, "{name:?}");
            }
            params[member] = json!(7);
            assert_eq!(checked([NEW, Some(method), Some("7")], method, &params), Err((400, -32602)));
        }
    }

    #[test]
    fn client_capabilities_are_required() {
        for (capabilities, method, expect) in [
            (json!({}), "tools/list", Ok(ProtocolVersion::V2026_07_28)),
            (json!([]), "tools/list", Err((400, -32602))),
            (json!(null), "tools/list", Err((400, -32602))),
        ] {
            let meta = json!({"_meta": {
                request_meta::PROTOCOL_VERSION: "2026-07-28", request_meta::CLIENT_CAPABILITIES: capabilities,
            }});
            assert_eq!(checked([NEW, Some(method), None], method, &meta), expect, "{meta}");
        }
        let without = json!({"_meta": {request_meta::PROTOCOL_VERSION: "2026-07-28"}});
        assert_eq!(checked([NEW, Some("tools/list"), None], "tools/list", &without), Err((400, -32602)));
        let wrong = json!({"_meta": {request_meta::PROTOCOL_VERSION: 7}});
        assert_eq!(checked([NEW, Some("tools/list"), None], "tools/list", &wrong), Err((400, -32602)));
    }

    #[test]
    fn a_notification_is_refused_only_for_contradicting_headers() {
        let check = |version: Option<&str>, method: Option<&str>, params: &Value| {
            let [protocol_version, method] = [version, method].map(|value| value.map(Cow::Borrowed));
            let headers = MessageHeaders { protocol_version, method, ..MessageHeaders::default() };
            let params = Params::of(params).unwrap();
            check_notification(&headers, "notifications/cancelled", Some(&params))
                .map_err(|rejection| (rejection.status, rejection.error.code))
        };
        let (own, other) = (Some("notifications/cancelled"), Some("tools/call"));
        let (plain, described) =
            (json!({}), json!({"_meta": {request_meta::PROTOCOL_VERSION: "2026-07-28"}}));
        let refused = Err((400, -32020));
        for (version, method, params, expect) in [
            (None, None, &plain, Ok(())),
            (NEW, None, &plain, Ok(())),
            (NEW, own, &plain, Ok(())),
            (NEW, other, &plain, refused),
            (Some("2025-11-25"), other, &plain, Ok(())),
            (Some("2099-01-01"), None, &plain, Ok(())),
            (None, None, &described, Ok(())),
            (None, own, &described, Ok(())),
            (None, other, &described, refused),
            (NEW, None, &described, Ok(())),
            (Some("2025-11-25"), None, &described, refused),
            (NEW, None, &json!({"_meta": {request_meta::PROTOCOL_VERSION: 7}}), Ok(())),
            (NEW, None, &json!([1]), Ok(())),
        ] {
            assert_eq!(check(version, method, params), expect, "{version:?} {method:?} {params}");
        }
    }

    #[test]
    fn an_unsupported_revision_lists_the_supported_ones() {
        let headers =
            MessageHeaders { protocol_version: Some("1900-01-01".into()), ..MessageHeaders::default() };
        let rejection = determine(&headers, "tools/list", None).unwrap_err();
        let all = json!(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
        assert_eq!(rejection.error.data, Some(json!({"supported": all, "requested": "1900-01-01"})));
    }
}
