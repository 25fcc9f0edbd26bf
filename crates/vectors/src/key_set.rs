/// A set of image ids with a fast membership test.
///
/// Dense ids, such as those of an account or an album, are stored as a bitmap. Other ids are stored in a sorted list
/// behind a hashed bitmap (a Bloom filter with one hash), which rejects most other ids.
#[derive(Clone, Default)]
pub struct KeySet {
    /// All ids in ascending order; empty if `bits` is exact.
    keys: Vec<i64>,
    /// Exact: one bit for each id from `first` to `last`. Hashed: a power of two of bits.
    bits: Vec<u64>,
    first: i64,
    last: i64,
    len: usize,
}

impl KeySet {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the set contains an id.
    pub fn contains(&self, key: i64) -> bool {
        if key < self.first || key > self.last || self.len == 0 {
            return false;
        }
        let place = place(key, self.first, self.bits.len());
        let word = self.bits.get(place / 64).copied().unwrap_or(0);
        word >> (place % 64) & 1 == 1 && (self.keys.is_empty() || self.keys.binary_search(&key).is_ok())
    }

    /// The ids from `first` to `last`, both included, in ascending order.
    pub(crate) fn between(&self, first: i64, last: i64) -> impl Iterator<Item = i64> + '_ {
        let first = first.max(self.first);
        let within = move |key: &i64| (first..=last.min(self.last)).contains(key);
        let start = self.keys.partition_point(|key| *key < first);
        let keys = self.keys.iter().skip(start).copied().take_while(within);
        // Without keys, the bitmap is exact.
        let words = if self.keys.is_empty() { self.bits.as_slice() } else { &[] };
        let start = usize::try_from(first.abs_diff(self.first) / 64).unwrap_or(usize::MAX);
        let beginning = move |word: usize| {
            self.first.checked_add(i64::try_from(word).ok()?.checked_mul(64)?).filter(|key| *key <= last)
        };
        let words = words.iter().enumerate().skip(start);
        let words = words.map_while(move |(word, bits)| Some((beginning(word)?, *bits)));
        let bits = words.flat_map(|(beginning, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).filter_map(move |bit| beginning.checked_add(bit))
        });
        keys.chain(bits.filter(within))
    }
}

/// The position of the bit of an id.
fn place(key: i64, first: i64, words: usize) -> usize {
    let distance = key.abs_diff(first);
    // A bitmap that is smaller than the span has a power of two of words, so that the mask wraps around.
    let bits = (words as u64).saturating_mul(64);
    let place = if distance < bits { distance } else { distance & (bits - 1) };
    usize::try_from(place).unwrap_or(0)
}

impl FromIterator<i64> for KeySet {
    fn from_iter<T: IntoIterator<Item = i64>>(keys: T) -> Self {
        let mut keys: Vec<i64> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else { return Self::default() };
        let len = keys.len();
        let span_words = usize::try_from(last.abs_diff(first) / 64).unwrap_or(usize::MAX).saturating_add(1);
        // The list takes 8 bytes and the bitmap at least 32 bits for each id. An exact bitmap may be four times as
        // large as the hashed one.
        let words = (len / 2 + 1).next_power_of_two().max(1024);
        let exact = span_words <= words.saturating_mul(4);
        let mut bits = vec![0_u64; if exact { span_words } else { words }];
        let words = bits.len();
        for key in &keys {
            let place = place(*key, first, words);
            if let Some(word) = bits.get_mut(place / 64) {
                *word |= 1 << (place % 64);
            }
        }
        let keys = if exact { Vec::new() } else { keys };
        Self { keys, bits, first, last, len }
    }
}

impl std::fmt::Debug for KeySet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} keys", self.len)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn extreme_ids_are_supported() {
        let none = KeySet::default();
        assert!(none.is_empty() && !none.contains(0));
        let set: KeySet = [i64::MIN, -1, 0, 5, i64::MAX, 5].into_iter().collect();
        assert_eq!(set.len(), 5);
        for key in [i64::MIN, -1, 0, 5, i64::MAX] {
            assert!(set.contains(key), "{key}");
        }
        for key in [i64::MIN + 1, -2, 1, 4, 6, i64::MAX - 1, i64::MIN + 4096] {
            assert!(!set.contains(key), "{key}");
        }
    }

    #[test]
    fn memory_is_bounded_by_the_count() {
        let size = |keys: &KeySet| keys.keys.len() * 8 + keys.bits.len() * 8;
        let dense: KeySet = (1_000_000..2_000_000).collect();
        assert!(size(&dense) <= 125_008, "{}", size(&dense));
        let sparse: KeySet = (0..10_000).map(|number| number * 1_000_003).collect();
        assert!(size(&sparse) <= 10_000 * 16, "{}", size(&sparse));
    }

    proptest! {
        #[test]
        fn set_equals_a_btree_set(
            keys in prop::collection::vec(prop_oneof![-300_i64..300, 0_i64..1_000_000, any::<i64>()], 0..200),
            others in prop::collection::vec(prop_oneof![-300_i64..300, any::<i64>()], 0..200),
        ) {
            let set: KeySet = keys.iter().copied().collect();
            let expect: BTreeSet<i64> = keys.iter().copied().collect();
            prop_assert_eq!(set.len(), expect.len());
            for key in keys.iter().chain(&others) {
                prop_assert_eq!(set.contains(*key), expect.contains(key), "{}", key);
            }
            let ends = [i64::MIN, i64::MAX].iter().chain(keys.iter().take(5)).chain(others.iter().take(5));
            for (first, last) in ends.clone().flat_map(|first| ends.clone().map(move |last| (*first, *last))) {
                let between: Vec<i64> = expect.iter().copied().filter(|key| (first..=last).contains(key)).collect();
                prop_assert_eq!(set.between(first, last).collect::<Vec<_>>(), between, "{} {}", first, last);
            }
        }
    }
}
