use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    mem::replace,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::OwnedMutexGuard;

use crate::{Error, Index, Row, RowId};

/// The approximate memory of an index without rows.
const EMPTY_BYTES: usize = 500;
/// While an index grows, its size in the cache is updated after this many bytes.
const STEP_BYTES: usize = 4 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndexKey {
    /// The id of the account in the store.
    pub account: i64,
    /// The id of the encoder in the store.
    pub encoder: i64,
}

/// An LRU cache of indexes with a memory budget. Clones share it.
///
/// An index with a writer, or with a task that waits to write, is not evicted, whatever its size. So an index that exceeds the
/// budget stays until another index is used. The budget does not include snapshots of evicted indexes.
#[derive(Clone)]
pub struct Cache {
    budget_bytes: usize,
    entries: Arc<Mutex<Entries>>,
}

#[derive(Default)]
struct Entries {
    by_key: HashMap<IndexKey, Entry>,
    /// The sum of the entries' sizes.
    bytes: usize,
    /// The keys in the order of their last use.
    by_use: BTreeMap<u64, IndexKey>,
    /// The number of uses so far.
    uses: u64,
}

struct Entry {
    index: Arc<tokio::sync::Mutex<Index>>,
    /// The size of the index at its last update.
    bytes: usize,
    /// The number of its last use.
    used: u64,
}

impl Entry {
    /// Whether the index has a writer or a task that waits to write.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.index) > 1
    }
}

impl Cache {
    /// Creates an empty cache with this memory budget.
    pub fn new(budget_bytes: usize) -> Self {
        Self { budget_bytes, entries: Arc::default() }
    }

    /// Opens the index of a key to append new rows. The index is empty if it is not cached, or if it was cached with
    /// another number of dimensions. Waits, in the order of the calls, while the index has another writer.
    ///
    /// Appended rows stay in the cache even if the calling future is dropped.
    pub async fn fill(&self, key: IndexKey, dimensions: usize) -> IndexWriter {
        let index = self.index(key, dimensions);
        let mut index = index.lock_owned().await;
        if index.dimensions() != dimensions {
            *index = Index::new(dimensions);
        }
        let cached_bytes = index.bytes();
        IndexWriter { index, key, cache: self.clone(), cached_bytes }
    }

    fn index(&self, key: IndexKey, dimensions: usize) -> Arc<tokio::sync::Mutex<Index>> {
        let mut entries = self.lock();
        entries.uses += 1;
        let used = entries.uses;
        let before = entries.by_key.get_mut(&key).map(|entry| replace(&mut entry.used, used));
        if let Some(before) = before {
            entries.by_use.remove(&before);
        }
        entries.by_use.insert(used, key);
        if let Some(entry) = entries.by_key.get(&key) {
            return entry.index.clone();
        }
        let index = Arc::new(tokio::sync::Mutex::new(Index::new(dimensions)));
        entries.bytes += EMPTY_BYTES;
        entries.by_key.insert(key, Entry { index: index.clone(), bytes: EMPTY_BYTES, used });
        index
    }

    pub fn len(&self) -> usize {
        self.lock().by_key.len()
    }

    /// Whether there are no indexes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory of all indexes in bytes, approximate while some have writers.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Updates the size of an index, and evicts others if the budget is exceeded.
    fn resize(&self, key: IndexKey, bytes: usize) {
        let mut entries = self.lock();
        // Only a writer calls this, and an index with a writer is never evicted, so the entry exists.
        let Some(entry) = entries.by_key.get_mut(&key) else { return };
        let before = replace(&mut entry.bytes, bytes);
        entries.bytes = entries.bytes - before + bytes;
        let evicted = entries.evict(self.budget_bytes, key);
        drop(entries);
        // Freed after the lock is released, because it takes time.
        drop(evicted);
    }

    /// Ignores poisoning, because a panic under the lock leaves the entries consistent.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn remove(&mut self, key: IndexKey) -> Option<Entry> {
        let entry = self.by_key.remove(&key)?;
        self.by_use.remove(&entry.used);
        self.bytes -= entry.bytes;
        Some(entry)
    }

    /// Removes the least recently used entries until the rest is within the budget or in use.
    fn evict(&mut self, budget_bytes: usize, keep: IndexKey) -> Vec<Entry> {
        let mut evicted = Vec::new();
        while self.bytes > budget_bytes {
            let is_idle = |key: &&IndexKey| {
                **key != keep && self.by_key.get(key).is_some_and(|entry| !entry.is_in_use())
            };
            let Some(oldest) = self.by_use.values().find(is_idle).copied() else { break };
            evicted.extend(self.remove(oldest));
        }
        evicted
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("budget_bytes", &self.budget_bytes)
            .field("len", &self.len())
            .field("bytes", &self.bytes())
            .finish()
    }
}

/// The exclusive writer of an index. It is `Send`, so that vectors can be quantized on a blocking thread.
#[must_use = "its index is reserved until it is dropped"]
pub struct IndexWriter {
    index: OwnedMutexGuard<Index>,
    key: IndexKey,
    cache: Cache,
    /// The size of the index in the cache.
    cached_bytes: usize,
}

impl IndexWriter {
    /// The id of the last row. The caller appends the store's rows after it.
    pub fn last(&self) -> Option<RowId> {
        self.index.last()
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Appends a vector: [`Index::push`].
    ///
    /// # Errors
    /// [`Error`]; nothing is appended.
    pub fn push(&mut self, row: Row, vector: &[f32]) -> Result<(), Error> {
        self.index.push(row, vector)?;
        self.resize_after_growth();
        Ok(())
    }

    /// Appends a vector in its [stored form](crate::encode_f16): [`Index::push_f16`].
    ///
    /// # Errors
    /// [`Error`]; nothing is appended.
    pub fn push_f16(&mut self, row: Row, bytes: &[u8]) -> Result<(), Error> {
        self.index.push_f16(row, bytes)?;
        self.resize_after_growth();
        Ok(())
    }

    /// Appends the rows of another index: [`Index::append`].
    ///
    /// # Errors
    /// [`Error`]; nothing is appended.
    pub fn append(&mut self, other: Index) -> Result<(), Error> {
        self.index.append(other)?;
        self.resize_after_growth();
        Ok(())
    }

    /// Removes all rows, to read them again without those that were deleted from the store.
    pub fn restart(&mut self) {
        *self.index = Index::new(self.index.dimensions());
        self.resize();
    }

    /// Releases the index to other writers and returns a snapshot to search in.
    pub fn publish(self) -> Index {
        self.index.clone()
    }

    /// Updates the size in the cache after a large change.
    fn resize_after_growth(&mut self) {
        if self.index.bytes().abs_diff(self.cached_bytes) > STEP_BYTES {
            self.resize();
        }
    }

    fn resize(&mut self) {
        self.cached_bytes = self.index.bytes();
        self.cache.resize(self.key, EMPTY_BYTES + self.cached_bytes);
    }
}

impl Drop for IndexWriter {
    fn drop(&mut self) {
        self.resize();
    }
}

impl fmt::Debug for IndexWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexWriter").field("key", &self.key).field("index", &*self.index).finish()
    }
}
