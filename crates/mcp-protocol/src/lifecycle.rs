//! How two sides meet: `initialize` in the legacy era, `server/discover` from revision 2026-07-28 on, and what each says
//! about itself.

use crate::{CacheScope, Meta, ProtocolVersion, ResultType};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The parameters of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeParams {
    /// The revision that the client would like, published or not: see [`ProtocolVersion::negotiate`].
    pub protocol_version: String,
    /// What the client can do, by capability; open, because every revision and extension adds to it.
    pub capabilities: Map<String, Value>,
    /// Which program the client is.
    pub client_info: Implementation,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The result of `initialize`.
///
/// ```
/// use mcp_protocol::ProtocolVersion;
/// use mcp_protocol::lifecycle::{Implementation, InitializeResult, ServerCapabilities};
///
/// let capabilities = ServerCapabilities::default().with_tools().with_resources();
/// let result = InitializeResult::new(
///     ProtocolVersion::negotiate("2025-06-18"),
///     capabilities,
///     Implementation::new("photo-library", "1.0.0").with_title("Photo library"),
/// );
/// assert_eq!(serde_json::to_value(&result)?["capabilities"], serde_json::json!({"tools": {}, "resources": {}}));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeResult {
    /// The revision of the session. A client that does not know it must not go on; here it fails to parse.
    pub protocol_version: ProtocolVersion,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// Which program the server is.
    pub server_info: Implementation,
    /// How a model should use the server, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The result of `server/discover`, by which a client learns of a server without opening a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscoverResult {
    /// What kind of result it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// The revisions that the server speaks without a session, by name; a client may know only some of them.
    pub supported_versions: Vec<String>,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// How a model should use the server, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// For how many milliseconds it may be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Extensions; the server's [`Implementation`] stands under
    /// [`request_meta::SERVER_INFO`](crate::request_meta::SERVER_INFO).
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Which program one side is. Self-reported: never a reason to trust it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// A name for programs.
    pub name: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The program's version.
    pub version: String,
    /// What the program is (from revision 2025-11-25 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where to read about it (from revision 2025-11-25 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
}

/// What a server can do; a capability that is absent is not offered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// It has tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsCapability>,
    /// It has resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// Every other capability, as it came.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// What a server can do with tools beyond listing and calling them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolsCapability {
    /// It tells the client when the list changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

/// What a server can do with resources beyond listing and reading them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// It tells the client when a resource changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// It tells the client when the list changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

impl InitializeParams {
    /// A client that asks for `protocol_version` and declares no capability.
    pub fn new(protocol_version: impl Into<String>, client_info: Implementation) -> Self {
        Self { protocol_version: protocol_version.into(), capabilities: Map::new(), client_info, meta: None }
    }
}

impl InitializeResult {
    /// A result without instructions.
    pub fn new(
        protocol_version: ProtocolVersion,
        capabilities: ServerCapabilities,
        server_info: Implementation,
    ) -> Self {
        Self { protocol_version, capabilities, server_info, instructions: None, meta: None }
    }

    /// The same with instructions for the model.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }
}

impl DiscoverResult {
    /// What a server that speaks these revisions can do.
    pub fn new(supported_versions: &[ProtocolVersion], capabilities: ServerCapabilities) -> Self {
        Self {
            result_type: Some(ResultType::Complete),
            supported_versions: supported_versions.iter().map(ToString::to_string).collect(),
            capabilities,
            instructions: None,
            ttl_ms: None,
            cache_scope: None,
            meta: None,
        }
    }

    /// The newest revision that both sides know.
    pub fn best_version(&self) -> Option<ProtocolVersion> {
        self.supported_versions.iter().filter_map(|name| name.parse().ok()).max()
    }
}

impl Implementation {
    /// A program without title.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, version: version.into(), description: None, website_url: None }
    }

    /// The same with a name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

impl ServerCapabilities {
    /// The same with tools, whose list does not change within a session.
    #[must_use]
    pub fn with_tools(mut self) -> Self {
        self.tools = Some(ToolsCapability::default());
        self
    }

    /// The same with resources, which the client cannot watch.
    #[must_use]
    pub fn with_resources(mut self) -> Self {
        self.resources = Some(ResourcesCapability::default());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::{Params, Request};
    use serde_json::json;

    #[test]
    fn initialize_is_read_whatever_the_client_adds() {
        let params = json!({
            "protocolVersion": "2099-01-01",
            "capabilities": {"roots": {"listChanged": true}, "extensions": {"x": {}}},
            "clientInfo": {"name": "c", "version": "1", "icons": [{"src": "data:"}], "more": 1},
            "trace": 1,
        });
        let request = Request::new(1, "initialize", Some(Params::of(&params).unwrap()));
        let read: InitializeParams = request.params_as().unwrap();
        assert_eq!(read.protocol_version, "2099-01-01");
        assert_eq!(read.capabilities["roots"], json!({"listChanged": true}));
        assert_eq!(read.client_info, Implementation::new("c", "1"));
    }

    #[test]
    fn what_initialize_lacks_is_named() {
        for (params, message) in [
            (json!({}), "protocolVersion: is required"),
            (
                json!({"protocolVersion": 1, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}),
                "protocolVersion: expected a string, got the number 1",
            ),
            (
                json!({"protocolVersion": "2025-11-25", "capabilities": []}),
                "capabilities: expected an object, got an array",
            ),
            (
                json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c"}}),
                "clientInfo.version: is required",
            ),
        ] {
            let request = Request::new(1, "initialize", Some(Params::of(&params).unwrap()));
            let error = request.params_as::<InitializeParams>().unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn results_survive_a_round_trip() {
        let result = InitializeResult::new(
            ProtocolVersion::V2025_11_25,
            ServerCapabilities::default().with_tools(),
            Implementation::new("s", "2").with_title("S"),
        )
        .with_instructions("Search first.");
        let value = serde_json::to_value(&result).unwrap();
        assert_eq!(
            value,
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "title": "S", "version": "2"},
                "instructions": "Search first.",
            })
        );
        assert_eq!(serde_json::from_value::<InitializeResult>(value).unwrap(), result);
        assert_eq!(serde_json::to_value(crate::EmptyResult::default()).unwrap(), json!({}));
    }

    #[test]
    fn a_client_keeps_capabilities_it_does_not_know() {
        let value = json!({"tools": {"listChanged": true}, "logging": {}, "resources": {"subscribe": true}});
        let read: ServerCapabilities = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(read.tools.as_ref().unwrap().list_changed, Some(true));
        assert!(read.others.contains_key("logging"));
        assert_eq!(serde_json::to_value(read).unwrap(), value);
    }
}
