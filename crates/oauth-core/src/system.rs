use std::time::{SystemTime, UNIX_EPOCH};

use ring::rand::SecureRandom as _;

use crate::{Clock, Random, RandomError, UnixMillis};

/// The machine's clock, for services that have none of their own.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that owns the clock here")]
    fn now(&self) -> UnixMillis {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UnixMillis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The operating system's randomness, for services that have no source of their own.
#[derive(Debug, Clone)]
pub struct SystemRandom(ring::rand::SystemRandom);

impl Default for SystemRandom {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that owns randomness here")]
    fn default() -> Self {
        Self(ring::rand::SystemRandom::new())
    }
}

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        self.0.fill(bytes).map_err(|_| RandomError)
    }
}
