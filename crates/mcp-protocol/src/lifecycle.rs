//! `initialize` for the legacy revisions, `server/discover` from revision 2026-07-28 on, and the descriptions of client
//! and server.

use crate::{CacheScope, Meta, ProtocolVersion, ResultType};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The parameters of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeParams {
    /// The requested revision, perhaps an unknown one; see [`ProtocolVersion::negotiate`].
    pub protocol_version: String,
    /// The client's capabilities; not typed, because revisions and extensions add to them.
    #[serde(default)]
    pub capabilities: Map<String, Value>,
    /// The client program.
    pub client_info: Implementation,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The result of `initialize`.
///
/// ```
/// use mcp_wire::ProtocolVersion;
/// use mcp_wire::lifecycle::{Implementation, InitializeResult, ServerCapabilities};
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
    /// The revision of the session. A client must not continue with an unknown one; parsing fails then.
    pub protocol_version: ProtocolVersion,
    /// The server's capabilities.
    pub capabilities: ServerCapabilities,
    /// The server program.
    pub server_info: Implementation,
    /// Instructions for the model on how to use the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The result of `server/discover`, which describes a server without a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The kind of result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// The names of the revisions that the server supports without a session.
    pub supported_versions: Vec<String>,
    /// The server's capabilities.
    pub capabilities: ServerCapabilities,
    /// Instructions for the model on how to use the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// For how many milliseconds it may be cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may cache it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Extensions, with the server's [`Implementation`] under
    /// [`request_meta::SERVER_INFO`](crate::request_meta::SERVER_INFO).
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The program on one side. Self-reported, so it must not be trusted.
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
    /// A description (from revision 2025-11-25 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its web site (from revision 2025-11-25 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
}

/// A server's capabilities.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsCapability>,
    /// Resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// Prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PromptsCapability>,
    /// All other capabilities.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// Optional features for tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolsCapability {
    /// Notifications when the list changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

/// Optional features for resources.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// Notifications when a resource changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// Notifications when the list changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

/// Optional features for prompts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptsCapability {
    /// Notifications when the list changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

impl InitializeParams {
    /// A client that requests `protocol_version`, without capabilities.
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

    /// Sets the instructions for the model.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }
}

impl DiscoverResult {
    /// A server with these revisions and capabilities.
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

    /// The newest revision that both sides support.
    pub fn best_version(&self) -> Option<ProtocolVersion> {
        self.supported_versions.iter().filter_map(|name| name.parse().ok()).max()
    }
}

impl Implementation {
    /// A program without a title.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, version: version.into(), description: None, website_url: None }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

impl ServerCapabilities {
    /// Adds tools, without notifications.
    #[must_use]
    pub fn with_tools(mut self) -> Self {
        self.tools = Some(ToolsCapability::default());
        self
    }

    /// Adds resources, without notifications and subscriptions.
    #[must_use]
    pub fn with_resources(mut self) -> Self {
        self.resources = Some(ResourcesCapability::default());
        self
    }

    /// Adds prompts, without notifications.
    #[must_use]
    pub fn with_prompts(mut self) -> Self {
        self.prompts = Some(PromptsCapability::default());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::{Params, Request};
    use serde_json::json;

    #[test]
    fn unknown_members_of_initialize_are_ignored() {
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
    fn a_missing_member_of_initialize_is_named() {
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
    fn unknown_capabilities_survive_a_round_trip() {
        let value = json!({"tools": {"listChanged": true}, "logging": {}, "resources": {"subscribe": true}});
        let read: ServerCapabilities = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(read.tools.as_ref().unwrap().list_changed, Some(true));
        assert!(read.others.contains_key("logging"));
        assert_eq!(serde_json::to_value(read).unwrap(), value);
    }
}
