//! Drives the real program on data folders of its own: one binary, a module for each topic.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy allows them inside test functions; here the functions that those share need them too"
)]

mod accounts;
mod apps;
mod beside;
mod configuration;
mod doctor;
mod http;
mod import;
mod keys;
mod kills;
mod manual;
mod mcp_config;
mod migrations;
mod models;
mod photos;
mod privacy;
mod program;
mod refresh_storm;
mod security_log;
mod serving;
mod signing_keys;
mod wrong_uses;
