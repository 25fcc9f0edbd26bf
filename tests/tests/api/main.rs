//! Tests over the real HTTP surface: one module per topic, each test named after its rule.
#![expect(clippy::unwrap_used, clippy::panic, reason = "in a test, what cannot go on must fail")]

mod access;
mod account;
mod album_images;
mod albums;
mod bodies;
mod circles;
mod clock;
mod dates;
mod deletion;
mod envelope;
mod free_plan;
mod imported;
mod library_info;
mod local_access;
mod mcp;
mod methods;
mod oauth;
mod operations;
mod other_process;
mod pages;
mod paging;
mod parameters;
mod photos;
mod renditions;
mod search;
mod search_appearance;
mod search_languages;
mod search_ocr;
mod search_words;
mod server_limits;
mod setup;
mod signed_urls;
mod sync_sign_in;
mod uploads;
mod webdav;
