//! Union-find.

/// Disjoint sets of indices. The smallest index of a set represents it.
#[derive(Debug)]
pub(crate) struct UnionFind(Vec<usize>);

impl UnionFind {
    /// `count` sets of one index each.
    pub(crate) fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The representative of an index.
    pub(crate) fn find(&mut self, mut index: usize) -> usize {
        while let Some(&parent) = self.0.get(index)
            && parent != index
        {
            // Path halving.
            let grandparent = self.0.get(parent).copied().unwrap_or(parent);
            if let Some(slot) = self.0.get_mut(index) {
                *slot = grandparent;
            }
            index = grandparent;
        }
        index
    }

    /// Merges the sets of two indices.
    pub(crate) fn union(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        if let Some(slot) = self.0.get_mut(a.max(b)) {
            *slot = a.min(b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_index_represents_a_set() {
        let mut sets = UnionFind::new(6);
        for (a, b) in [(4, 5), (2, 4), (0, 1), (5, 5), (1, 0)] {
            sets.union(a, b);
        }
        assert_eq!([0, 1, 2, 3, 4, 5].map(|index| sets.find(index)), [0, 0, 2, 3, 2, 2]);
        sets.union(1, 5);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|index| sets.find(index)), [0, 0, 0, 3, 0, 0]);
    }
}
