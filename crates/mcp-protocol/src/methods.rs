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
