//! The authorization server with its resources, and the security log: everything that the interfaces for programs
//! (`web-api`) and the pages for people (`web-pages`) share, so that neither depends on the other.
//! The session cookie of browsers is read here too, because uploads (`web-sync`) accept it.
//!
//! `oauth-core` decides about clients, codes and tokens. This crate connects it to the library, limits request rates and
//! caches verified tokens.
//!
//! This crate contains no endpoint and no page.
//!
//! The most common change is a new event of the security log: a function in [`security_log`].

mod app_name;
mod authorization;
mod browser;
mod configuration;
mod mcp_resource;
mod paths;
mod ports;
mod rate_limits;
mod rendition_reply;
pub mod security_log;
mod verified_tokens;

pub use app_name::{app_name, display_name};
pub use authorization::{Authorization, AuthorizationOptions, BuildError};
pub use browser::{SESSION_COOKIE, is_same_origin, session_token};
pub use configuration::issuer;
pub use mcp_resource::{McpResource, mcp_url};
pub use oauth_core::ServiceLinks;
pub use paths::{AUTHORIZE_PATH, LOGIN_PAGE_PREFIX, OAUTH_PREFIX};
pub use rate_limits::{OAuthLimits, RateLimit, RateLimits};
pub use rendition_reply::{rendition_file, rendition_reply};
