//! Fetches the documents in which OAuth clients describe themselves
//! (draft-ietf-oauth-client-id-metadata-document).
//!
//! Who names the URL is a stranger, so that a fetch must reach nothing that the stranger could not reach themselves
//! (server-side request forgery), and cost little:
//!
//! - The host is resolved here, **every** address that it has must be one of the public internet ([`is_public`]), and
//!   the connection goes to one of the addresses that were looked at: no second resolution could give another.
//! - https only, the certificate is checked, redirects are not followed, no proxy is asked, nothing is sent that tells
//!   one user from another.
//! - Five seconds for everything, 32 KB, few fetches at once and one for each URL, an answer remembered for as long as
//!   its headers say within bounds, and a failure for half a minute.
//! - What whoever asks is told does not tell a host that is not there from one inside the service's own network.
//!
//! Nothing switches the guard off. What a test replaces is the [`Network`]: what names resolve to, and what is dialled
//! for an address that has passed the guard.
//!
//! The commonest change is a range of addresses that is to be refused: a line in the table in `public.rs`, and one in
//! the table of its tests.
#![deny(missing_docs)]

mod documents;
mod fetch;
mod freshness;
mod network;
mod public;

pub use documents::{BuildError, HttpClientDocuments, MonotonicClock, Options, Roots};
pub use network::{Internet, Network};
pub use public::is_public;
