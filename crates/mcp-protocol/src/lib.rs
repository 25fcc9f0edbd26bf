//! The Model Context Protocol as types: JSON-RPC 2.0 messages, the protocol's revisions, tools and their JSON
//! Schemas, error codes, and a registry of tools. For servers and for clients.
//!
//! It knows no HTTP, no async runtime and no application: whoever uses it reads a body from somewhere, hands it to
//! [`jsonrpc::Incoming::parse`], decides, and writes the [`jsonrpc::Response`] that comes out.
//!
//! The commonest change is a new kind of message: add its parameters and result to the module of its topic
//! ([`lifecycle`], [`tools`], …) as structs that derive both `Serialize` and `Deserialize`, with `#[non_exhaustive]`
//! and a constructor so that later revisions can add fields, and its name to [`methods`]. A new revision is a variant
//! of [`ProtocolVersion`].
//!
//! # A server registers a tool with its schema
//!
//! ```
//! use mcp_protocol::schema::input_schema_of;
//! use mcp_protocol::{Tool, ToolAnnotations, ToolRegistry};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Greet {
//!     /// Whom to greet.
//!     name: String,
//! }
//!
//! let tool = Tool::new("greet", "Greets somebody.", input_schema_of::<Greet>())
//!     .with_annotations(ToolAnnotations::titled("Greet").read_only(true));
//! let handler: fn(Greet) -> String = |arguments| format!("Hello, {}!", arguments.name);
//! let registry = ToolRegistry::builder().tool(tool, handler).build()?;
//! assert_eq!(registry.tools()[0].input_schema["required"][0], "name");
//! # Ok::<(), mcp_protocol::RegistryError>(())
//! ```
//!
//! # A server reads a request and answers it
//!
//! ```
//! use mcp_protocol::jsonrpc::{ErrorObject, Incoming, Response};
//! use mcp_protocol::{ArgumentError, CallToolParams, CallToolResult, methods, parse_arguments};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Greet {
//!     name: String,
//! }
//!
//! fn greet(call: CallToolParams) -> CallToolResult {
//!     match parse_arguments::<Greet>(&call.arguments) {
//!         Ok(arguments) => CallToolResult::text(format!("Hello, {}!", arguments.name)),
//!         Err(error) => CallToolResult::error(error.to_string()),
//!     }
//! }
//!
//! /// The answer to one body; `None` when none is due.
//! fn answer(body: &[u8]) -> serde_json::Result<Option<String>> {
//!     let request = match Incoming::parse(body) {
//!         Ok(Incoming::Request(request)) => request,
//!         Ok(_) => return Ok(None),
//!         Err(failure) => return serde_json::to_string(&failure.into_response()).map(Some),
//!     };
//!     let result = match request.method.as_str() {
//!         methods::TOOLS_CALL => CallToolParams::from_params(request.params).map(greet).map_err(ErrorObject::from),
//!         other => Err(ErrorObject::method_not_found(other)),
//!     };
//!     match result {
//!         Ok(result) => serde_json::to_string(&Response::success(request.id, result)),
//!         Err(error) => serde_json::to_string(&Response::failure(Some(request.id), error)),
//!     }
//!     .map(Some)
//! }
//!
//! let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{}}}"#;
//! let answer = answer(body)?.unwrap_or_default();
//! assert!(answer.contains("name: is required"));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # A client calls a tool and reads the result
//!
//! ```
//! use mcp_protocol::jsonrpc::{Params, Request, Response};
//! use mcp_protocol::{CallToolParams, CallToolResult, methods};
//! use serde_json::json;
//!
//! let call = CallToolParams::new("greet").with_argument("name", json!("Ada"));
//! let request = Request::new(1, methods::TOOLS_CALL, Some(Params::of(&call)?));
//! let body = serde_json::to_string(&request)?;
//! // … send `body` and receive:
//! let received = br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Hello, Ada!"}]}}"#;
//!
//! let result: CallToolResult = Response::parse(received)?.into_result()?;
//! assert!(!result.is_error);
//! assert_eq!(result.first_text(), Some("Hello, Ada!"));
//! # assert!(body.contains(r#""arguments":{"name":"Ada"}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]

pub mod arguments;
pub mod content;
pub mod jsonrpc;
pub mod lifecycle;
pub mod methods;
pub mod registry;
pub mod schema;
pub mod strict_json;
pub mod tools;
pub mod version;

/// The `_meta` member of a request, a result or a part of one: free for extensions, keyed by prefixed names.
pub type Meta = serde_json::Map<String, serde_json::Value>;

pub use arguments::{ArgumentError, NoArguments, parse_arguments};
pub use content::ContentBlock;
pub use registry::{RegisteredTool, RegistryError, ToolRegistry};
pub use tools::{CallToolParams, CallToolResult, ListToolsParams, ListToolsResult, Tool, ToolAnnotations};
pub use version::{ProtocolVersion, UnsupportedProtocolVersion};
