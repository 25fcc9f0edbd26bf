//! Opens the stores that the configuration names and builds the library on them.

use std::{fs, io, path::PathBuf, sync::Arc};

use blobs::{BlobError, BlobStore};
use keys::SystemRandom;
use library::{Library, StorageError, SystemClock};
use storage::SharedStore;
use storage_sqlite::{SqliteOptions, SqliteStore};

use crate::config::Config;

/// Why the library cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("the data folder {} cannot be made: {source}", path.display())]
    DataDir { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("photos cannot be decoded: {0}")]
    Decoders(io::Error),
    #[error(transparent)]
    Blobs(#[from] BlobError),
}

/// Opens the metadata store and makes it if there is none. It does not migrate.
pub(crate) async fn open_store(config: &Config) -> Result<SharedStore, OpenError> {
    make_data_dir(config)?;
    Ok(Arc::new(SqliteStore::open(&config.database, SqliteOptions::default()).await?))
}

/// Opens the library with its tables up to date.
pub(crate) async fn open_library(config: &Config) -> Result<Library, OpenError> {
    let store = open_store(config).await?;
    for name in store.migrate().await? {
        tracing::info!(migration = name, "applied");
    }
    let blobs = BlobStore::open_folder(&config.blobs)?;
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom::new()));
    Library::new(store, blobs, clock, random, config.library.clone()).map_err(OpenError::Decoders)
}

/// Tidies up after processes that were killed. Without it the library is as good, only less tidy.
pub(crate) async fn recover(library: &Library) {
    if let Err(error) = library.recover().await {
        tracing::warn!(error, "what killed processes left was not tidied up; the next start tries again");
    }
}

/// The folder holds photos and a secret: others have no business in it.
fn make_data_dir(config: &Config) -> Result<(), OpenError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let failed = |source| OpenError::DataDir { path: config.data_dir.clone(), source };
    builder.create(&config.data_dir).map_err(failed)
}
