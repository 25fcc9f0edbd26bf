use super::SigningKey;
use crate::UnixMillis;

/// Which key signs from which time on. See [Rotation](super#rotation).
#[derive(Debug, Clone)]
pub struct KeySchedule {
    first: SigningKey,
    /// By time, the earliest first.
    later: Vec<(UnixMillis, SigningKey)>,
}

impl KeySchedule {
    /// One key, which always signs.
    pub fn new(key: SigningKey) -> Self {
        Self { first: key, later: Vec::new() }
    }

    /// Adds a key that signs from that time on, until the time of the next key. Keys may be added in any order.
    #[must_use]
    pub fn then(mut self, signs_from: UnixMillis, key: SigningKey) -> Self {
        let at = self.later.partition_point(|(other, _)| *other <= signs_from);
        self.later.insert(at, (signs_from, key));
        self
    }

    /// The key that signs now.
    pub(super) fn active(&self, now: UnixMillis) -> &SigningKey {
        let current = self.later.iter().rev().find(|(signs_from, _)| *signs_from <= now);
        current.map_or(&self.first, |(_, key)| key)
    }

    /// The keys that verify now. A key no longer verifies once another key has signed for the lifetime of a token,
    /// because all tokens of the old key have expired by then. Keys that will sign later verify too, because the clock
    /// of another process may be ahead.
    pub(super) fn verifying(
        &self,
        now: UnixMillis,
        token_lifetime_ms: i64,
    ) -> impl Iterator<Item = &SigningKey> {
        let keys = std::iter::once(&self.first).chain(self.later.iter().map(|(_, key)| key));
        let replaced_at = self.later.iter().map(|(signs_from, _)| Some(*signs_from)).chain([None]);
        keys.zip(replaced_at)
            .filter(move |(_, at)| at.is_none_or(|at| now < at.plus_ms(token_lifetime_ms)))
            .map(|(key, _)| key)
    }
}
