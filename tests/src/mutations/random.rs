use fastrand::Rng;

/// Seeded random numbers: the same seed gives the same numbers on every machine.
#[derive(Debug, Clone)]
pub(super) struct Random(Rng);

impl Random {
    /// The random numbers for one file of a series.
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let series = Rng::with_seed(seed).u64(..);
        Self(Rng::with_seed(series ^ number.wrapping_mul(0xD134_2543_DE82_EF95)))
    }

    pub(super) fn number(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number below `end`, or 0 if `end` is 0.
    pub(super) fn index(&mut self, end: usize) -> usize {
        self.0.usize(..end.max(1))
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.0.u8(..)
    }

    /// True with a probability of 1 in `times`.
    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.index(times) == 0
    }

    /// One of the values, which must not be empty.
    pub(super) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.index(values.len())]
    }

    /// A length from 1 to `max`. Short lengths are as likely as long ones.
    pub(super) fn length(&mut self, max: usize) -> usize {
        let bits = self.index(usize::BITS as usize - max.leading_zeros() as usize);
        let longest = (1_usize << bits).min(max.max(1));
        1 + self.index(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_range() {
        let mut random = Random::new(1, 2);
        for max in [1, 2, 3, 10, 1000] {
            let lengths: Vec<usize> = (0..1000).map(|_| random.length(max)).collect();
            assert!(lengths.iter().all(|length| (1..=max).contains(length)), "{max}");
            assert!(lengths.contains(&1));
        }
        assert_eq!(random.index(0), 0);
        assert!((0..1000).map(|_| random.index(3)).all(|index| index < 3));
    }
}
