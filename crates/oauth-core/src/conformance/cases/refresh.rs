use crate::{
    GrantKey, MAX_RECENT_ROTATIONS, UnixMillis,
    conformance::fixture::{Fixture, NOW, REFRESH_LIFETIME_S, second},
};

pub(crate) async fn a_grant_is_found_by_its_handle(fixture: &Fixture) {
    let (one, other) = (fixture.grant().await, fixture.grant().await);
    for granted in [one, other] {
        let found = fixture.find(GrantKey::RefreshHandle(&granted.handle)).await.unwrap();
        assert_eq!((found.grant, found.refresh), (granted.grant, Some(granted.token)));
    }
    assert_eq!(fixture.find(GrantKey::RefreshHandle(&fixture.hash())).await, None);
}

pub(crate) async fn a_token_is_replaced_once(fixture: &Fixture) {
    let granted = fixture.grant().await;
    let rotation = fixture.rotation(&granted.grant.id, &granted.token, second(10));
    assert!(fixture.store().rotate_refresh_token(rotation.clone()).await.unwrap());
    assert_eq!(fixture.current(&granted.handle).await, rotation.next);
    let again = fixture.rotation(&granted.grant.id, &granted.token, second(11));
    assert!(!fixture.store().rotate_refresh_token(again).await.unwrap(), "it is no longer current");
    assert_eq!(fixture.current(&granted.handle).await, rotation.next, "nothing changed");
    assert!(fixture.is_valid(&granted.grant.id).await);
}

pub(crate) async fn only_the_current_token_is_replaced(fixture: &Fixture) {
    let (granted, other) = (fixture.grant().await, fixture.grant().await);
    let mut of_another = fixture.rotation(&granted.grant.id, &other.token, second(1));
    assert!(!fixture.store().rotate_refresh_token(of_another.clone()).await.unwrap());
    of_another.presented = granted.handle;
    assert!(
        !fixture.store().rotate_refresh_token(of_another.clone()).await.unwrap(),
        "a handle is not a token"
    );
    of_another.presented = of_another.next.hash;
    assert!(!fixture.store().rotate_refresh_token(of_another).await.unwrap());
    let unknown = fixture.rotation("unknown", &granted.token, second(1));
    assert!(!fixture.store().rotate_refresh_token(unknown).await.unwrap());
    for granted in [granted, other] {
        assert_eq!(fixture.current(&granted.handle).await, granted.token);
    }
}

pub(crate) async fn a_token_is_replaced_before_it_expires(fixture: &Fixture) {
    let check = async |at: UnixMillis, expect: bool| {
        let granted = fixture.grant().await;
        let rotation = fixture.rotation(&granted.grant.id, &granted.token, at);
        let next = if expect { rotation.next.clone() } else { granted.token };
        assert_eq!(fixture.store().rotate_refresh_token(rotation).await.unwrap(), expect, "{at:?}");
        assert_eq!(fixture.current(&granted.handle).await, next);
    };
    check(NOW, true).await;
    check(second(REFRESH_LIFETIME_S).plus_ms(-1), true).await;
    check(second(REFRESH_LIFETIME_S), false).await;
    check(second(REFRESH_LIFETIME_S).plus_ms(1), false).await;
}

pub(crate) async fn the_token_of_a_revoked_grant_is_not_replaced(fixture: &Fixture) {
    let granted = fixture.grant().await;
    assert!(fixture.revoke(&granted.grant.id, second(1)).await);
    let rotation = fixture.rotation(&granted.grant.id, &granted.token, second(2));
    assert!(!fixture.store().rotate_refresh_token(rotation).await.unwrap());
    let found = fixture.find(GrantKey::RefreshHandle(&granted.handle)).await.unwrap();
    assert_eq!((found.grant.revoked_at, found.refresh), (Some(second(1)), Some(granted.token)));
}

pub(crate) async fn rotation_times_are_stored(fixture: &Fixture) {
    let granted = fixture.grant().await;
    let mut token = granted.token;
    for number in 1..=40 {
        let rotation = fixture.rotation(&granted.grant.id, &token, NOW.plus_ms(number));
        token = rotation.next.clone();
        assert!(fixture.store().rotate_refresh_token(rotation).await.unwrap());
        assert_eq!(fixture.current(&granted.handle).await, token, "after {number} rotations");
    }
    assert_eq!((token.generation, token.recent_rotations.len()), (40, MAX_RECENT_ROTATIONS));
    let mut rotation = fixture.rotation(&granted.grant.id, &token, second(60));
    rotation.next.recent_rotations.truncate(1);
    assert!(fixture.store().rotate_refresh_token(rotation).await.unwrap());
    assert_eq!(
        fixture.current(&granted.handle).await.recent_rotations,
        [second(60)],
        "older rotations are dropped"
    );
}

pub(crate) async fn extreme_generations_and_times_are_stored(fixture: &Fixture) {
    let granted = fixture.grant().await;
    let mut rotation = fixture.rotation(&granted.grant.id, &granted.token, second(1));
    rotation.next.generation = u32::MAX;
    rotation.next.expires_at = UnixMillis(253_402_300_799_999);
    rotation.next.recent_rotations = vec![UnixMillis(0), UnixMillis(-1)];
    assert!(fixture.store().rotate_refresh_token(rotation.clone()).await.unwrap());
    assert_eq!(fixture.current(&granted.handle).await, rotation.next);
}
