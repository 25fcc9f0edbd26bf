//! HTTP for the interfaces of the service: connections, request bodies and replies, all within limits.
//!
//! [`serve`] accepts connections and passes each request to a handler. A handler reads the body through
//! [`RequestBody`](body::RequestBody) and builds its reply with the functions in [`reply`] and [`file`].
//!
//! This crate knows no photos, no accounts and no paths.
//!
//! The most common change is a new limit: a field in [`HttpLimits`], applied in `server` or [`body`].

mod accept;
pub mod authorization_header;
mod base_url;
pub mod body;
mod client_address;
pub mod cookies;
pub mod file;
mod limits;
pub mod local_access;
mod local_network;
mod query;
pub mod reply;
pub mod response_body;
mod server;
mod upload_slots;

pub use accept::prefers_html;
pub use base_url::{BaseUrl, InvalidBaseUrl};
pub use client_address::{client_address, is_from_trusted_proxy};
pub use limits::HttpLimits;
pub use local_network::address_in_local_network;
pub use query::Query;
pub use server::{ServeOptions, serve};
pub use upload_slots::{UploadSlot, UploadSlots};
