//! The clock of the photo library. All code that needs the time takes a [`Clock`], so that tests can move it.
//!
//! The most common change is a question about time: add a method to [`Clock`] and to the three clocks that implement it.

mod store_clock;

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use domain::Timestamp;

pub use store_clock::clock_of;

/// A source of time. The library reads no other clock, so that tests can move it.
///
/// The wall clock can be set back. State of this process alone (rate limits, caches) uses
/// [`monotonic`](Self::monotonic); stored and displayed times use [`now`](Self::now).
pub trait Clock: Send + Sync + 'static {
    /// The time of the wall clock.
    fn now(&self) -> Timestamp;

    /// The time since an arbitrary earlier moment. It never decreases.
    fn monotonic(&self) -> Duration;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

/// The start of the monotonic clock: its first reading.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that owns the clock")]
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(millis).unwrap_or(Timestamp::MAX)
    }

    fn monotonic(&self) -> Duration {
        since_boot().unwrap_or_else(|| START.elapsed())
    }
}

/// The time since the machine was started, including the time for which it was suspended. Leases expire while a machine
/// is suspended, so the monotonic clock must count that time.
#[cfg(target_os = "linux")]
fn since_boot() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

/// Other systems use `START` instead.
#[cfg(not(target_os = "linux"))]
fn since_boot() -> Option<Duration> {
    None
}

/// A clock for tests, which changes only when it is moved.
#[derive(Debug)]
pub struct ManualClock {
    wall_ms: AtomicI64,
    monotonic_ms: AtomicU64,
}

impl ManualClock {
    /// A clock that shows this moment.
    pub fn new(now: Timestamp) -> Self {
        Self { wall_ms: AtomicI64::new(now.millis()), monotonic_ms: AtomicU64::new(0) }
    }

    /// Advances both clocks by this many milliseconds; a negative number counts as 0.
    pub fn advance_ms(&self, millis: i64) {
        let millis = millis.max(0);
        self.wall_ms.fetch_add(millis, Ordering::SeqCst);
        self.monotonic_ms.fetch_add(millis.unsigned_abs(), Ordering::SeqCst);
    }

    /// Sets the wall clock and leaves the monotonic clock as it is.
    pub fn set(&self, now: Timestamp) {
        self.wall_ms.store(now.millis(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.wall_ms.load(Ordering::SeqCst)).unwrap_or(Timestamp::MAX)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.monotonic_ms.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_the_wall_clock_does_not_move_the_monotonic_clock() {
        let clock = ManualClock::new(Timestamp::from_millis(1_000_000).unwrap());
        clock.advance_ms(5_000);
        clock.set(Timestamp::from_millis(7).unwrap());
        assert_eq!((clock.now().millis(), clock.monotonic()), (7, Duration::from_secs(5)));
        clock.advance_ms(1);
        assert_eq!((clock.now().millis(), clock.monotonic()), (8, Duration::from_millis(5_001)));
    }

    #[test]
    fn system_clock_moves_forward() {
        let (first, second) = (SystemClock.monotonic(), SystemClock.monotonic());
        assert!(first <= second);
    }
}
