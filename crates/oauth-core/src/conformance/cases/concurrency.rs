use std::sync::Arc;

use tokio::sync::Barrier;

use crate::{
    CodeStatus, GrantKey,
    conformance::fixture::{Fixture, NOW, SUBJECTS, second},
};

/// The number of concurrent tasks.
pub(crate) const MANY: usize = 64;

/// Runs the tasks concurrently, starting together, and returns their results.
pub(crate) async fn at_once<T, F>(tasks: impl ExactSizeIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let barrier = Arc::new(Barrier::new(tasks.len()));
    let tasks: Vec<_> = tasks
        .map(|task| {
            let barrier = barrier.clone();
            tokio::spawn(async move {
                barrier.wait().await;
                task.await
            })
        })
        .collect();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes
}

pub(crate) async fn one_of_many_redemptions_succeeds(fixture: &Fixture) {
    let code = fixture.issue(fixture.new_code()).await;
    let outcomes = at_once((0..MANY).map(|_| {
        let (store, redemption) = (fixture.store().clone(), fixture.redemption(code.hash, second(1)));
        async move {
            let refresh = redemption.refresh.clone().unwrap();
            (refresh, store.redeem_code(redemption).await.unwrap())
        }
    }))
    .await;
    assert_eq!(outcomes.iter().filter(|(_, won)| *won).count(), 1);
    for (refresh, won) in outcomes {
        let found = fixture.find(GrantKey::RefreshHandle(&refresh.handle)).await;
        assert_eq!(
            found.and_then(|found| found.refresh),
            won.then_some(refresh.token),
            "only the winner's is kept"
        );
    }
}

pub(crate) async fn one_of_many_rotations_succeeds(fixture: &Fixture) {
    let granted = fixture.grant().await;
    let mut token = granted.token;
    for round in 1..=4 {
        let outcomes = at_once((0..MANY).map(|_| {
            let store = fixture.store().clone();
            let rotation = fixture.rotation(&granted.grant.id, &token, second(round));
            async move {
                let next = rotation.next.clone();
                (next, store.rotate_refresh_token(rotation).await.unwrap())
            }
        }))
        .await;
        let won: Vec<_> = outcomes.into_iter().filter(|(_, won)| *won).map(|(next, _)| next).collect();
        assert_eq!(won, [fixture.current(&granted.handle).await], "round {round}");
        token = fixture.current(&granted.handle).await;
    }
    assert!(fixture.is_valid(&granted.grant.id).await);
}

pub(crate) async fn a_rotation_racing_a_revocation_leaves_no_valid_grant(fixture: &Fixture) {
    for _ in 0..16 {
        let granted = fixture.grant().await;
        let outcomes = at_once((0..8).map(|number| {
            let (fixture, granted) = (fixture.clone(), granted.clone());
            async move {
                let at = second(1);
                if number == 3 {
                    return fixture.revoke(&granted.grant.id, at).await;
                }
                let rotation = fixture.rotation(&granted.grant.id, &granted.token, at);
                fixture.store().rotate_refresh_token(rotation).await.unwrap();
                false
            }
        }))
        .await;
        assert_eq!(outcomes.iter().filter(|revoked| **revoked).count(), 1);
        assert!(!fixture.is_valid(&granted.grant.id).await);
        let found = fixture.find(GrantKey::RefreshHandle(&granted.handle)).await.unwrap();
        assert_eq!(found.grant.revoked_at, Some(second(1)));
        let rotation = fixture.rotation(&granted.grant.id, &found.refresh.unwrap(), second(2));
        assert!(!fixture.store().rotate_refresh_token(rotation).await.unwrap());
    }
}

pub(crate) async fn a_redemption_racing_revoke_all_leaves_no_valid_grant(fixture: &Fixture) {
    for _ in 0..16 {
        let code = fixture.issue(fixture.new_code()).await;
        at_once((0..8).map(|number| {
            let (fixture, code) = (fixture.clone(), code.clone());
            async move {
                if number == 3 {
                    assert_eq!(fixture.revoke_all(SUBJECTS[0], second(1)).await, 1);
                } else {
                    fixture.store().redeem_code(fixture.redemption(code.hash, second(1))).await.unwrap();
                }
            }
        }))
        .await;
        assert!(!fixture.is_valid(&code.grant.id).await);
        assert_eq!(fixture.store().connections(SUBJECTS[0]).await.unwrap(), []);
    }
}

pub(crate) async fn one_of_many_revocations_succeeds(fixture: &Fixture) {
    let granted = fixture.grant().await;
    let outcomes = at_once((0..MANY).map(|number| {
        let (fixture, granted) = (fixture.clone(), granted.clone());
        async move {
            match number % 2 {
                0 => fixture.revoke(&granted.grant.id, NOW).await,
                _ => fixture.revoke_all(SUBJECTS[0], NOW).await > 0,
            }
        }
    }))
    .await;
    assert_eq!(outcomes.iter().filter(|ended| **ended).count(), 1);
}

pub(crate) async fn one_of_many_equal_registrations_is_stored(fixture: &Fixture) {
    let digest = Some(fixture.hash());
    let registered = at_once((0..MANY).map(|_| {
        let (store, mut new) = (fixture.store().clone(), fixture.new_client());
        new.digest = digest;
        async move { (new.client.id.clone(), store.register_client(new).await.unwrap()) }
    }))
    .await;
    let first = registered[0].1.clone();
    for (id, client) in registered {
        assert_eq!(client, first);
        let expect = (id == first.id).then(|| first.clone());
        assert_eq!(fixture.store().client(&id).await.unwrap(), expect);
    }
}

pub(crate) async fn repeated_consents_make_one_grant(fixture: &Fixture) {
    let code = fixture.new_code();
    let issued = at_once((0..MANY).map(|_| {
        let (store, mut code) = (fixture.store().clone(), code.clone());
        code.grant.id = fixture.id();
        async move { (code.grant.id.clone(), store.issue_code(code).await.unwrap()) }
    }))
    .await;
    let kept = fixture.find(GrantKey::Code(&code.hash)).await.unwrap().grant.id;
    for (id, outcome) in issued {
        assert_eq!(outcome, CodeStatus::Pending);
        assert_eq!(fixture.find(GrantKey::Id(&id)).await.is_some(), id == kept);
    }
}

pub(crate) async fn the_latest_of_many_uses_is_kept(fixture: &Fixture) {
    let granted = fixture.grant().await;
    at_once((0..MANY).map(|number| {
        let (store, id) = (fixture.store().clone(), granted.grant.id.clone());
        let at = second(i64::try_from(number * 37 % MANY).unwrap());
        async move { store.record_use(&id, at).await.unwrap() }
    }))
    .await;
    let listed = fixture.store().connections(SUBJECTS[0]).await.unwrap();
    assert_eq!(listed[0].last_used_at, Some(second(63)));
}
