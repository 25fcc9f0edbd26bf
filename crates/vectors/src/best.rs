use std::{cmp::Ordering, collections::BinaryHeap};

use crate::ScoredRow;

/// The best `max` of all hits that were pushed.
pub(crate) struct Best {
    max: usize,
    /// The worst hit is on top.
    hits: BinaryHeap<WorstFirst>,
}

impl Best {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, hits: BinaryHeap::new() }
    }

    /// Hits below this similarity need not be pushed.
    pub(crate) fn min_similarity(&self) -> f32 {
        if self.hits.len() < self.max {
            return f32::NEG_INFINITY;
        }
        self.hits.peek().map_or(f32::INFINITY, |worst| worst.0.similarity)
    }

    pub(crate) fn push(&mut self, hit: ScoredRow) {
        if self.hits.len() < self.max {
            self.hits.push(WorstFirst(hit));
        } else if let Some(mut worst) = self.hits.peek_mut()
            && hit.best_first(&worst.0).is_lt()
        {
            *worst = WorstFirst(hit);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for hit in other.hits {
            self.push(hit.0);
        }
    }

    /// The hits, best first.
    pub(crate) fn into_hits(self) -> Vec<ScoredRow> {
        self.hits.into_sorted_vec().into_iter().map(|hit| hit.0).collect()
    }
}

struct WorstFirst(ScoredRow);

impl Ord for WorstFirst {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.best_first(&other.0)
    }
}

impl PartialOrd for WorstFirst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for WorstFirst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for WorstFirst {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RowId;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn best_are_the_first_in_sorted_order(
            rows in prop::collection::vec((0_i8..4, 0_i64..4), 0..60),
            max in 0_usize..20,
            split in 0_usize..60,
        ) {
            let mut hits: Vec<ScoredRow> = (0_i64..).zip(rows).map(|(number, (similarity, captured_at_ms))| {
                ScoredRow { vector: RowId(number), image: number, captured_at_ms, similarity: similarity.into() }
            }).collect();
            let (mut best, mut others) = (Best::new(max), Best::new(max));
            for (place, hit) in hits.iter().enumerate() {
                let to = if place < split { &mut best } else { &mut others };
                if hit.similarity >= to.min_similarity() {
                    to.push(*hit);
                }
            }
            best.merge(others);
            hits.sort_by(ScoredRow::best_first);
            hits.truncate(max);
            prop_assert_eq!(best.into_hits(), hits);
        }
    }
}
