//! An app, a browser and a person, as the authorization server meets them.

mod browser;
mod client;
mod document_host;
mod html;

pub use browser::Browser;
pub use client::{Authorize, OauthClient, Tokens, challenge};
pub use document_host::{DocumentHost, PUBLIC_ADDRESS};
pub use html::{HtmlForm, forms};

/// What every person of these flows signs in with.
pub const PASSWORD: &str = "correct horse battery staple";

/// The verifier that these flows use.
pub const VERIFIER: &str = "a-verifier-of-fifty-characters.is_long~enough-1234";
