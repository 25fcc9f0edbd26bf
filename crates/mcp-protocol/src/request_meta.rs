//! The members of `_meta` that every message of revision 2026-07-28 has.

use crate::lifecycle::Implementation;
use crate::{Meta, ProtocolVersion};
use serde_json::{Map, Value};

/// In a request or notification: its revision.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// In a request: the client's capabilities.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// In a request: the client program. Optional.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// In a result: the server program.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The `_meta` of a client's requests.
///
/// ```
/// use mcp_wire::lifecycle::Implementation;
/// use mcp_wire::{ProtocolVersion, request_meta};
/// use serde_json::Map;
///
/// let meta = request_meta::for_client(
///     ProtocolVersion::V2026_07_28,
///     &Implementation::new("album-maker", "1.0"),
///     &Map::new(),
/// );
/// assert_eq!(meta[request_meta::PROTOCOL_VERSION], "2026-07-28");
/// ```
pub fn for_client(
    version: ProtocolVersion,
    info: &Implementation,
    capabilities: &Map<String, Value>,
) -> Meta {
    let info = serde_json::to_value(info).unwrap_or_default();
    Meta::from_iter([
        (PROTOCOL_VERSION.to_owned(), version.as_str().into()),
        (CLIENT_INFO.to_owned(), info),
        (CLIENT_CAPABILITIES.to_owned(), capabilities.clone().into()),
    ])
}

/// The client's capabilities in the `_meta` of a request.
pub(crate) fn client_capabilities(meta: Option<&Meta>) -> Option<&Map<String, Value>> {
    meta?.get(CLIENT_CAPABILITIES)?.as_object()
}
