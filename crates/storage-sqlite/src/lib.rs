//! The photo library's metadata on embedded SQLite.
//!
//! [`SqliteStore`] implements every trait of the `storage` crate on one file in WAL mode:
//!
//! - Writes go through one thread; writes that arrive at the same time share a commit.
//! - Reads run on tokio's blocking threads, with a pool of connections.
//! - Look-ups that every request needs, and the count of images, run on the calling thread.
//!
//! Each operation runs on one connection as a whole, so that a cancelled caller leaves nothing half done. Another
//! process may open the same file: the next operation here sees its writes, because nothing is cached between
//! operations.
//!
//! This crate knows no HTTP, no blob bytes and no clock. The traits state the rules of the library.
//!
//! The operations are those of the folder `storage-sql`, which this crate compiles for SQLite. A new operation and a
//! new column go there. This crate contains only what SQLite needs in particular: connections, the writer's thread, the
//! indexes of words and places, and the classes of errors.
//!
//! Prepared statements are cached with their connection. `.cargo/config.toml` has the options that SQLite is compiled with.
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

#[macro_use]
mod dialect;
mod classify;
mod connection;
#[cfg(test)]
mod copy_tests;
mod id_sequence;
mod inline_pool;
mod library_state;
mod lock;
mod place_index;
#[cfg(test)]
mod pool_tests;
mod schema;
#[path = "../../storage-sql/mod.rs"]
mod sql;
mod store;
mod store_clock;
mod structure;
mod word_index;
mod writer;

pub(crate) use diesel::{SqliteConnection as SqlConnection, sqlite::Sqlite as Backend};
pub(crate) use sql::{Lock, error};
pub(crate) use store::SqliteStore as SqlStore;

pub use connection::Durability;
pub use store::{SqliteOptions, SqliteStore};
