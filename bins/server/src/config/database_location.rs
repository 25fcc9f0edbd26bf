use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use library::StorageError;
use storage::SharedStore;
use storage_postgres::{PostgresOptions, PostgresStore, PostgresUrl};
use storage_sqlite::{SqliteOptions, SqliteStore};

use super::{
    StoreOptions,
    store_url::{DatabaseUrl, StoreUrlError},
};

/// Where the metadata are.
#[derive(Debug, Clone)]
pub(crate) enum DatabaseLocation {
    /// In an SQLite file.
    File(PathBuf),
    Postgres {
        url: Box<PostgresUrl>,
        options: PostgresOptions,
    },
}

impl DatabaseLocation {
    pub(super) fn resolve(settings: &StoreOptions, data_dir: &Path) -> Result<Self, StoreUrlError> {
        let file = match settings.database_url.as_deref().map(DatabaseUrl::parse).transpose()? {
            Some(DatabaseUrl::Postgres(url)) => {
                let default = PostgresOptions::default();
                let connections = settings.database_connections.map_or(default.connections, |it| it.0.get());
                return Ok(Self::Postgres { url, options: PostgresOptions { connections } });
            }
            Some(DatabaseUrl::File(file)) => file,
            None => None,
        };
        Ok(Self::File(file.unwrap_or_else(|| data_dir.join("library.sqlite"))))
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(file) => Some(file),
            Self::Postgres { .. } => None,
        }
    }

    /// Whether machines can share it.
    pub(crate) fn is_shared(&self) -> bool {
        self.file().is_none()
    }

    /// Opens the store without applying migrations.
    pub(crate) async fn open(&self) -> Result<SharedStore, StorageError> {
        Ok(match self {
            Self::File(file) => Arc::new(SqliteStore::open(file, SqliteOptions::default()).await?),
            Self::Postgres { url, options } => {
                Arc::new(PostgresStore::open((**url).clone(), *options).await?)
            }
        })
    }
}

/// Without user and password.
impl fmt::Display for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Postgres { url, .. } => write!(f, "{url}"),
        }
    }
}
