//! The register of blobs among the rows.

use domain::ContentHash;
use storage::{BlobKind, BlobRef, CopiedRow, CopiedTable, Value};

use crate::{RowsError, TableHeader};

/// The state of blobs that something refers to. Files of blobs in other states may be missing.
const KEPT: &str = "kept";

/// Finds the blobs that a library needs among the rows of a table.
#[derive(Debug, Default)]
pub(crate) struct BlobRows {
    columns: Option<Columns>,
    last: Option<(BlobKind, ContentHash)>,
}

#[derive(Debug, Clone, Copy)]
struct Columns {
    kind: usize,
    hash: usize,
    bytes: usize,
    state: usize,
}

impl BlobRows {
    /// A table begins.
    pub(crate) fn table(&mut self, header: &TableHeader) -> Result<(), RowsError> {
        self.columns = None;
        if header.name == CopiedTable::Blobs.name() {
            let column = |name: &str| {
                let found = header.columns.iter().position(|column| column == name);
                found.ok_or_else(|| damaged("a column is missing"))
            };
            self.columns = Some(Columns {
                kind: column("kind")?,
                hash: column("hash")?,
                bytes: column("bytes")?,
                state: column("state")?,
            });
        }
        Ok(())
    }

    /// The blob of a row; `None` for a row of another table, and for a blob that nothing refers to. Blobs come in the order
    /// of kind and hash.
    pub(crate) fn row(&mut self, row: &CopiedRow) -> Result<Option<BlobRef>, RowsError> {
        let Some(columns) = self.columns else { return Ok(None) };
        let value = |column: usize| row.values.get(column);
        let (
            Some(Value::Text(kind)),
            Some(Value::Bytes(hash)),
            Some(Value::Integer(bytes)),
            Some(Value::Text(state)),
        ) = (value(columns.kind), value(columns.hash), value(columns.bytes), value(columns.state))
        else {
            return Err(damaged("a blob is unreadable"));
        };
        let (Some(kind), Some(hash), Ok(bytes)) =
            (BlobKind::from_name(kind), ContentHash::from_slice(hash), u64::try_from(*bytes))
        else {
            return Err(damaged("a blob is unreadable"));
        };
        if self.last.is_some_and(|(last_kind, last)| (last_kind.as_str(), last) >= (kind.as_str(), hash)) {
            return Err(damaged("blobs are out of order"));
        }
        self.last = Some((kind, hash));
        Ok((state == KEPT).then_some(BlobRef { kind, hash, bytes }))
    }
}

fn damaged(reason: &'static str) -> RowsError {
    RowsError::Damaged { table: CopiedTable::Blobs.name().to_owned(), reason }
}
