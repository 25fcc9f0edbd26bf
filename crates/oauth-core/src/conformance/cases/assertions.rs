use super::concurrency::{MANY, at_once};
use crate::{
    Sweep, UnixMillis, UsedAssertion,
    conformance::fixture::{Fixture, NOW, second},
};

/// A new assertion that expires at that time.
fn assertion(fixture: &Fixture, expires_at: UnixMillis) -> UsedAssertion {
    UsedAssertion { hash: fixture.hash(), expires_at }
}

async fn record(fixture: &Fixture, used: UsedAssertion) -> bool {
    fixture.store().record_assertion(used).await.unwrap()
}

pub(crate) async fn an_assertion_is_recorded_once(fixture: &Fixture) {
    let [one, other] = [assertion(fixture, second(300)), assertion(fixture, second(300))];
    assert!(record(fixture, one).await);
    assert!(!record(fixture, one).await);
    assert!(!record(fixture, UsedAssertion { expires_at: second(600), ..one }).await, "the hash decides");
    assert!(record(fixture, other).await);
}

pub(crate) async fn one_of_many_uses_succeeds(fixture: &Fixture) {
    for _ in 0..4 {
        let used = assertion(fixture, second(300));
        let outcomes = at_once((0..MANY).map(|_| {
            let fixture = fixture.clone();
            async move { record(&fixture, used).await }
        }))
        .await;
        assert_eq!(outcomes.iter().filter(|recorded| **recorded).count(), 1);
    }
}

pub(crate) async fn expired_assertions_are_swept(fixture: &Fixture) {
    let expired: [UsedAssertion; 5] = std::array::from_fn(|_| assertion(fixture, second(1)));
    let valid = assertion(fixture, second(2));
    for used in expired.into_iter().chain([valid]) {
        assert!(record(fixture, used).await);
    }
    let sweep = async |assertions_before: UnixMillis| {
        let [codes_before, grants_before, clients_before] = [NOW; 3];
        let sweep = Sweep { codes_before, grants_before, clients_before, assertions_before, max: 2 };
        fixture.store().sweep(sweep).await.unwrap()
    };
    assert_eq!(sweep(second(1)).await, 0);
    let now = second(1).plus_ms(1);
    assert_eq!([sweep(now).await, sweep(now).await, sweep(now).await, sweep(now).await], [2, 2, 1, 0]);
    assert!(!record(fixture, valid).await);
    assert!(record(fixture, expired[0]).await);
}
