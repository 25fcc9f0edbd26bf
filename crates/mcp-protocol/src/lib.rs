//! The Model Context Protocol, for servers and clients: JSON-RPC 2.0 messages, all revisions since 2025-03-26, tools
//! with JSON Schemas, and resources.
//!
//! It contains no HTTP library, no async runtime and no application. The caller passes a body and three headers to
//! [`Server::handle`] and sends the returned response. The crate implements each revision's rules for those headers and for
//! HTTP statuses.
//!
//! The most common change is a new kind of message: add its parameters and result to the module of its topic
//! ([`lifecycle`], [`tools`], …) as structs that derive both `Serialize` and `Deserialize`, with `#[non_exhaustive]`
//! and a constructor so that later revisions can add fields, and its name to [`methods`]. A new revision is a variant
//! of [`ProtocolVersion`].
//!
//! # A server
//!
//! [`Server`] has tools and resources and handles messages of all these revisions; its documentation has an example.
//! Its parts can be used separately: [`ToolRegistry`], [`schema`], [`parse_arguments`].
//!
//! # A client
//!
//! ```
//! use mcp_protocol::client::Session;
//! use mcp_protocol::lifecycle::Implementation;
//! use mcp_protocol::{CallToolParams, ProtocolVersion};
//! use serde_json::json;
//!
//! let mut session = Session::new(ProtocolVersion::V2026_07_28, Implementation::new("greeter-app", "1.0"));
//! let call = session.call_tool(&CallToolParams::new("greet").with_argument("name", json!("Ada")))?;
//! // Send `call.body` with `call.headers` by POST, and receive:
//! # assert!(call.headers.contains(&("mcp-name", "greet".into())));
//! let received = br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Hello, Ada!"}]}}"#;
//!
//! let result = call.read(received)?.result().ok_or("it requires input")?;
//! assert!(!result.is_error);
//! assert_eq!(result.first_text(), Some("Hello, Ada!"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]

pub mod arguments;
pub mod client;
pub mod content;
pub mod headers;
pub mod jsonrpc;
pub mod lifecycle;
pub mod methods;
pub mod registry;
pub mod request_meta;
pub mod resources;
mod results;
pub mod schema;
pub mod server;
pub mod tools;
pub mod version;

/// A `_meta` member: extensions under prefixed names.
pub type Meta = serde_json::Map<String, serde_json::Value>;

pub use arguments::{ArgumentError, NoArguments, parse_arguments};
pub use content::ContentBlock;
pub use registry::{RegisteredTool, RegistryError, ToolRegistry};
pub use resources::{Resource, ResourceTemplate};
pub use results::{CacheScope, Caching, EmptyResult, ResultType};
pub use server::Server;
pub use tools::{CallToolParams, CallToolResult, ListToolsParams, ListToolsResult, Tool, ToolAnnotations};
pub use version::{ProtocolVersion, UnsupportedProtocolVersion};
