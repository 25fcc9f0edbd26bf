/// Disjoint sets of places, each named by its smallest.
#[derive(Debug)]
pub(super) struct Sets(Vec<usize>);

impl Sets {
    /// Each place alone.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The smallest place of a place's set.
    pub(super) fn root(&mut self, mut of: usize) -> usize {
        while let Some(&parent) = self.0.get(of)
            && parent != of
        {
            // Halves the way for whoever comes next.
            let grandparent = self.0.get(parent).copied().unwrap_or(parent);
            if let Some(slot) = self.0.get_mut(of) {
                *slot = grandparent;
            }
            of = grandparent;
        }
        of
    }

    /// Makes the sets of two places one.
    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(slot) = self.0.get_mut(a.max(b)) {
            *slot = a.min(b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_named_by_their_smallest_place() {
        let mut sets = Sets::new(6);
        for (a, b) in [(4, 5), (2, 4), (0, 1), (5, 5), (1, 0)] {
            sets.join(a, b);
        }
        assert_eq!([0, 1, 2, 3, 4, 5].map(|place| sets.root(place)), [0, 0, 2, 3, 2, 2]);
        sets.join(1, 5);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|place| sets.root(place)), [0, 0, 0, 3, 0, 0]);
    }
}
