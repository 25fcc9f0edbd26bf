use std::path::PathBuf;

use blobs::{InvalidEndpoint, InvalidLocation, S3Location};
use storage_postgres::{InvalidUrl, PostgresUrl};

/// Why a store URL is invalid. Messages do not quote it, because it may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StoreUrlError {
    #[error("database-url: {0}")]
    Postgres(#[from] InvalidUrl),
    #[error("database-url: an in-memory database would be lost at once; use sqlite:PATH or omit the setting")]
    InMemory,
    #[error("database-url: must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")]
    Database,
    #[error("blob-url: must be file:FOLDER or s3://BUCKET/PREFIX")]
    Blobs,
    #[error("blob-url: {0}")]
    Bucket(#[from] InvalidLocation),
    #[error("{setting}: {reason}")]
    Endpoint { setting: &'static str, reason: InvalidEndpoint },
}

/// What `--database-url` names.
#[derive(Debug, Clone)]
pub(super) enum DatabaseUrl {
    /// An SQLite file; `None` means the one in the data folder.
    File(Option<PathBuf>),
    Postgres(Box<PostgresUrl>),
}

impl DatabaseUrl {
    pub(super) fn parse(url: &str) -> Result<Self, StoreUrlError> {
        match url.split_once(':') {
            Some(("sqlite", ":memory:")) => Err(StoreUrlError::InMemory),
            Some(("sqlite", path)) => Ok(Self::File(non_empty_path(path))),
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(Box::new(PostgresUrl::parse(url)?))),
            _ => Err(StoreUrlError::Database),
        }
    }
}

/// What `--blob-url` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlobUrl {
    /// A folder; `None` means the one in the data folder.
    Folder(Option<PathBuf>),
    Bucket(S3Location),
}

impl BlobUrl {
    pub(super) fn parse(url: &str) -> Result<Self, StoreUrlError> {
        match url.split_once(':') {
            Some(("file", path)) => Ok(Self::Folder(non_empty_path(path))),
            Some(("s3", _)) => Ok(Self::Bucket(url.parse()?)),
            _ => Err(StoreUrlError::Blobs),
        }
    }
}

/// The path of a URL; `sqlite:///srv/x` means the same as `sqlite:/srv/x`.
fn non_empty_path(path: &str) -> Option<PathBuf> {
    let path = path.strip_prefix("//").unwrap_or(path);
    (!path.is_empty()).then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(url: &str) -> Result<Option<PathBuf>, StoreUrlError> {
        match DatabaseUrl::parse(url)? {
            DatabaseUrl::File(file) => Ok(file),
            DatabaseUrl::Postgres(url) => panic!("{url}"),
        }
    }

    #[test]
    fn urls_name_files_and_folders() {
        let database = |url, expect: Result<Option<&str>, _>| {
            assert_eq!(file(url), expect.map(|path| path.map(PathBuf::from)), "{url}");
        };
        database("sqlite:", Ok(None));
        database("sqlite:a/b.db", Ok(Some("a/b.db")));
        database("sqlite:/srv/b.db", Ok(Some("/srv/b.db")));
        database("sqlite:///srv/b.db", Ok(Some("/srv/b.db")));
        database("sqlite::memory:", Err(StoreUrlError::InMemory));
        for url in ["postgres://u:p@h/d", "postgresql://h/d"] {
            assert!(matches!(DatabaseUrl::parse(url), Ok(DatabaseUrl::Postgres(_))), "{url}");
        }
        assert!(matches!(DatabaseUrl::parse("postgres://u:p@h"), Err(StoreUrlError::Postgres(_))));
        database("mysql://h/d", Err(StoreUrlError::Database));
        database("library.sqlite", Err(StoreUrlError::Database));

        let folder = |url, expect: Option<&str>| {
            assert_eq!(BlobUrl::parse(url), Ok(BlobUrl::Folder(expect.map(PathBuf::from))), "{url}");
        };
        folder("file:", None);
        folder("file:///srv/blobs", Some("/srv/blobs"));
        folder("file:blobs", Some("blobs"));
        let location = S3Location { bucket: "bucket".to_owned(), prefix: "prefix".to_owned() };
        assert_eq!(BlobUrl::parse("s3://bucket/prefix"), Ok(BlobUrl::Bucket(location)));
        assert_eq!(BlobUrl::parse("s3:bucket"), Err(StoreUrlError::Bucket(InvalidLocation)));
        assert_eq!(BlobUrl::parse("/srv/blobs"), Err(StoreUrlError::Blobs));
    }

    proptest! {
        #[test]
        fn paths_are_kept_unchanged(path in "[^/:].{0,40}") {
            prop_assert_eq!(file(&format!("sqlite:{path}")), Ok(Some(PathBuf::from(&path))));
            let folder = BlobUrl::Folder(Some(PathBuf::from(&path)));
            prop_assert_eq!(BlobUrl::parse(&format!("file:{path}")), Ok(folder));
        }

        #[test]
        fn other_schemes_are_refused(url in "[^sfp].*|s[^q3].*|f[^i].*|p[^o].*") {
            prop_assert!(DatabaseUrl::parse(&url).is_err() && BlobUrl::parse(&url).is_err());
        }
    }
}
