use crate::{
    MAX_RECENT_ROTATIONS, UnixMillis,
    conformance::seed::{NOW, REFRESH_LIFE, Seed, second},
};

pub(crate) async fn a_grant_is_found_by_its_handle(seed: &Seed) {
    let (one, other) = (seed.grant().await, seed.grant().await);
    for granted in [one, other] {
        let found = seed.store().refreshable_grant(&granted.handle).await.unwrap().unwrap();
        assert_eq!((found.grant, found.current), (granted.grant, granted.token));
    }
    assert_eq!(seed.store().refreshable_grant(&seed.hash()).await.unwrap(), None);
}

pub(crate) async fn a_token_is_replaced_once(seed: &Seed) {
    let granted = seed.grant().await;
    let rotation = seed.rotation(&granted.grant.id, &granted.token, second(10));
    assert!(seed.store().rotate_refresh_token(rotation.clone()).await.unwrap());
    assert_eq!(seed.current(&granted.handle).await, rotation.next);
    let again = seed.rotation(&granted.grant.id, &granted.token, second(11));
    assert!(!seed.store().rotate_refresh_token(again).await.unwrap(), "it is not the current one any more");
    assert_eq!(seed.current(&granted.handle).await, rotation.next, "nothing changed");
    assert!(seed.is_alive(&granted.grant.id).await);
}

pub(crate) async fn only_the_current_token_is_replaced(seed: &Seed) {
    let (granted, other) = (seed.grant().await, seed.grant().await);
    let mut of_another = seed.rotation(&granted.grant.id, &other.token, second(1));
    assert!(!seed.store().rotate_refresh_token(of_another.clone()).await.unwrap());
    of_another.presented = granted.handle;
    assert!(!seed.store().rotate_refresh_token(of_another.clone()).await.unwrap(), "a handle is no token");
    of_another.presented = of_another.next.hash;
    assert!(!seed.store().rotate_refresh_token(of_another).await.unwrap());
    let unknown = seed.rotation("unknown", &granted.token, second(1));
    assert!(!seed.store().rotate_refresh_token(unknown).await.unwrap());
    for granted in [granted, other] {
        assert_eq!(seed.current(&granted.handle).await, granted.token);
    }
}

pub(crate) async fn a_token_is_replaced_before_it_expires(seed: &Seed) {
    let check = async |at: UnixMillis, expect: bool| {
        let granted = seed.grant().await;
        let rotation = seed.rotation(&granted.grant.id, &granted.token, at);
        let next = if expect { rotation.next.clone() } else { granted.token };
        assert_eq!(seed.store().rotate_refresh_token(rotation).await.unwrap(), expect, "{at:?}");
        assert_eq!(seed.current(&granted.handle).await, next);
    };
    check(NOW, true).await;
    check(second(REFRESH_LIFE).plus_ms(-1), true).await;
    check(second(REFRESH_LIFE), false).await;
    check(second(REFRESH_LIFE).plus_ms(1), false).await;
}

pub(crate) async fn a_revoked_grant_has_its_token_replaced_no_more(seed: &Seed) {
    let granted = seed.grant().await;
    assert!(seed.store().revoke_grant(&granted.grant.id, second(1)).await.unwrap());
    let rotation = seed.rotation(&granted.grant.id, &granted.token, second(2));
    assert!(!seed.store().rotate_refresh_token(rotation).await.unwrap());
    let found = seed.store().refreshable_grant(&granted.handle).await.unwrap().unwrap();
    assert_eq!((found.grant.revoked_at, found.current), (Some(second(1)), granted.token));
}

pub(crate) async fn the_moments_of_rotations_are_kept(seed: &Seed) {
    let granted = seed.grant().await;
    let mut token = granted.token;
    for number in 1..=40 {
        let rotation = seed.rotation(&granted.grant.id, &token, NOW.plus_ms(number));
        token = rotation.next.clone();
        assert!(seed.store().rotate_refresh_token(rotation).await.unwrap());
        assert_eq!(seed.current(&granted.handle).await, token, "after {number} rotations");
    }
    assert_eq!((token.generation, token.recent_rotations.len()), (40, MAX_RECENT_ROTATIONS));
    let mut rotation = seed.rotation(&granted.grant.id, &token, second(60));
    rotation.next.recent_rotations.truncate(1);
    assert!(seed.store().rotate_refresh_token(rotation).await.unwrap());
    assert_eq!(
        seed.current(&granted.handle).await.recent_rotations,
        [second(60)],
        "older ones are forgotten"
    );
}

pub(crate) async fn generations_and_moments_have_their_whole_range(seed: &Seed) {
    let granted = seed.grant().await;
    let mut rotation = seed.rotation(&granted.grant.id, &granted.token, second(1));
    rotation.next.generation = u32::MAX;
    rotation.next.expires_at = UnixMillis(253_402_300_799_999);
    rotation.next.recent_rotations = vec![UnixMillis(0), UnixMillis(-1)];
    assert!(seed.store().rotate_refresh_token(rotation.clone()).await.unwrap());
    assert_eq!(seed.current(&granted.handle).await, rotation.next);
}
