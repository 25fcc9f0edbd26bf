use std::{ops::ControlFlow, sync::Arc};

use async_trait::async_trait;

use crate::StorageError;

/// A value of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Whether something is so.
    Boolean(bool),
    Text(String),
    Bytes(Vec<u8>),
}

impl Value {
    /// Appends the canonical form: a tag, the length if it varies, and the bytes. Different values have different forms, and
    /// none is the beginning of another.
    pub fn write_canonical(&self, out: &mut Vec<u8>) {
        let mut sized = |tag: u8, bytes: &[u8]| {
            out.push(tag);
            out.extend((bytes.len() as u64).to_le_bytes());
            out.extend(bytes);
        };
        match self {
            Self::Text(text) => sized(b't', text.as_bytes()),
            Self::Bytes(bytes) => sized(b'b', bytes),
            Self::Null => out.push(b'0'),
            Self::Integer(number) => {
                out.push(b'i');
                out.extend(number.to_le_bytes());
            }
            Self::Real(number) => {
                out.push(b'r');
                // SQLite stores -0.0 as 0.
                out.extend((number + 0.0).to_bits().to_le_bytes());
            }
            Self::Boolean(is) => out.extend([b'f', u8::from(*is)]),
        }
    }
}

/// The key of a row: the values of the columns that order its table.
#[derive(Debug, Clone, PartialEq)]
pub struct RowKey(pub Vec<Value>);

/// A row of a table: the values of all columns that are not computed. Those of the key come first.
#[derive(Debug, Clone, PartialEq)]
pub struct CopiedRow {
    /// How many of the values are the key.
    pub key_columns: usize,
    /// The values, in an order that is the same in all adapters.
    pub values: Vec<Value>,
}

impl CopiedRow {
    pub fn key(&self) -> RowKey {
        RowKey(self.values.iter().take(self.key_columns).cloned().collect())
    }

    /// Appends the canonical form of the row, which is the same in all adapters.
    pub fn write_canonical(&self, out: &mut Vec<u8>) {
        for value in &self.values {
            value.write_canonical(out);
        }
    }
}

/// The size of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimit {
    /// Maximum number of rows.
    pub rows: u32,
    /// Approximate maximum length of the long values. A longer row is a page of its own.
    pub bytes: u64,
}

macro_rules! copied_tables {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        /// The tables that make up a library.
        ///
        /// Two kinds of tables are left out. The indexes of words and places are derived: places are indexed together
        /// with their images, and words by [`CopyStore::index_copied_words`]. Roles are held by processes that use the
        /// store.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CopiedTable {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl CopiedTable {
            /// All tables in an order in which each refers only to rows of earlier ones.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name, for messages.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|table| table.name() == name)
            }
        }
    };
}

copied_tables! {
    Accounts = "accounts",
    ApiKeys = "api_keys",
    Sessions = "sessions",
    SignInAttempts = "sign_in_attempts",
    SigningKeys = "signing_keys",
    OauthClients = "oauth_clients",
    OauthGrants = "oauth_grants",
    GrantEdits = "grant_edits",
    OauthAssertions = "oauth_assertions",
    SetupLinks = "setup_links",
    SecurityEvents = "security_events",
    Blobs = "blobs",
    Images = "images",
    Renditions = "renditions",
    Sidecars = "sidecars",
    ImageEdits = "image_edits",
    ImageMarks = "image_marks",
    CameraSettings = "camera_settings",
    Facets = "facets",
    ImageFacets = "image_facets",
    Edits = "edits",
    EditedImages = "edited_images",
    DismissedProblems = "dismissed_problems",
    IndexJobs = "index_jobs",
    RenditionJobs = "rendition_jobs",
    Albums = "albums",
    AlbumImages = "album_images",
    Stages = "stages",
    StageJobs = "stage_jobs",
    StageFailures = "stage_failures",
    TimelineMonths = "timeline_months",
    Encoders = "encoders",
    ImageVectors = "image_vectors",
    Files = "files",
    // The parents of files whose parent has a higher id. They are set when all files exist.
    FileParents = "files.parent_id",
    FileLocks = "file_locks",
    Uploads = "uploads",
    UploadParts = "upload_parts",
    LoginFlows = "login_flows",
    WatchedFiles = "watched_files",
}

/// The columns of a table, in an order that is the same in all adapters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedColumns {
    pub names: Vec<&'static str>,
    /// How many of them are the key.
    pub key: usize,
}

/// A part of a snapshot of all tables.
#[derive(Debug, Clone, PartialEq)]
pub enum SnapshotPart {
    /// A snapshot begins. It begins again if the connection to the store was lost; earlier parts then do not count.
    Begin,
    /// A table begins. The tables come in the order of [`CopiedTable::ALL`].
    Table {
        table: CopiedTable,
        /// The highest id that was ever given to a row of the table; `None` if its rows have no such ids.
        highest_id: Option<i64>,
    },
    /// Rows of the table, in the order of keys.
    Rows(Vec<CopiedRow>),
}

/// Receives the parts of a snapshot on a blocking thread, and may end the snapshot early.
pub type SnapshotReceiver = Arc<dyn Fn(SnapshotPart) -> ControlFlow<()> + Send + Sync>;

/// Reads and writes whole tables, to copy a library to another store.
///
/// All writes here also work while the library is not [open](crate::LibraryState::is_open), and only the process that
/// copies makes them.
#[async_trait]
pub trait CopyStore: Send + Sync + 'static {
    /// The rows after a key, in the order of keys, which is the same in all adapters. No rows are left if there are none.
    async fn copied_rows(
        &self,
        table: CopiedTable,
        after: Option<RowKey>,
        limit: PageLimit,
    ) -> Result<Vec<CopiedRow>, StorageError>;

    fn copied_columns(&self, table: CopiedTable) -> CopiedColumns;

    /// Reads all tables in one snapshot, in pages, while others read and write. It takes as long as the receiver needs.
    async fn read_snapshot(&self, limit: PageLimit, receiver: SnapshotReceiver) -> Result<(), StorageError>;

    /// The highest key; `None` if the table is empty.
    async fn last_copied_key(&self, table: CopiedTable) -> Result<Option<RowKey>, StorageError>;

    /// Adds rows, and the places of images to their index, all or nothing. Rows that exist are left as they are.
    async fn add_copied_rows(&self, table: CopiedTable, rows: Vec<CopiedRow>) -> Result<(), StorageError>;

    /// The highest id that was ever given to a row of the table; `None` if its rows have no such ids. The next row gets a
    /// higher one.
    async fn highest_id(&self, table: CopiedTable) -> Result<Option<i64>, StorageError>;

    /// Makes the next row get a higher id than this one.
    async fn raise_highest_id(&self, table: CopiedTable, id: i64) -> Result<(), StorageError>;

    /// Adds the words of up to `max` images to the index after all images were copied; returns their number, 0 when none is
    /// left. It resumes where it stopped.
    async fn index_copied_words(&self, max: u32) -> Result<u32, StorageError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(values: Vec<Value>) -> Vec<u8> {
        let mut out = Vec::new();
        CopiedRow { key_columns: 1, values }.write_canonical(&mut out);
        out
    }

    #[test]
    fn different_rows_have_different_canonical_forms() {
        let text = |text: &str| Value::Text(text.to_owned());
        let rows = [
            vec![],
            vec![Value::Null],
            vec![Value::Null, Value::Null],
            vec![Value::Integer(0)],
            vec![Value::Boolean(false)],
            vec![Value::Boolean(true)],
            vec![Value::Real(0.0)],
            vec![Value::Real(f64::MIN_POSITIVE)],
            vec![text("")],
            vec![text("ab")],
            vec![text("a"), text("b")],
            vec![text("b"), text("a")],
            vec![Value::Bytes(b"ab".to_vec())],
        ];
        let mut forms: Vec<_> = rows.iter().map(|row| canonical(row.clone())).collect();
        forms.sort();
        forms.dedup();
        assert_eq!(forms.len(), rows.len());
        assert_eq!(canonical(vec![Value::Real(-0.0)]), canonical(vec![Value::Real(0.0)]));
    }
}
