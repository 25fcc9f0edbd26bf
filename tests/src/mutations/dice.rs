/// Repeatable randomness (splitmix64).
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    /// The stream of one file of a series.
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let mut series = Self(seed);
        Self(series.next() ^ number.wrapping_mul(0xD134_2543_DE82_EF95))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 when there is none.
    pub(super) fn index(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * end as u128;
        usize::try_from(wide >> 64).unwrap_or_default()
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }

    /// True once in so many times.
    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.index(times) == 0
    }

    /// One of some values, of which there must be one.
    pub(super) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.index(values.len())]
    }

    /// A length from 1 to `max`, short ones as likely as long ones.
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
    fn numbers_stay_in_their_ranges() {
        let mut dice = Dice::new(1, 2);
        for max in [1, 2, 3, 10, 1000] {
            let drawn: Vec<usize> = (0..1000).map(|_| dice.length(max)).collect();
            assert!(drawn.iter().all(|length| (1..=max).contains(length)), "{max}");
            assert!(drawn.contains(&1));
        }
        assert_eq!(dice.index(0), 0);
        assert!((0..1000).map(|_| dice.index(3)).all(|index| index < 3));
    }
}
