//! Fetches the documents in which OAuth clients describe themselves
//! (draft-ietf-oauth-client-id-metadata-document), and their public keys.
//!
//! Anyone can choose the URL. So a fetch must reach public addresses only (protection from server-side request
//! forgery), and must cost little:
//!
//! - The host is resolved once. **Every** address must belong to the public internet ([`is_public`]), and the
//!   connection goes to one of the checked addresses, so that a second resolution cannot return another one.
//! - Only https with a checked certificate. No redirects, no proxy, and nothing in the request that identifies a user.
//! - Five seconds in total, 32 KB, few fetches at once and one per URL. A response is cached for as long as its headers
//!   say, within bounds; a failure for half a minute. A document that a caller asks for again, because it looks outdated, is
//!   fetched at most once a minute.
//! - The error message is the same for a missing host and for one inside the service's own network.
//!
//! The address check cannot be disabled. A test replaces the [`Network`]: what names resolve to, and where a connection
//! to a checked address goes.
//!
//! The most common change is one more range of refused addresses: a line in the table in `public.rs`, and one in the
//! table of its tests.

mod documents;
mod fetch;
mod freshness;
mod network;
mod public;

pub use documents::{HttpClientDocuments, MonotonicClock, Options};
pub use https_client::{BuildError, Roots};
pub use network::{Network, SystemNetwork};
pub use public::is_public;
