//! The names of the protocol's methods.

/// Request: opens a session in the revisions before 2026-07-28.
pub const INITIALIZE: &str = "initialize";
/// Notification: the client has read the answer to [`INITIALIZE`].
pub const INITIALIZED: &str = "notifications/initialized";
/// Request: is the other side alive? Revisions before 2026-07-28 only.
pub const PING: &str = "ping";
/// Request: which tools are there?
pub const TOOLS_LIST: &str = "tools/list";
/// Request: run a tool.
pub const TOOLS_CALL: &str = "tools/call";
/// Request: who is the server, and what can it do? From revision 2026-07-28 on.
pub const DISCOVER: &str = "server/discover";
/// Request: which resources are there?
pub const RESOURCES_LIST: &str = "resources/list";
/// Request: which families of resources are there?
pub const RESOURCE_TEMPLATES_LIST: &str = "resources/templates/list";
/// Request: what does a resource hold?
pub const RESOURCES_READ: &str = "resources/read";
/// Request: what is the text of a prompt? Served by those only who add it themselves.
pub const PROMPTS_GET: &str = "prompts/get";
