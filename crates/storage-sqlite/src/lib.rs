//! The photo library's metadata on embedded SQLite.
//!
//! [`SqliteStore`] implements every port of the `storage` crate. One writing thread and a pool of readers look at one
//! file in WAL mode; each operation is one blocking hop on one connection and happens whole or not at all, so that a
//! caller who gives up leaves nothing half done; only the look-ups that every request begins with, and the count of
//! images, are made where they are asked for. Writes that are asked for at the same time share a commit. A second
//! process may open the same file: what it writes is seen by the next operation here, because nothing is cached between
//! operations.
//!
//! This crate knows no HTTP, no blob bytes and no clock. It decides no rule of the library: it keeps those that
//! the ports state.
//!
//! The commonest change is a new operation: add its SQL as a free function beside its topic (a function over
//! `&mut SqliteConnection` that gives `Result<_, SqliteError>`), then one line in the topic's `impl` that runs it with
//! `read` or `write`. A new column goes into a new folder under `migrations/sqlite` (an older one is never
//! edited), into `schema.rs`, and into the row struct that reads it.
//!
//! Statements stay prepared as long as their connection. But SQLite looks at the number behind a bound `LIMIT`, and
//! plans the statement anew whenever one is bound: what reads one row ends with `get_result`, never with `first`.
//!
//! ```no_run
//! # async fn open() -> Result<(), storage::StorageError> {
//! use storage::SchemaStore;
//! use storage_sqlite::{SqliteOptions, SqliteStore};
//!
//! let store = SqliteStore::open("data/library.sqlite".as_ref(), SqliteOptions::default()).await?;
//! for name in store.migrate().await? {
//!     println!("applied {name}");
//! }
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]

mod accounts;
mod albums;
mod blob_registry;
mod connection;
mod error;
mod images;
mod inline_pool;
mod lease;
mod migrations;
mod oauth;
mod queue;
mod read_pool;
mod rendition_queue;
mod schema;
mod sign_in;
mod stages;
mod store;
mod value;
mod vectors;
mod writer;

pub use connection::Durability;
pub use store::{SqliteOptions, SqliteStore};
