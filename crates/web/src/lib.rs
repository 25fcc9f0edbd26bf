//! The HTTP surface of the photo library.
//!
//! One module per surface: [`images_api`](crate) for REST, `signed_images` for renditions behind signed URLs, `mcp`
//! for the Model Context Protocol, `oauth` for the authorization server, `sign_in` for sessions and forms, `account` for
//! what people see of their own account, `pages` for people, `connecting` for what they are told about their apps,
//! `health` for operators. Each turns a request into values of `domain`, asks the [`Library`](library::Library), and turns what it says into a response; nothing is decided
//! here that another surface would have to decide again.
//!
//! This crate knows no SQL, no file and no image format.
//!
//! The commonest change is a new endpoint of the image API: a row in `images_api::ROUTES`, a handler that returns
//! `Result<Reply, ApiError>`, and its description in `images_api::openapi`. A new MCP tool: see `mcp::tools`.
#![deny(missing_docs)]

mod account;
mod app;
mod body;
mod client_address;
mod config;
mod connecting;
mod health;
mod images_api;
mod links;
mod local_access;
mod mcp;
mod oauth;
mod pages;
mod presented_key;
mod query;
mod reply;
mod security_log;
mod serving;
mod sign_in;
mod signed_images;

pub use app::{App, BuildError};
pub use config::{BaseUrl, HttpLimits, InvalidBaseUrl, WebConfig};
pub use connecting::{ConnectionGuide, McpApp, UnknownApp, connecting_document, mcp_url};
pub use images_api::openapi_document;
pub use mcp::{mcp_tools_document, serve_mcp};
pub use oauth::RateLimit;
pub use serving::serve;
