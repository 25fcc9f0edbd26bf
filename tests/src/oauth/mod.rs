//! OAuth clients and browsers for flows through the authorization server.

mod browser;
mod client;
mod document_host;
mod html;

pub use browser::Browser;
pub use client::{Authorize, OauthClient, Tokens, challenge};
pub use document_host::{DocumentHost, PUBLIC_ADDRESS};
pub use html::{HtmlForm, forms};

pub use crate::account::PASSWORD;

/// The PKCE verifier of these flows.
pub const VERIFIER: &str = "a-verifier-of-fifty-characters.is_long~enough-1234";
