//! The operations of the metadata store, as SQL for SQLite and Postgres.
//!
//! This folder is no crate of its own: each adapter includes it as its module `sql` and compiles it for its database.
//!
//! An operation is a function over `&mut SqlConnection` in the module of its topic, and a line in the topic's
//! `operations!`. The macro makes methods of the port from the lines:
//!
//! ```ignore
//! operations! {
//!     impl AlbumStore {
//!         read album(viewer: Viewer, id: &AlbumId) -> Option<Album> = rows::album;
//!         write(Lock::Account(viewer.account.0)) create_album(
//!             viewer: Viewer, album: NewAlbum as ref
//!         ) -> AlbumWrite = writes::create;
//!         write(Lock::Nothing) touch_key(key: KeyId, at: Timestamp) -> () { |c| api_keys::touch(c, key, at) }
//!     }
//!     by hand { /* methods written out, such as those that run two operations */ }
//! }
//! ```
//!
//! `read`, `query`, `query_inline` and `write` are the methods of the store that run a function. The function gets the
//! connection and the parameters in their order: copies of `Copy` types, a reference to a clone for `id: &AlbumId`, and
//! a reference to what the method takes by value for `album: NewAlbum as ref`. In the form `{ |c| … }` the parameters
//! are owned. On Postgres an operation that failed because of a conflict with others or a lost connection is retried.
//! So an operation depends only on its arguments and the database, and has no other effects.

mod batch;
#[macro_use]
mod operations;

mod account_rows;
mod accounts;
mod albums;
mod blob_registry;
mod camera_settings;
mod capture_time;
mod copy;
mod deletion;
mod edits;
pub(crate) mod error;
pub(crate) mod expression;
mod files;
mod filter;
mod image_change;
mod image_rows;
mod images;
mod integrity;
mod lease;
mod library_state;
mod local_time;
mod lock;
mod login_flows;
mod map;
mod marks;
mod migrations;
mod months;
mod oauth;
pub(crate) mod operation;
mod originals;
mod photo_context;
pub(crate) mod pool;
mod problems;
mod queue;
mod regions;
mod rendition_queue;
mod renditions;
mod roles;
mod schema;
mod selection;
mod sidecars;
mod sign_in;
mod stages;
mod statement;
mod text;
mod timeline;
mod traces;
mod trash;
mod uploads;
mod value;
mod vectors;
mod watched_files;

use storage::StorageError;

use crate::{SqlConnection, SqlStore};

#[cfg(test)]
pub(crate) use copy::assert_complete;
pub(crate) use error::SqlError;
pub(crate) use library_state::CLOSED;
pub(crate) use lock::Lock;
pub(crate) use statement::{statement, unprepared};
pub(crate) use text::{AddedWords, IndexedWords, encode_word_ids};
pub(crate) use traces::{traced, traced_here};
pub(crate) use value::{json_array, json_text};

impl SqlStore {
    /// Runs a write with the lock of the account that `find` returns; returns the default value if there is none. The
    /// account is looked up first, in a query of its own, so that the write waits for the account's other writes
    /// without a connection.
    pub(crate) async fn write_of_account<T, F, O>(&self, find: F, operation: O) -> Result<T, StorageError>
    where
        T: Default + Send + 'static,
        F: Fn(&mut SqlConnection) -> Result<Option<i64>, SqlError> + Send + 'static,
        O: Fn(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        match self.query(find).await? {
            Some(account) => self.write(Lock::Account(account), operation).await,
            None => Ok(T::default()),
        }
    }
}
