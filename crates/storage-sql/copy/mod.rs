//! Reads and writes whole tables, to copy a library to another store.

#[cfg(test)]
mod completeness;
mod pages;
mod rows;
mod table;
mod tables;
mod value;

use async_trait::async_trait;
use storage::{
    CopiedColumns, CopiedRow, CopiedTable, CopyStore, PageLimit, RowKey, SnapshotReceiver, StorageError,
};

#[cfg(test)]
pub(crate) use completeness::assert_complete;

use crate::{Lock, SqlStore, id_sequence, sql::text::reindex};

#[async_trait]
impl CopyStore for SqlStore {
    async fn copied_rows(
        &self,
        table: CopiedTable,
        after: Option<RowKey>,
        limit: PageLimit,
    ) -> Result<Vec<CopiedRow>, StorageError> {
        self.read(move |c| rows::read(c, table, after.as_ref(), limit)).await
    }

    fn copied_columns(&self, table: CopiedTable) -> CopiedColumns {
        let shape = rows::shape(table);
        CopiedColumns { names: shape.columns, key: shape.key_columns }
    }

    async fn read_snapshot(&self, limit: PageLimit, receiver: SnapshotReceiver) -> Result<(), StorageError> {
        self.read_at_length(move |c| rows::read_snapshot(c, limit, &*receiver)).await
    }

    async fn last_copied_key(&self, table: CopiedTable) -> Result<Option<RowKey>, StorageError> {
        self.read(move |c| rows::last_key(c, table)).await
    }

    async fn add_copied_rows(&self, table: CopiedTable, rows: Vec<CopiedRow>) -> Result<(), StorageError> {
        self.write_in_any_state(Lock::Nothing, move |c| rows::add(c, table, &rows)).await
    }

    async fn highest_id(&self, table: CopiedTable) -> Result<Option<i64>, StorageError> {
        let Some((name, column)) = rows::ids(table) else { return Ok(None) };
        self.read(move |c| id_sequence::highest(c, name, column)).await.map(Some)
    }

    async fn raise_highest_id(&self, table: CopiedTable, id: i64) -> Result<(), StorageError> {
        let Some((name, column)) = rows::ids(table) else { return Ok(()) };
        self.write_in_any_state(Lock::Nothing, move |c| id_sequence::raise(c, name, column, id)).await
    }

    async fn index_copied_words(&self, max: u32) -> Result<u32, StorageError> {
        self.write_in_any_state(Lock::Nothing, move |c| reindex(c, max)).await
    }
}
