#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! - [`Server`]: tools, prompts, resources and other methods; [`Server::handle`] is the function from a message to a response.
//! - [`client::Client`] and [`client::Transport`]; [`client::Session`] for a client without any input or output.
//! - [`jsonrpc`], [`tools`], [`prompts`], [`resources`], [`lifecycle`]: the messages. All can be serialised and parsed.
//! - [`parse_arguments`] and [`ToolRegistry`] can be used without the rest.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]

// The most common change is a new kind of message: add its parameters and result to the module of its topic (`lifecycle`,
// `tools`, …) as structs that derive both `Serialize` and `Deserialize`, with `#[non_exhaustive]` and a constructor so that
// later revisions can add fields, and its name to `methods`. A new revision is a variant of `ProtocolVersion`.

pub mod arguments;
pub mod client;
pub mod content;
pub mod elicitation;
pub mod headers;
#[cfg(feature = "http")]
pub mod http;
pub mod jsonrpc;
pub mod lifecycle;
pub mod methods;
pub mod prompts;
pub mod registry;
pub mod request_meta;
pub mod resources;
mod results;
#[cfg(feature = "schema")]
pub mod schema;
pub mod server;
pub mod tools;
pub mod version;

/// A `_meta` member: extensions under prefixed names.
pub type Meta = serde_json::Map<String, serde_json::Value>;

pub use arguments::{ArgumentError, NoArguments, parse_arguments};
pub use content::ContentBlock;
pub use prompts::{Prompt, PromptArgument};
pub use registry::{RegisteredTool, RegistryError, ToolRegistry};
pub use resources::{Resource, ResourceTemplate};
pub use results::{CacheScope, Caching, EmptyResult, ResultType};
pub use server::Server;
pub use tools::{CallToolParams, CallToolResult, ListToolsParams, ListToolsResult, Tool, ToolAnnotations};
pub use version::{ProtocolVersion, UnsupportedProtocolVersion};
