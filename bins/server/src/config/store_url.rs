use std::path::PathBuf;

/// Why a store's URL cannot be used. It is not quoted: it may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StoreUrlError {
    #[error("database-url: this build has no Postgres support yet; give sqlite:PATH, or leave it out")]
    Postgres,
    #[error("database-url: a store in memory would be lost at once; give sqlite:PATH, or leave it out")]
    InMemory,
    #[error("database-url: must be sqlite:PATH")]
    Database,
    #[error("blob-url: this build has no S3 support yet; give file:FOLDER, or leave it out")]
    S3,
    #[error("blob-url: must be file:FOLDER")]
    Blobs,
}

/// The SQLite file of a `--database-url`; `None`: the one in the data folder.
pub(super) fn sqlite_file(url: &str) -> Result<Option<PathBuf>, StoreUrlError> {
    match url.split_once(':') {
        Some(("sqlite", ":memory:")) => Err(StoreUrlError::InMemory),
        Some(("sqlite", path)) => Ok(path_of(path)),
        Some(("postgres" | "postgresql", _)) => Err(StoreUrlError::Postgres),
        _ => Err(StoreUrlError::Database),
    }
}

/// The folder of a `--blob-url`; `None`: the one in the data folder.
pub(super) fn blob_folder(url: &str) -> Result<Option<PathBuf>, StoreUrlError> {
    match url.split_once(':') {
        Some(("file", path)) => Ok(path_of(path)),
        Some(("s3", _)) => Err(StoreUrlError::S3),
        _ => Err(StoreUrlError::Blobs),
    }
}

/// `sqlite:///srv/x` means the same as `sqlite:/srv/x`.
fn path_of(path: &str) -> Option<PathBuf> {
    let path = path.strip_prefix("//").unwrap_or(path);
    (!path.is_empty()).then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stores_by_url() {
        let database = |url, expect: Result<Option<&str>, _>| {
            assert_eq!(sqlite_file(url), expect.map(|path| path.map(PathBuf::from)), "{url}");
        };
        database("sqlite:", Ok(None));
        database("sqlite:a/b.db", Ok(Some("a/b.db")));
        database("sqlite:/srv/b.db", Ok(Some("/srv/b.db")));
        database("sqlite:///srv/b.db", Ok(Some("/srv/b.db")));
        database("sqlite::memory:", Err(StoreUrlError::InMemory));
        database("postgres://u:p@h/d", Err(StoreUrlError::Postgres));
        database("postgresql://h/d", Err(StoreUrlError::Postgres));
        database("mysql://h/d", Err(StoreUrlError::Database));
        database("library.sqlite", Err(StoreUrlError::Database));

        let blobs = |url, expect: Result<Option<&str>, _>| {
            assert_eq!(blob_folder(url), expect.map(|path| path.map(PathBuf::from)), "{url}");
        };
        blobs("file:", Ok(None));
        blobs("file:///srv/blobs", Ok(Some("/srv/blobs")));
        blobs("file:blobs", Ok(Some("blobs")));
        blobs("s3://bucket/prefix", Err(StoreUrlError::S3));
        blobs("/srv/blobs", Err(StoreUrlError::Blobs));
    }

    proptest! {
        #[test]
        fn a_path_is_taken_as_it_is(path in "[^/:].{0,40}") {
            prop_assert_eq!(sqlite_file(&format!("sqlite:{path}")), Ok(Some(PathBuf::from(&path))));
            prop_assert_eq!(blob_folder(&format!("file:{path}")), Ok(Some(PathBuf::from(&path))));
        }

        #[test]
        fn nothing_else_is_a_store(url in "[^sf].*|s[^q3].*|f[^i].*") {
            prop_assert!(sqlite_file(&url).is_err() && blob_folder(&url).is_err());
        }
    }
}
