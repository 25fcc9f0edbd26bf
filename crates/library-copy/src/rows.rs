//! Copies the rows of all tables, and compares them.

use blobs::content_hash;
use domain::ContentHash;
use storage::{CopiedRow, CopiedTable, PageLimit, RowKey, SharedStore, StorageError, Value};

use crate::{CopyError, CopyOptions, CopyProgress, Place, progress::Counter};

/// Number of images whose words are indexed at once.
const WORDS_BATCH: u32 = 200;

/// The rows of a table that both places have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedRows {
    pub table: CopiedTable,
    /// Their number.
    pub rows: u64,
    /// A hash of all values in the order of keys. It is the same for equal tables in all stores.
    pub checksum: ContentHash,
}

/// Copies the rows that the target lacks.
///
/// Rows are added in the order of their keys, page by page. So the target has all rows up to its highest key, and a later
/// run continues there.
pub(crate) async fn copy(
    from: &Place,
    to: &Place,
    options: &CopyOptions,
    progress: &mut impl FnMut(CopyProgress),
) -> Result<(), CopyError> {
    for table in CopiedTable::ALL.iter().copied() {
        let mut counter = Counter::new(progress, "copying rows", table.name());
        let mut after = to.store.last_copied_key(table).await?;
        loop {
            let rows = from.store.copied_rows(table, after, options.page).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.key());
            let number = rows.len();
            to.store.add_copied_rows(table, rows).await?;
            counter.add(number);
        }
        raise_ids_as_in(from, to, table).await?;
    }
    Ok(())
}

/// New rows of the target get higher ids than all that the source ever had, because caches and clients know those.
async fn raise_ids_as_in(from: &Place, to: &Place, table: CopiedTable) -> Result<(), StorageError> {
    let Some(assigned) = from.store.highest_id(table).await? else { return Ok(()) };
    let last = from.store.last_copied_key(table).await?;
    raise_ids(&to.store, table, assigned, last).await
}

/// Makes new rows of a table get higher ids than all that were assigned, and than the last key.
///
/// # Errors
/// The store failed.
pub async fn raise_ids(
    store: &SharedStore,
    table: CopiedTable,
    assigned: i64,
    last: Option<RowKey>,
) -> Result<(), StorageError> {
    let highest = match last.and_then(|RowKey(key)| key.into_iter().next()) {
        Some(Value::Integer(id)) => assigned.max(id),
        _ => assigned,
    };
    if highest > 0 { store.raise_highest_id(table, highest).await } else { Ok(()) }
}

/// Builds the index of words, which stores have in different forms.
///
/// # Errors
/// The store failed.
pub async fn index_words(
    store: &SharedStore,
    progress: &mut impl FnMut(CopyProgress),
) -> Result<(), StorageError> {
    let mut counter = Counter::new(progress, "indexing words", "images");
    loop {
        match store.index_copied_words(WORDS_BATCH).await? {
            0 => return Ok(()),
            images => counter.add(images as usize),
        }
    }
}

/// Compares all tables.
pub(crate) async fn compare(
    from: &Place,
    to: &Place,
    options: &CopyOptions,
    progress: &mut impl FnMut(CopyProgress),
) -> Result<Vec<CopiedRows>, CopyError> {
    let (mut equal, mut different) = (Vec::new(), Vec::new());
    for table in CopiedTable::ALL.iter().copied() {
        let mut counter = Counter::new(progress, "comparing rows", table.name());
        let original = sum(&from.store, table, options.page, |rows| counter.add(rows)).await?;
        let copy = sum(&to.store, table, options.page, |rows| counter.add(rows)).await?;
        let ids = (from.store.highest_id(table).await?, to.store.highest_id(table).await?);
        if original == copy && ids.0 <= ids.1 {
            equal.push(original);
        } else {
            different.push(table.name());
        }
    }
    if different.is_empty() { Ok(equal) } else { Err(CopyError::Differs { tables: different }) }
}

/// The checksum of a table with one more row. That of an empty table is all zeros.
pub fn chain_checksum(checksum: ContentHash, row: &CopiedRow, buffer: &mut Vec<u8>) -> ContentHash {
    buffer.clear();
    buffer.extend(checksum.as_bytes());
    row.write_canonical(buffer);
    content_hash(buffer)
}

/// Counts the rows of a table, and hashes them.
///
/// # Errors
/// The store failed.
pub async fn sum(
    store: &SharedStore,
    table: CopiedTable,
    page: PageLimit,
    mut counted: impl FnMut(usize),
) -> Result<CopiedRows, StorageError> {
    let (mut after, mut number, mut checksum) = (None, 0, ContentHash::new([0; 32]));
    let mut form = Vec::new();
    loop {
        let rows = store.copied_rows(table, after, page).await?;
        let Some(last) = rows.last() else { return Ok(CopiedRows { table, rows: number, checksum }) };
        after = Some(last.key());
        for row in &rows {
            checksum = chain_checksum(checksum, row, &mut form);
        }
        number += rows.len() as u64;
        counted(rows.len());
    }
}
