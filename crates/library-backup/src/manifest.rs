//! `backup.json`.

use domain::{BlobKind, ContentHash};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::file_sum::{FileSum, Hex, sum_of};

/// The format that this program writes, and the only one so far.
pub(crate) const FORMAT: u32 = 1;
/// The longest manifest that is read.
pub(crate) const MAX_BYTES: u64 = 16 << 20;
/// The longest id.
const MAX_ID_CHARS: usize = 64;

/// The rows of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSum {
    pub name: String,
    /// The number of rows.
    pub rows: u64,
    /// The same checksum as [`library_copy::sum`] computes from a store.
    pub checksum: Hex,
}

/// The blobs of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobCount {
    pub files: u64,
    /// Their length.
    pub bytes: u64,
}

/// A blob that the library had lost before the backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LostBlob {
    /// Whether it is an original or a rendition.
    #[serde(serialize_with = "serialize_kind", deserialize_with = "deserialize_kind")]
    pub kind: BlobKind,
    /// Its address.
    pub sha256: Hex,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn serialize_kind<S: Serializer>(kind: &BlobKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

fn deserialize_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BlobKind, D::Error> {
    let name = String::deserialize(deserializer)?;
    BlobKind::from_name(&name).ok_or_else(|| D::Error::custom("an unknown kind of blob"))
}

/// What a backup consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format of the backup.
    pub format: u32,
    /// The version of the program that made it.
    pub program: String,
    /// The id of the backup, which is part of its file names.
    pub id: String,
    /// When its rows were read, in ISO 8601.
    pub taken_at: String,
    /// The migrations that were applied to the metadata store.
    pub migrations: Vec<String>,
    pub rows: FileSum,
    pub secret: FileSum,
    pub tables: Vec<TableSum>,
    pub originals: BlobCount,
    pub renditions: BlobCount,
    /// The blobs that the backup does not have, because the library had lost them.
    pub lost: Vec<LostBlob>,
    /// The SHA-256 of this manifest with a checksum of zeros.
    pub checksum: Hex,
}

/// Why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It is not JSON, or members are missing, unknown or of another type.
    #[error("it is damaged: {0}")]
    Syntax(#[from] serde_json::Error),
    #[error("it is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// It has another format.
    #[error("it has format {0}, which this program does not know; use a newer version")]
    Format(u32),
    /// The id cannot be part of a file name.
    #[error("it is damaged: the id is invalid")]
    Id,
    /// The checksum differs.
    #[error("it is damaged: its checksum differs")]
    Checksum,
}

/// The member that all formats have.
#[derive(Deserialize)]
struct AnyFormat {
    format: u32,
}

impl Manifest {
    /// Reads a manifest.
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        let AnyFormat { format } = serde_json::from_slice(bytes)?;
        if format != FORMAT {
            return Err(ManifestError::Format(format));
        }
        let manifest: Self = serde_json::from_slice(bytes)?;
        let is_name = |id: &str| {
            (1..=MAX_ID_CHARS).contains(&id.len())
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        };
        if !is_name(&manifest.id) {
            return Err(ManifestError::Id);
        }
        if manifest.own_checksum()? != manifest.checksum {
            return Err(ManifestError::Checksum);
        }
        Ok(manifest)
    }

    /// The manifest as JSON, with its checksum.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn to_json(&self) -> Result<Vec<u8>, ManifestError> {
        let mut json = serde_json::to_vec_pretty(&Self { checksum: self.own_checksum()?, ..self.clone() })?;
        json.push(b'\n');
        Ok(json)
    }

    fn own_checksum(&self) -> Result<Hex, ManifestError> {
        let without = Self { checksum: Hex(ContentHash::new([0; 32])), ..self.clone() };
        Ok(sum_of(&serde_json::to_vec(&without)?).sha256)
    }

    /// The name of the file with the rows.
    pub fn rows_file(&self) -> String {
        rows_file(&self.id)
    }

    /// The name of the file with the secret.
    pub fn secret_file(&self) -> String {
        secret_file(&self.id)
    }
}

pub(crate) const ROWS_PREFIX: &str = "rows-";
pub(crate) const SECRET_PREFIX: &str = "secret-";

pub(crate) fn rows_file(id: &str) -> String {
    format!("{ROWS_PREFIX}{id}")
}

pub(crate) fn secret_file(id: &str) -> String {
    format!("{SECRET_PREFIX}{id}")
}
