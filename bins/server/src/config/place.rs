use std::path::PathBuf;

use super::StoreOptions;

/// Where a library is, as `server copy` names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlaceName {
    /// A data folder with the database and the photos.
    Folder(PathBuf),
    /// A database and a store of photos, as URLs.
    Stores { database: String, blobs: String },
}

/// Why a place is invalid. Messages do not quote it, because it may contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidPlace {
    #[error("is empty; name a data folder, or DATABASE_URL,BLOB_URL")]
    Empty,
    #[error(
        "names no store of photos; add it after a comma, such as postgres://user:password@host/database,s3://bucket/prefix"
    )]
    NoBlobs,
    #[error("must be a data folder, or DATABASE_URL,BLOB_URL")]
    Unknown,
}

const DATABASES: [&str; 3] = ["sqlite:", "postgres:", "postgresql:"];
const BLOBS: [&str; 2] = [",s3:", ",file:"];

impl PlaceName {
    pub(super) fn parse(text: &str) -> Result<Self, InvalidPlace> {
        if text.is_empty() {
            return Err(InvalidPlace::Empty);
        }
        if !DATABASES.iter().any(|scheme| text.starts_with(scheme)) {
            let is_url = text.contains("://")
                || BLOBS.iter().any(|blobs| text.starts_with(blobs.trim_start_matches(',')));
            return if is_url { Err(InvalidPlace::Unknown) } else { Ok(Self::Folder(text.into())) };
        }
        // The URL of a database may contain commas, too.
        let comma = BLOBS.iter().filter_map(|blobs| text.rfind(blobs)).max();
        match comma.and_then(|comma| text.split_at_checked(comma)) {
            Some((database, blobs)) => Ok(Self::Stores {
                database: database.to_owned(),
                blobs: blobs.trim_start_matches(',').to_owned(),
            }),
            None => Err(InvalidPlace::NoBlobs),
        }
    }

    /// Makes the settings name this place, whatever else they name.
    pub(super) fn apply(self, settings: &mut StoreOptions) {
        let (database, blobs) = match self {
            Self::Folder(folder) => {
                settings.data_dir = Some(folder);
                // URLs without a path name the stores in the data folder.
                ("sqlite:".to_owned(), "file:".to_owned())
            }
            Self::Stores { database, blobs } => (database, blobs),
        };
        settings.database_url = Some(database);
        settings.blob_url = Some(blobs);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_are_folders_or_pairs_of_urls() {
        let folder = |text: &str| assert_eq!(PlaceName::parse(text), Ok(PlaceName::Folder(text.into())));
        folder("./data");
        folder("/srv/photos, old");
        folder("s3");
        let stores = |text: &str, database: &str, blobs: &str| {
            let expected = PlaceName::Stores { database: database.to_owned(), blobs: blobs.to_owned() };
            assert_eq!(PlaceName::parse(text), Ok(expected), "{text}");
        };
        stores("postgres://u:p@h/d,s3://b/p", "postgres://u:p@h/d", "s3://b/p");
        stores("postgres://u@a,b/d?x=1,file:/srv/blobs", "postgres://u@a,b/d?x=1", "file:/srv/blobs");
        stores("sqlite:/srv/l.sqlite,s3://b", "sqlite:/srv/l.sqlite", "s3://b");
        stores("sqlite:/srv,s3:/l.sqlite,file:x", "sqlite:/srv,s3:/l.sqlite", "file:x");
        for (text, error) in [
            ("", InvalidPlace::Empty),
            ("postgres://u:p@h/d", InvalidPlace::NoBlobs),
            ("sqlite:a", InvalidPlace::NoBlobs),
            ("s3://bucket/prefix", InvalidPlace::Unknown),
            ("file:/srv/blobs", InvalidPlace::Unknown),
            ("mysql://h/d,s3://b", InvalidPlace::Unknown),
        ] {
            assert_eq!(PlaceName::parse(text), Err(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in ".*", start in 0..4_usize) {
            let start = ["", "sqlite:", "postgres://", "s3:"][start];
            let _ = PlaceName::parse(&format!("{start}{text}"));
        }

        #[test]
        fn pairs_are_split_where_they_were_joined(database in "[a-z/@:,]{0,20}", blobs in "[a-z/:]{0,20}") {
            let (database, blobs) = (format!("postgres:{database}"), format!("s3:{blobs}"));
            let parsed = PlaceName::parse(&format!("{database},{blobs}"));
            prop_assert_eq!(parsed, Ok(PlaceName::Stores { database, blobs }));
        }
    }
}
