use crate::conformance::seed::{NOW, SUBJECTS, Seed, second};

pub(crate) async fn a_grant_ends_once(seed: &Seed) {
    let granted = seed.grant().await;
    let other = seed.grant().await;
    assert!(seed.store().revoke_grant(&granted.grant.id, second(1)).await.unwrap());
    assert!(!seed.store().revoke_grant(&granted.grant.id, second(2)).await.unwrap());
    assert!(!seed.store().revoke_grant("unknown", second(2)).await.unwrap());
    let ended = seed.store().grant(&granted.grant.id).await.unwrap().unwrap();
    assert_eq!(ended.revoked_at, Some(second(1)), "the first moment stays");
    assert!(seed.is_alive(&other.grant.id).await);
}

pub(crate) async fn all_grants_of_a_user_end(seed: &Seed) {
    let [ann, ben] = SUBJECTS;
    let granted = seed.grant().await;
    let waiting = seed.issue(seed.new_code()).await;
    let ended = seed.grant().await;
    assert!(seed.store().revoke_grant(&ended.grant.id, second(1)).await.unwrap());
    let mut of_ben = seed.new_code();
    ben.clone_into(&mut of_ben.code.grant.subject);
    let of_ben = seed.redeemed(of_ben).await;

    assert_eq!(seed.store().revoke_all("nobody", second(2)).await.unwrap(), 0);
    assert_eq!(seed.store().revoke_all(ann, second(2)).await.unwrap(), 2);
    assert_eq!(seed.store().revoke_all(ann, second(3)).await.unwrap(), 0);
    for (id, at) in [(&granted.grant.id, 2), (&waiting.code.grant.id, 2), (&ended.grant.id, 1)] {
        let grant = seed.store().grant(id).await.unwrap().unwrap();
        assert_eq!(grant.revoked_at, Some(second(at)));
    }
    assert!(!seed.store().redeem_code(seed.redemption(waiting.hash, NOW)).await.unwrap());
    let rotation = seed.rotation(&granted.grant.id, &granted.token, second(3));
    assert!(!seed.store().rotate_refresh_token(rotation).await.unwrap());
    assert!(seed.is_alive(&of_ben.grant.id).await);
}
