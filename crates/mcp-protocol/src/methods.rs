//! The names of the protocol's methods.

/// Request: opens a session, before revision 2026-07-28.
pub const INITIALIZE: &str = "initialize";
/// Notification: the client received the response to [`INITIALIZE`].
pub const INITIALIZED: &str = "notifications/initialized";
/// Request: checks that the other side responds, before revision 2026-07-28.
pub const PING: &str = "ping";
/// Request: lists the tools.
pub const TOOLS_LIST: &str = "tools/list";
/// Request: calls a tool.
pub const TOOLS_CALL: &str = "tools/call";
/// Request: describes the server, from revision 2026-07-28 on.
pub const DISCOVER: &str = "server/discover";
/// Request: lists the resources.
pub const RESOURCES_LIST: &str = "resources/list";
/// Request: lists the resource templates.
pub const RESOURCE_TEMPLATES_LIST: &str = "resources/templates/list";
/// Request: reads a resource.
pub const RESOURCES_READ: &str = "resources/read";
/// Request: lists the prompts.
pub const PROMPTS_LIST: &str = "prompts/list";
/// Request: gets the messages of a prompt.
pub const PROMPTS_GET: &str = "prompts/get";
