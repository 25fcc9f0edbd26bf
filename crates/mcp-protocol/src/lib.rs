//! The Model Context Protocol: JSON-RPC 2.0 messages, the protocol's revisions, tools with their JSON Schemas,
//! resources, a server that is one function from a message to its answer, and a client's messages with the reading of
//! their answers.
//!
//! It knows no HTTP library, no async runtime and no application: whoever uses it reads a body and three headers from
//! somewhere, hands them to [`Server::answer`], and writes what comes out. Of the transport it knows what each revision says
//! about those headers and about statuses.
//!
//! The commonest change is a new kind of message: add its parameters and result to the module of its topic
//! ([`lifecycle`], [`tools`], …) as structs that derive both `Serialize` and `Deserialize`, with `#[non_exhaustive]`
//! and a constructor so that later revisions can add fields, and its name to [`methods`]. A new revision is a variant
//! of [`ProtocolVersion`].
//!
//! # A server
//!
//! [`Server`] holds tools and resources and answers messages of every revision; see there for an example. What it
//! is built of stands on its own, too: [`ToolRegistry`], [`schema`], [`parse_arguments`].
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
//! // … send `call.body` with `call.headers` by POST, and receive:
//! # assert!(call.headers.contains(&("mcp-name", "greet".into())));
//! let received = br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Hello, Ada!"}]}}"#;
//!
//! let result = call.read(received)?.result().ok_or("it asks back")?;
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
pub mod strict_json;
pub mod tools;
pub mod version;

/// The `_meta` member of a request, a result or a part of one: free for extensions, keyed by prefixed names.
pub type Meta = serde_json::Map<String, serde_json::Value>;

pub use arguments::{ArgumentError, NoArguments, parse_arguments};
pub use content::ContentBlock;
pub use registry::{RegisteredTool, RegistryError, ToolRegistry};
pub use resources::{Resource, ResourceTemplate};
pub use results::{CacheScope, Caching, EmptyResult, ResultType};
pub use server::Server;
pub use tools::{CallToolParams, CallToolResult, ListToolsParams, ListToolsResult, Tool, ToolAnnotations};
pub use version::{ProtocolVersion, UnsupportedProtocolVersion};
