//! Runs the program as a process, on a new data folder for each test. One module per topic.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy allows them in test functions; the helper functions of the tests need them, too"
)]

mod accounts;
mod apps;
mod backup;
mod concurrent_import;
mod configuration;
mod copy;
mod doctor;
mod fsck;
mod http;
mod import;
mod keys;
mod killed_import;
mod killed_server;
mod manual;
mod mcp_config;
mod migrations;
mod models;
mod photos;
mod privacy;
mod program;
mod s3;
mod security_log;
mod serving;
mod signing_keys;
mod tls;
mod traces;
mod upgrade;
mod watch;
mod worker;
mod wrong_uses;
