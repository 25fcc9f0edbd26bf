/// Numbers that look random and are the same in every run (SplitMix64).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A place in a list of so many.
    pub(super) fn place(&mut self, len: usize) -> usize {
        usize::try_from(self.next() % (len as u64).max(1)).unwrap_or(0)
    }

    /// Whether something happens that happens so often.
    pub(super) fn falls(&mut self, share: f64) -> bool {
        self.share() < share
    }
}
