use crate::{
    GrantKey,
    conformance::fixture::{Fixture, NOW, SUBJECTS, second},
};

pub(crate) async fn a_grant_is_revoked_once(fixture: &Fixture) {
    let granted = fixture.grant().await;
    let other = fixture.grant().await;
    assert!(fixture.revoke(&granted.grant.id, second(1)).await);
    assert!(!fixture.revoke(&granted.grant.id, second(2)).await);
    assert!(!fixture.revoke("unknown", second(2)).await);
    let ended = fixture.find(GrantKey::Id(&granted.grant.id)).await.unwrap();
    assert_eq!(ended.grant.revoked_at, Some(second(1)), "the first time is kept");
    assert!(fixture.is_valid(&other.grant.id).await);
}

pub(crate) async fn all_grants_of_a_user_are_revoked(fixture: &Fixture) {
    let [ann, ben] = SUBJECTS;
    let granted = fixture.grant().await;
    let waiting = fixture.issue(fixture.new_code()).await;
    let ended = fixture.grant().await;
    assert!(fixture.revoke(&ended.grant.id, second(1)).await);
    let mut of_ben = fixture.new_code();
    ben.clone_into(&mut of_ben.grant.subject);
    let of_ben = fixture.redeemed(of_ben).await;

    assert_eq!(fixture.revoke_all("nobody", second(2)).await, 0);
    assert_eq!(fixture.revoke_all(ann, second(2)).await, 2);
    assert_eq!(fixture.revoke_all(ann, second(3)).await, 0);
    for (id, at) in [(&granted.grant.id, 2), (&waiting.grant.id, 2), (&ended.grant.id, 1)] {
        let found = fixture.find(GrantKey::Id(id)).await.unwrap();
        assert_eq!(found.grant.revoked_at, Some(second(at)));
    }
    assert!(!fixture.store().redeem_code(fixture.redemption(waiting.hash, NOW)).await.unwrap());
    let rotation = fixture.rotation(&granted.grant.id, &granted.token, second(3));
    assert!(!fixture.store().rotate_refresh_token(rotation).await.unwrap());
    assert!(fixture.is_valid(&of_ben.grant.id).await);
}
