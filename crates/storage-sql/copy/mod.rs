//! Reads and writes whole tables, to copy a library to another store.

#[cfg(test)]
mod completeness;
mod pages;
mod rows;
mod shape;

use storage::{
    CopiedColumns, CopiedRow, CopiedTable, CopyStore, PageLimit, RowKey, SnapshotReceiver, StorageError,
};

#[cfg(test)]
pub(crate) use completeness::assert_complete;

use crate::{Lock, id_sequence, sql::text::reindex};
use shape::Shape;

operations! {
    impl CopyStore {
        read copied_rows(table: CopiedTable, after: Option<RowKey>, limit: PageLimit) -> Vec<CopiedRow> {
            |c| rows::read(c, table, after.as_ref(), limit)
        }
        read_at_length read_snapshot(limit: PageLimit, receiver: SnapshotReceiver) -> () {
            |c| rows::read_snapshot(c, limit, &*receiver)
        }
        read last_copied_key(table: CopiedTable) -> Option<RowKey> = rows::last_key;
        write_in_any_state(Lock::Nothing) add_copied_rows(
            table: CopiedTable, rows: Vec<CopiedRow> as ref
        ) -> () = rows::add;
        write_in_any_state(Lock::Nothing) index_copied_words(max: u32) -> u32 = reindex;
    }
    by hand {
        fn copied_columns(&self, table: CopiedTable) -> CopiedColumns {
            let shape = Shape::of(table);
            CopiedColumns { names: shape.names(), key: shape.key_columns }
        }

        async fn highest_id(&self, table: CopiedTable) -> Result<Option<i64>, StorageError> {
            let Some((name, column)) = rows::ids(table) else { return Ok(None) };
            self.read(move |c| id_sequence::highest(c, name, column)).await.map(Some)
        }

        async fn raise_highest_id(&self, table: CopiedTable, id: i64) -> Result<(), StorageError> {
            let Some((name, column)) = rows::ids(table) else { return Ok(()) };
            self.write_in_any_state(Lock::Nothing, move |c| id_sequence::raise(c, name, column, id)).await
        }
    }
}
