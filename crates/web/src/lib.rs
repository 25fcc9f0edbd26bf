//! The HTTP interface of the photo library: every interface behind one address.
//!
//! [`App`] routes a request by path to the interfaces for programs (`web-api`) or to the pages for people (`web-pages`), and
//! applies what concerns all of them: the check of `Host` and `Origin`, CORS, error pages, logging, metrics, request IDs.
//! [`serve`] runs the app on `http-server`, [`serve_metrics`] serves its metrics, and [`serve_redirects`] redirects from http
//! to https. All interfaces share the authorization server of `web-auth`.
//!
//! This crate contains no endpoint of its own. A new endpoint belongs in `web-api`, a new page in `web-pages`.

mod app;
mod config;
mod cors;
mod metrics;
mod metrics_server;
mod redirects;
mod request_id;
mod traces;

pub use app::{App, serve};
pub use config::WebConfig;
pub use http_server::{BaseUrl, HttpLimits, InvalidBaseUrl};
pub use metrics_server::serve_metrics;
pub use redirects::serve_redirects;
pub use traces::REQUEST_TARGET;
pub use web_api::{mcp_tools_document, openapi_document, serve_mcp};
pub use web_auth::{BuildError, OAuthLimits, RateLimit, ServiceLinks, issuer, mcp_url};
pub use web_pages::{ConnectionGuide, McpApp, UnknownApp, connecting_document, registry_entry};
