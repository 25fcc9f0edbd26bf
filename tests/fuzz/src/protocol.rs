//! Messages of the Model Context Protocol.

use mcp_protocol::{jsonrpc, strict_json};

/// Strict JSON accepts nothing that serde_json refuses, and means the same by what it accepts.
pub(crate) fn json(bytes: &[u8]) {
    if let Ok(value) = strict_json::parse(bytes) {
        let lenient: Option<serde_json::Value> = serde_json::from_slice(bytes).ok();
        assert_eq!(Some(value), lenient);
    }
}

/// What a client sends, and what a server answers.
pub(crate) fn mcp(bytes: &[u8]) {
    if let Err(failure) = jsonrpc::Incoming::parse(bytes) {
        let _ = serde_json::to_string(&failure.into_response());
    }
    let _ = jsonrpc::Response::parse(bytes);
}
