use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    mem::replace,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::OwnedMutexGuard;

use crate::{Error, Index, Row, RowId};

/// What an index takes that has no rows, roughly.
const EMPTY_BYTES: usize = 500;
/// While an index grows, it is weighed again after so many bytes.
const STEP_BYTES: usize = 4 << 20;

/// What an index is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndexKey {
    /// The store's number of the account.
    pub account: i64,
    /// The store's number of the encoder.
    pub encoder: i64,
}

/// Indexes within a budget of memory; those that were not used for longest go first. A clone is the same cache.
///
/// What a search is filling or waits to fill stays, whatever its size, so that an account beyond the budget is kept alone
/// until another is searched. Snapshots that searches still read count no longer once their index is gone.
#[derive(Clone)]
pub struct Cache {
    budget_bytes: usize,
    shelf: Arc<Mutex<Shelf>>,
}

#[derive(Default)]
struct Shelf {
    slots: HashMap<IndexKey, Slot>,
    /// What they were weighed at, together.
    bytes: usize,
    /// Their keys in the order of their latest use.
    order: BTreeMap<u64, IndexKey>,
    /// Counts uses.
    uses: u64,
}

struct Slot {
    index: Arc<tokio::sync::Mutex<Index>>,
    /// What the index took when it was weighed last.
    bytes: usize,
    /// Its latest use.
    used: u64,
}

impl Slot {
    /// Whether somebody is filling it or waits to.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.index) > 1
    }
}

impl Cache {
    /// An empty one that keeps up to so many bytes.
    pub fn new(budget_bytes: usize) -> Self {
        Self { budget_bytes, shelf: Arc::default() }
    }

    /// The index of a key, to append to it what was stored meanwhile: an empty one when it is not here, or is here for
    /// vectors of other dimensions. While somebody else fills it, this waits, first come first served.
    ///
    /// What has been appended stays when the future that does it is dropped half-way.
    pub async fn fill(&self, key: IndexKey, dimensions: usize) -> IndexWriter {
        let index = self.slot(key, dimensions);
        let mut index = index.lock_owned().await;
        if index.dimensions() != dimensions {
            *index = Index::new(dimensions);
        }
        let weighed = index.bytes();
        IndexWriter { index, key, cache: self.clone(), weighed }
    }

    fn slot(&self, key: IndexKey, dimensions: usize) -> Arc<tokio::sync::Mutex<Index>> {
        let mut shelf = self.lock();
        shelf.uses += 1;
        let used = shelf.uses;
        let before = shelf.slots.get_mut(&key).map(|slot| replace(&mut slot.used, used));
        if let Some(before) = before {
            shelf.order.remove(&before);
        }
        shelf.order.insert(used, key);
        if let Some(slot) = shelf.slots.get(&key) {
            return slot.index.clone();
        }
        let index = Arc::new(tokio::sync::Mutex::new(Index::new(dimensions)));
        shelf.bytes += EMPTY_BYTES;
        shelf.slots.insert(key, Slot { index: index.clone(), bytes: EMPTY_BYTES, used });
        index
    }

    /// Forgets an index. Who is filling it finishes for itself.
    pub fn clear(&self, key: IndexKey) {
        let gone = self.lock().remove(key);
        drop(gone);
    }

    /// How many indexes there are.
    pub fn len(&self) -> usize {
        self.lock().slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory that all of them take, as far as it is known of those that are being filled.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Notes what an index takes by now, and lets others go for it.
    fn weigh(&self, key: IndexKey, index: &Arc<tokio::sync::Mutex<Index>>, bytes: usize) {
        let mut shelf = self.lock();
        match shelf.slots.get_mut(&key) {
            Some(slot) if Arc::ptr_eq(&slot.index, index) => {
                let before = replace(&mut slot.bytes, bytes);
                shelf.bytes = shelf.bytes - before + bytes;
            }
            // It was cleared: it is no longer the cache's.
            _ => return,
        }
        let gone = shelf.make_room(self.budget_bytes, key);
        drop(shelf);
        // To free much takes time, in which others can go on.
        drop(gone);
    }

    /// Whoever panicked while holding this left nothing half done.
    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn remove(&mut self, key: IndexKey) -> Option<Slot> {
        let slot = self.slots.remove(&key)?;
        self.order.remove(&slot.used);
        self.bytes -= slot.bytes;
        Some(slot)
    }

    /// Takes out what was not used for longest until the rest is within the budget or in use.
    fn make_room(&mut self, budget_bytes: usize, keep: IndexKey) -> Vec<Slot> {
        let mut gone = Vec::new();
        while self.bytes > budget_bytes {
            let idle =
                |key: &&IndexKey| **key != keep && self.slots.get(key).is_some_and(|slot| !slot.is_in_use());
            let Some(oldest) = self.order.values().find(idle).copied() else { break };
            gone.extend(self.remove(oldest));
        }
        gone
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

/// The only one who fills an index. It can be sent to another thread, where rounding many vectors disturbs nobody.
#[must_use = "its index is reserved until it is dropped"]
pub struct IndexWriter {
    index: OwnedMutexGuard<Index>,
    key: IndexKey,
    cache: Cache,
    /// What the cache knows that it takes.
    weighed: usize,
}

impl IndexWriter {
    /// The last vector that is here: what the store has after it is to be appended.
    pub fn last(&self) -> Option<RowId> {
        self.index.last()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Appends a vector: [`Index::push`].
    ///
    /// # Errors
    /// [`Error`]; then nothing is appended.
    pub fn push(&mut self, row: Row, vector: &[f32]) -> Result<(), Error> {
        self.index.push(row, vector)?;
        self.weigh_growth();
        Ok(())
    }

    /// Appends a vector [as it is stored](crate::encode_f16): [`Index::push_f16`].
    ///
    /// # Errors
    /// [`Error`]; then nothing is appended.
    pub fn push_f16(&mut self, row: Row, bytes: &[u8]) -> Result<(), Error> {
        self.index.push_f16(row, bytes)?;
        self.weigh_growth();
        Ok(())
    }

    /// Takes all rows out, because too many of them are gone from the store.
    pub fn restart(&mut self) {
        *self.index = Index::new(self.index.dimensions());
        self.weigh();
    }

    /// The index as it is now, to search in; others can fill it again.
    pub fn publish(self) -> Index {
        self.index.clone()
    }

    /// Tells the cache what the index takes, when that changed by much.
    fn weigh_growth(&mut self) {
        if self.index.bytes().abs_diff(self.weighed) > STEP_BYTES {
            self.weigh();
        }
    }

    fn weigh(&mut self) {
        self.weighed = self.index.bytes();
        self.cache.weigh(self.key, OwnedMutexGuard::mutex(&self.index), EMPTY_BYTES + self.weighed);
    }
}

impl Drop for IndexWriter {
    fn drop(&mut self) {
        self.weigh();
    }
}

impl fmt::Debug for IndexWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filling").field("key", &self.key).field("index", &*self.index).finish()
    }
}
