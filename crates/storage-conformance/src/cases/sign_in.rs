use domain::Timestamp;
use storage::{AttemptId, SignInAttempt, SignInDecision, SignInLimits};

use super::concurrently;
use crate::{Seed, queries::second};

/// Ten for a pair, a hundred for an address and a thousand for a network within 15 minutes.
const LIMITS: SignInLimits =
    SignInLimits { per_pair: 10, per_address: 100, per_network: 1_000, window_ms: 900_000 };
const WINDOW: i64 = 900;

/// An attempt from an address that is alone in its network.
fn attempt(pair: u8, address: u8) -> SignInAttempt {
    SignInAttempt { pair: [pair; 32], address: [address; 32], network: [address; 32] }
}

async fn begin(seed: &Seed, pair: u8, address: u8, at: Timestamp) -> SignInDecision {
    seed.store().begin_sign_in(&attempt(pair, address), at, LIMITS).await.unwrap()
}

/// Starts an attempt that must be allowed.
async fn start(seed: &Seed, pair: u8, address: u8, at: Timestamp) -> AttemptId {
    match begin(seed, pair, address, at).await {
        SignInDecision::Allowed(id) => id,
        locked @ SignInDecision::LockedUntil(_) => panic!("{locked:?}"),
    }
}

pub(crate) async fn ten_failures_lock_a_pair_out(seed: &Seed) {
    for at in 0..10 {
        start(seed, 1, 1, second(at)).await;
    }
    let locked = SignInDecision::LockedUntil(second(WINDOW));
    assert_eq!(begin(seed, 1, 1, second(10)).await, locked);
    assert_eq!(begin(seed, 1, 1, second(WINDOW).plus_millis(-1)).await, locked);
    start(seed, 2, 1, second(10)).await;
    start(seed, 3, 2, second(10)).await;
}

pub(crate) async fn the_lock_window_slides(seed: &Seed) {
    for at in 0..10 {
        start(seed, 1, 1, second(at)).await;
    }
    // Each second, one more failure leaves the window.
    for at in 0..5 {
        start(seed, 1, 1, second(WINDOW + at)).await;
        let locked = SignInDecision::LockedUntil(second(WINDOW + at + 1));
        assert_eq!(begin(seed, 1, 1, second(WINDOW + at)).await, locked);
    }
    for _ in 0..10 {
        start(seed, 1, 1, second(3 * WINDOW)).await;
    }
}

pub(crate) async fn refused_attempts_do_not_count(seed: &Seed) {
    for _ in 0..10 {
        start(seed, 1, 1, second(0)).await;
    }
    for at in 1..50 {
        assert_eq!(begin(seed, 1, 1, second(at)).await, SignInDecision::LockedUntil(second(WINDOW)));
    }
    start(seed, 1, 1, second(WINDOW)).await;
}

pub(crate) async fn a_hundred_failures_lock_an_address_out(seed: &Seed) {
    for at in 0..100_u8 {
        start(seed, at, 1, second(i64::from(at))).await;
    }
    assert_eq!(begin(seed, 200, 1, second(100)).await, SignInDecision::LockedUntil(second(WINDOW)));
    start(seed, 200, 2, second(100)).await;
    start(seed, 200, 1, second(WINDOW)).await;
}

pub(crate) async fn many_failures_lock_a_network_out(seed: &Seed) {
    let limits = SignInLimits { per_pair: 2, per_address: 3, per_network: 8, window_ms: 900_000 };
    let from = |at: i64, address: u8, network: u8| {
        let store = seed.store().clone();
        let attempt = SignInAttempt { network: [network; 32], ..attempt(address, address) };
        async move { store.begin_sign_in(&attempt, second(at), limits).await.unwrap() }
    };
    for address in 0..8 {
        assert!(matches!(from(address.into(), address, 1).await, SignInDecision::Allowed(_)), "{address}");
    }
    assert_eq!(from(8, 100, 1).await, SignInDecision::LockedUntil(second(WINDOW)));
    assert!(matches!(from(8, 100, 2).await, SignInDecision::Allowed(_)));
    assert!(matches!(from(WINDOW, 101, 1).await, SignInDecision::Allowed(_)));
}

pub(crate) async fn attempts_from_the_future_do_not_count(seed: &Seed) {
    for _ in 0..10 {
        start(seed, 1, 1, second(100)).await;
    }
    assert_eq!(begin(seed, 1, 1, second(100)).await, SignInDecision::LockedUntil(second(100 + WINDOW)));
    for _ in 0..10 {
        start(seed, 1, 1, second(95)).await;
    }
    assert_eq!(begin(seed, 1, 1, second(95)).await, SignInDecision::LockedUntil(second(95 + WINDOW)));
}

pub(crate) async fn the_later_of_two_locks_is_returned(seed: &Seed) {
    let limits = SignInLimits { per_pair: 2, per_address: 3, per_network: 1_000, window_ms: 900_000 };
    let at_second = |at: i64, pair| {
        let (store, attempt) = (seed.store().clone(), attempt(pair, 1));
        async move { store.begin_sign_in(&attempt, second(at), limits).await.unwrap() }
    };
    for (at, pair) in [(0, 9), (10, 1), (20, 1)] {
        assert!(matches!(at_second(at, pair).await, SignInDecision::Allowed(_)));
    }
    assert_eq!(at_second(30, 2).await, SignInDecision::LockedUntil(second(WINDOW)), "because of its address");
    assert_eq!(
        at_second(30, 1).await,
        SignInDecision::LockedUntil(second(WINDOW + 10)),
        "because of its pair"
    );
}

pub(crate) async fn a_success_does_not_count(seed: &Seed) {
    for _ in 0..30 {
        let id = start(seed, 1, 1, second(0)).await;
        seed.store().record_sign_in_success(id).await.unwrap();
        seed.store().record_sign_in_success(id).await.unwrap();
    }
    for _ in 0..9 {
        start(seed, 1, 1, second(1)).await;
    }
    let id = start(seed, 1, 1, second(1)).await;
    seed.store().record_sign_in_success(id).await.unwrap();
    start(seed, 1, 1, second(2)).await;
    let still = begin(seed, 1, 1, second(2)).await;
    assert_eq!(still, SignInDecision::LockedUntil(second(WINDOW + 1)), "earlier failures count");
}

pub(crate) async fn concurrent_attempts_do_not_exceed_the_limit(seed: &Seed) {
    for round in 0..4 {
        let outcomes = concurrently((0..64).map(|_| {
            let store = seed.store().clone();
            async move { store.begin_sign_in(&attempt(round, round), second(0), LIMITS).await.unwrap() }
        }))
        .await;
        let allowed = outcomes.iter().filter(|outcome| matches!(outcome, SignInDecision::Allowed(_))).count();
        assert_eq!(allowed, 10);
    }
}

pub(crate) async fn old_attempts_are_swept_in_batches(seed: &Seed) {
    for at in 0..10 {
        start(seed, 1, 1, second(at)).await;
    }
    for expected in [3, 2, 0] {
        assert_eq!(seed.store().sweep_sign_in_attempts(second(5), 3).await.unwrap(), expected);
    }
    for _ in 0..5 {
        start(seed, 1, 1, second(10)).await;
    }
    assert!(
        matches!(begin(seed, 1, 1, second(10)).await, SignInDecision::LockedUntil(_)),
        "newer attempts remain"
    );
}
