use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// Information about a photo's file besides its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInfo {
    /// Its name. A path before the name is ignored.
    pub name: Option<String>,
    /// When it was last modified, according to the client that sent it.
    pub modified_at: Option<Timestamp>,
    /// When it was added to the library.
    pub added_at: Timestamp,
    pub sidecars: Vec<Sidecar>,
}

impl FileInfo {
    /// File information with only the import time.
    pub fn added_at(added_at: Timestamp) -> Self {
        Self { name: None, modified_at: None, added_at, sidecars: Vec::new() }
    }
}

/// A file with metadata of the photo beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sidecar {
    pub kind: SidecarKind,
    pub content: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SidecarKind {
    /// An XMP packet of an editor or photo manager (`x.jpg.xmp`, `x.xmp`).
    Xmp,
    /// JSON from a Google Takeout export (`x.jpg.supplemental-metadata.json`, `x.jpg.json`).
    Takeout,
}

impl SidecarKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Xmp, Self::Takeout];

    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Xmp => "xmp",
            Self::Takeout => "takeout",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}
