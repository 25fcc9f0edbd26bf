//! Bounds the number of uploads at once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::HttpLimits;

/// The slots for uploads. Connections of uploads are not closed for new ones, so uploads take at most half of all connections, and
/// those of one owner only some.
#[derive(Debug)]
pub struct UploadSlots {
    max: usize,
    max_per_owner: usize,
    /// The number of uploads of each owner that has any.
    taken: Mutex<HashMap<i64, usize>>,
}

/// The slot of one upload. Dropping it frees the slot.
#[derive(Debug)]
pub struct UploadSlot {
    slots: Arc<UploadSlots>,
    owner: i64,
}

impl UploadSlots {
    /// The slots within these limits.
    pub fn new(limits: &HttpLimits) -> Arc<Self> {
        let max = (limits.connections / 2).max(1);
        let max_per_owner = limits.uploads_per_owner.clamp(1, max);
        Arc::new(Self { max, max_per_owner, taken: Mutex::default() })
    }

    /// A slot for an upload of this owner; `None` while all slots that the owner may take are taken.
    pub fn take(self: &Arc<Self>, owner: i64) -> Option<UploadSlot> {
        let mut taken = self.taken();
        let of_owner = taken.get(&owner).copied().unwrap_or_default();
        if of_owner >= self.max_per_owner || taken.values().sum::<usize>() >= self.max {
            return None;
        }
        taken.insert(owner, of_owner + 1);
        Some(UploadSlot { slots: self.clone(), owner })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<i64, usize>> {
        // No change under the lock can stop half-way.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UploadSlot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken();
        let left = taken.get(&self.owner).map_or(0, |of_owner| of_owner.saturating_sub(1));
        if left == 0 {
            taken.remove(&self.owner);
        } else {
            taken.insert(self.owner, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_takes_some_slots_and_all_owners_half_of_the_connections() {
        let slots =
            UploadSlots::new(&HttpLimits { connections: 10, uploads_per_owner: 3, ..HttpLimits::default() });
        let mut of_first: Vec<_> = (0..3).map(|_| slots.take(1).unwrap()).collect();
        assert!(slots.take(1).is_none());
        let of_second = [slots.take(2).unwrap(), slots.take(2).unwrap()];
        assert!(slots.take(2).is_none() && slots.take(3).is_none());
        of_first.pop();
        let third = slots.take(3).unwrap();
        assert!(slots.take(1).is_none());
        drop((of_first, of_second, third));
        assert!(slots.taken().is_empty());
    }

    #[test]
    fn there_is_at_least_one_slot() {
        let slots = UploadSlots::new(&HttpLimits { connections: 1, ..HttpLimits::default() });
        let slot = slots.take(1).unwrap();
        assert!(slots.take(2).is_none());
        drop(slot);
        assert!(slots.take(2).is_some());
    }
}
