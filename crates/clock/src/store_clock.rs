//! A clock that follows the one of the metadata store, so that all machines agree on the time.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use domain::Timestamp;
use storage::{StorageError, StoreClock};
use tokio::time;

use crate::Clock;

/// How often the clock is corrected.
const INTERVAL: Duration = Duration::from_secs(10);
/// How long a request for the time may take. Half of it is the largest error of a correction.
const TIMEOUT: Duration = Duration::from_secs(2);
/// If the clock is ahead of the store's clock by at most this much, it stands still until the store has caught up. A
/// clock that is further ahead is set back.
const MAX_WAIT_MS: i64 = 10_000;

/// The clock for a library on this store: `local` if the store has no clock of its own, otherwise one that follows the
/// store's. The latter corrects itself in the background until it is dropped. Must be called within a Tokio runtime.
///
/// # Errors
/// The store did not report its time.
pub async fn clock_of(
    store: Arc<dyn StoreClock>,
    local: Arc<dyn Clock>,
) -> Result<Arc<dyn Clock>, StorageError> {
    let Some(measured) = measure(store.as_ref(), local.as_ref()).await? else { return Ok(local) };
    let clock = Arc::new(FollowingClock::new(local, &measured));
    tokio::spawn(follow(Arc::downgrade(&clock), store));
    Ok(clock)
}

/// Corrects the clock every few seconds. While the store cannot be reached, the clock runs on by itself.
async fn follow(clock: Weak<FollowingClock>, store: Arc<dyn StoreClock>) {
    let mut was_reached = true;
    loop {
        time::sleep(INTERVAL).await;
        let Some(clock) = clock.upgrade() else { return };
        let asked = clock.ask(store.as_ref()).await;
        if let Err(error) = &asked
            && was_reached
        {
            tracing::warn!(%error, "the clock of the metadata store cannot be read; the last reading is continued");
        }
        was_reached = asked.is_ok();
    }
}

/// The store's time at a moment between two times of the local monotonic clock.
struct Measurement {
    store: Timestamp,
    sent: Duration,
    received: Duration,
}

impl Measurement {
    /// The store's time minus the monotonic time, and the uncertainty of this difference. Assumes that request and
    /// response took equally long.
    fn offset_ms(&self) -> (i64, i64) {
        let uncertainty = self.received.saturating_sub(self.sent) / 2;
        let offset = self.store.millis().saturating_sub(millis(self.sent + uncertainty));
        (offset, millis(uncertainty))
    }
}

async fn measure(store: &dyn StoreClock, local: &dyn Clock) -> Result<Option<Measurement>, StorageError> {
    let sent = local.monotonic();
    let told = time::timeout(TIMEOUT, store.store_time()).await;
    let received = local.monotonic();
    let told = told.map_err(|_| StorageError::Unavailable("it did not tell its time".to_owned()))??;
    Ok(told.map(|store| Measurement { store, sent, received }))
}

/// A clock that shows the store's time: the time of the last correction plus the monotonic time since. The machine's wall
/// clock has no effect on it.
struct FollowingClock {
    local: Arc<dyn Clock>,
    state: Mutex<State>,
}

struct State {
    /// The shown time minus the monotonic time.
    offset_ms: i64,
    /// The latest time that was shown.
    shown_ms: i64,
}

impl FollowingClock {
    fn new(local: Arc<dyn Clock>, measured: &Measurement) -> Self {
        let (offset_ms, _) = measured.offset_ms();
        Self { local, state: Mutex::new(State { offset_ms, shown_ms: i64::MIN }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Measures the store's time and corrects this clock.
    async fn ask(&self, store: &dyn StoreClock) -> Result<(), StorageError> {
        if let Some(measured) = measure(store, self.local.as_ref()).await? {
            self.correct(&measured);
        }
        Ok(())
    }

    fn correct(&self, measured: &Measurement) {
        let (offset_ms, uncertainty_ms) = measured.offset_ms();
        let mut state = self.state();
        let correction_ms = offset_ms.saturating_sub(state.offset_ms);
        // A difference within the uncertainty of the measurement is not corrected.
        if correction_ms.saturating_abs() <= uncertainty_ms {
            return;
        }
        if correction_ms.saturating_abs() > MAX_WAIT_MS {
            tracing::warn!(correction_ms, "the clock of the metadata store was changed");
        }
        state.offset_ms = offset_ms;
        if correction_ms < -MAX_WAIT_MS {
            state.shown_ms = i64::MIN;
        }
    }
}

impl Clock for FollowingClock {
    fn now(&self) -> Timestamp {
        let mut state = self.state();
        let millis = state.offset_ms.saturating_add(millis(self.local.monotonic()));
        // After a small correction backwards, the time stands still until the store has caught up.
        state.shown_ms = state.shown_ms.max(millis);
        Timestamp::from_millis(state.shown_ms).unwrap_or(Timestamp::MAX)
    }

    fn monotonic(&self) -> Duration {
        self.local.monotonic()
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use proptest::prelude::*;

    use super::*;
    use crate::ManualClock;

    const START_MS: i64 = 1_800_000_000_000;

    fn timestamp(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis).unwrap()
    }

    /// A measurement that took `took_ms` until now.
    fn measured(local: &ManualClock, store_ms: i64, took_ms: u64) -> Measurement {
        let received = local.monotonic();
        let sent = received.saturating_sub(Duration::from_millis(took_ms));
        Measurement { store: timestamp(store_ms), sent, received }
    }

    /// A clock that is exact at the start.
    fn following() -> (FollowingClock, Arc<ManualClock>) {
        let local = Arc::new(ManualClock::new(timestamp(7)));
        local.advance_ms(60_000);
        let clock = FollowingClock::new(local.clone(), &measured(&local, START_MS, 0));
        (clock, local)
    }

    #[test]
    fn the_clock_shows_the_time_of_the_store_whatever_the_wall_clock_shows() {
        let (clock, local) = following();
        assert_eq!(clock.now().millis(), START_MS);
        local.advance_ms(1500);
        local.set(timestamp(9_000_000_000_000));
        assert_eq!(clock.now().millis(), START_MS + 1500);
        local.set(timestamp(7));
        assert_eq!(clock.now().millis(), START_MS + 1500);
    }

    #[test]
    fn a_small_correction_backwards_lets_the_time_stand_still() {
        let (clock, local) = following();
        clock.now();
        clock.correct(&measured(&local, START_MS - 3000, 0));
        assert_eq!(clock.now().millis(), START_MS);
        local.advance_ms(2999);
        assert_eq!(clock.now().millis(), START_MS);
        local.advance_ms(2);
        assert_eq!(clock.now().millis(), START_MS + 1);
    }

    #[test]
    fn a_large_correction_is_made_at_once() {
        let (clock, local) = following();
        clock.now();
        for store_ms in [START_MS - 3_600_000, START_MS + 3_600_000] {
            clock.correct(&measured(&local, store_ms, 0));
            assert_eq!(clock.now().millis(), store_ms);
        }
    }

    #[test]
    fn a_difference_within_the_uncertainty_is_not_corrected() {
        let (clock, local) = following();
        clock.correct(&measured(&local, START_MS - 900, 2000));
        assert_eq!(clock.now().millis(), START_MS);
        clock.correct(&measured(&local, START_MS + 200, 100));
        assert_eq!(clock.now().millis(), START_MS + 250);
    }

    proptest! {
        #[test]
        fn small_corrections_never_turn_time_back(
            steps in proptest::collection::vec((0_i64..20_000, -4_000_i64..4_000, 0_u64..2_000), 1..50)
        ) {
            let (clock, local) = following();
            let mut last = clock.now();
            for (passed_ms, error_ms, took_ms) in steps {
                local.advance_ms(passed_ms);
                let true_ms = START_MS + millis(local.monotonic()) - 60_000;
                clock.correct(&measured(&local, true_ms + error_ms, took_ms));
                let now = clock.now();
                prop_assert!(now >= last);
                last = now;
            }
        }
    }

    /// A store with this answer.
    struct Store(Mutex<Result<Option<i64>, ()>>);

    #[async_trait]
    impl StoreClock for Store {
        async fn store_time(&self) -> Result<Option<Timestamp>, StorageError> {
            let answer = *self.0.lock().unwrap();
            answer.map(|millis| millis.map(timestamp)).map_err(|()| StorageError::Unavailable("away".into()))
        }
    }

    #[tokio::test]
    async fn a_store_without_a_clock_gives_the_local_clock() {
        let local: Arc<dyn Clock> = Arc::new(ManualClock::new(timestamp(START_MS)));
        let clock = clock_of(Arc::new(Store(Mutex::new(Ok(None)))), local.clone()).await.unwrap();
        assert!(Arc::ptr_eq(&clock, &local));
    }

    #[tokio::test]
    async fn the_clock_runs_on_while_the_store_is_unreachable() {
        let (clock, local) = following();
        local.advance_ms(11_000);
        let store = Store(Mutex::new(Err(())));
        clock.ask(&store).await.unwrap_err();
        assert_eq!(clock.now().millis(), START_MS + 11_000);
        *store.0.lock().unwrap() = Ok(Some(START_MS + 12_345));
        clock.ask(&store).await.unwrap();
        assert_eq!(clock.now().millis(), START_MS + 12_345);
    }

    #[tokio::test]
    async fn the_background_task_does_not_keep_its_clock_alive() {
        let store = Arc::new(Store(Mutex::new(Ok(Some(START_MS)))));
        let clock: Arc<dyn Clock> =
            clock_of(store.clone(), Arc::new(ManualClock::new(timestamp(7)))).await.unwrap();
        assert_eq!((clock.now().millis(), Arc::strong_count(&clock)), (START_MS, 1));
    }
}
