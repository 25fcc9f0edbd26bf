//! The photo library's metadata in Postgres.
//!
//! [`PostgresStore`] implements every trait of the `storage` crate on one database, for any number of processes:
//!
//! - The operations are those of the folder `storage-sql`, which this crate compiles for Postgres.
//! - A write first takes an advisory lock on what it changes, which ends with its transaction. So the writes of one
//!   account run one after another, and those of different accounts run at the same time.
//! - Each operation runs on one connection, on a blocking thread, so that a cancelled caller leaves nothing half done.
//! - No session state outlives its transaction, so a transaction pooler may be in front of the server.
//!
//! This crate knows no HTTP, no blob bytes and no clock. The traits state the rules of the library.
//!
//! ```no_run
//! # async fn open() -> Result<(), Box<dyn std::error::Error>> {
//! use storage::SchemaStore;
//! use storage_postgres::{PostgresOptions, PostgresStore, PostgresUrl};
//!
//! let url = PostgresUrl::parse("postgres://photos:password@db.example/photos")?;
//! let store = PostgresStore::open(url, PostgresOptions::default()).await?;
//! for name in store.migrate().await? {
//!     println!("applied {name}");
//! }
//! # Ok(())
//! # }
//! ```

#[macro_use]
mod dialect;
mod classify;
mod connection;
#[cfg(test)]
mod copy_tests;
mod id_sequence;
mod lock;
mod place_index;
mod runtime;
mod schema;
#[path = "../../storage-sql/mod.rs"]
mod sql;
mod store;
mod store_clock;
mod structure;
mod word_index;

pub(crate) use diesel::pg::Pg as Backend;
pub(crate) use sql::{Lock, error};
pub(crate) use store::PostgresStore as SqlStore;

use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;

pub use connection::{InvalidUrl, PostgresUrl};
pub use store::{PostgresOptions, PostgresStore};

/// A connection that runs on a blocking thread.
pub(crate) type SqlConnection =
    AsyncConnectionWrapper<diesel_async::AsyncPgConnection, runtime::ConnectionRuntime>;
