use crate::{
    GrantKey, NewCode, REREGISTRATION_INTERVAL_MS, Sweep, UnixMillis,
    conformance::fixture::{
        ACCESS_LIFETIME_S, CODE_LIFETIME_S, Fixture, NOW, REFRESH_LIFETIME_S, SUBJECTS, second,
    },
};

/// Sweeps with these limits until nothing more is deleted.
async fn sweep_before(fixture: &Fixture, codes: UnixMillis, grants: UnixMillis, clients: UnixMillis) {
    let sweep = Sweep {
        codes_before: codes,
        grants_before: grants,
        clients_before: clients,
        assertions_before: NEVER,
        max: 1000,
    };
    while fixture.store().sweep(sweep).await.unwrap() > 0 {}
}

const NEVER: UnixMillis = UnixMillis(0);

async fn is_there(fixture: &Fixture, code: &NewCode) -> bool {
    let found = fixture.find(GrantKey::Code(&code.hash)).await;
    let grant = fixture.find(GrantKey::Id(&code.grant.id)).await;
    assert_eq!(found.is_some(), grant.is_some(), "a code and its grant are deleted together");
    grant.is_some()
}

pub(crate) async fn expired_codes_are_swept_with_their_grants(fixture: &Fixture) {
    let waiting = fixture.issue(fixture.new_code()).await;
    let redeemed = fixture.new_code();
    fixture.redeemed(redeemed.clone()).await;
    sweep_before(fixture, second(CODE_LIFETIME_S), NEVER, NEVER).await;
    assert!(is_there(fixture, &waiting).await, "it expires later");
    sweep_before(fixture, second(CODE_LIFETIME_S).plus_ms(1), NEVER, NEVER).await;
    assert!(!is_there(fixture, &waiting).await);
    assert!(is_there(fixture, &redeemed).await, "a redeemed code is deleted only with its grant");
    assert_eq!(fixture.store().connections(SUBJECTS[0]).await.unwrap().len(), 1);
}

pub(crate) async fn revoked_grants_are_swept(fixture: &Fixture) {
    let granted = fixture.grant().await;
    let alive = fixture.grant().await;
    assert!(fixture.revoke(&granted.grant.id, second(5)).await);
    sweep_before(fixture, NEVER, second(5), NEVER).await;
    assert!(fixture.find(GrantKey::Id(&granted.grant.id)).await.is_some());
    sweep_before(fixture, NEVER, second(5).plus_ms(1), NEVER).await;
    assert_eq!(fixture.find(GrantKey::Id(&granted.grant.id)).await, None);
    assert_eq!(fixture.find(GrantKey::RefreshHandle(&granted.handle)).await, None);
    assert_eq!(fixture.find(GrantKey::Code(&granted.code)).await, None);
    assert!(fixture.is_valid(&alive.grant.id).await);
    assert_eq!(fixture.current(&alive.handle).await, alive.token);
}

pub(crate) async fn a_grant_is_swept_after_its_last_tokens_expired(fixture: &Fixture) {
    let granted = fixture.grant().await;
    let without_refresh = fixture.issue(fixture.new_code()).await;
    let mut redemption = fixture.redemption(without_refresh.hash, NOW);
    redemption.refresh = None;
    assert!(fixture.store().redeem_code(redemption).await.unwrap());
    let rotation = fixture.rotation(&granted.grant.id, &granted.token, second(REFRESH_LIFETIME_S - 1));
    assert!(fixture.store().rotate_refresh_token(rotation).await.unwrap());

    sweep_before(fixture, NEVER, second(ACCESS_LIFETIME_S), NEVER).await;
    assert!(fixture.is_valid(&without_refresh.grant.id).await, "its access token expires at that moment");
    sweep_before(fixture, NEVER, second(ACCESS_LIFETIME_S).plus_ms(1), NEVER).await;
    assert_eq!(fixture.find(GrantKey::Id(&without_refresh.grant.id)).await, None);
    sweep_before(fixture, NEVER, second(2 * REFRESH_LIFETIME_S - 1), NEVER).await;
    assert!(fixture.is_valid(&granted.grant.id).await, "its refresh token was replaced");
    sweep_before(fixture, NEVER, second(2 * REFRESH_LIFETIME_S), NEVER).await;
    assert_eq!(fixture.find(GrantKey::Id(&granted.grant.id)).await, None);
}

pub(crate) async fn the_longer_lived_token_keeps_a_grant(fixture: &Fixture) {
    let code = fixture.issue(fixture.new_code()).await;
    let mut redemption = fixture.redemption(code.hash, NOW);
    redemption.access_expires_at = second(2 * REFRESH_LIFETIME_S);
    assert!(fixture.store().redeem_code(redemption).await.unwrap());
    sweep_before(fixture, NEVER, second(REFRESH_LIFETIME_S + 1), NEVER).await;
    assert!(fixture.is_valid(&code.grant.id).await);
}

/// A rotation does not end earlier access tokens, so a grant is kept until the last of them expires, whichever was
/// issued first.
pub(crate) async fn an_access_token_keeps_a_grant_after_a_rotation(fixture: &Fixture) {
    let [short, long] = [second(ACCESS_LIFETIME_S), second(3 * REFRESH_LIFETIME_S)];
    for (first, second_one) in [(short, long), (long, short)] {
        let code = fixture.issue(fixture.new_code()).await;
        let mut redemption = fixture.redemption(code.hash, NOW);
        redemption.access_expires_at = first;
        let token = redemption.refresh.clone().unwrap().token;
        assert!(fixture.store().redeem_code(redemption).await.unwrap());
        let mut rotation = fixture.rotation(&code.grant.id, &token, second(1));
        rotation.access_expires_at = second_one;
        assert!(fixture.store().rotate_refresh_token(rotation).await.unwrap());
        sweep_before(fixture, NEVER, long, NEVER).await;
        assert!(fixture.is_valid(&code.grant.id).await, "an access token is valid");
        sweep_before(fixture, NEVER, long.plus_ms(1), NEVER).await;
        assert_eq!(fixture.find(GrantKey::Id(&code.grant.id)).await, None);
    }
}

pub(crate) async fn a_revoked_grant_with_a_pending_code_is_swept(fixture: &Fixture) {
    let expired = second(CODE_LIFETIME_S + 1);
    for (codes_before, grants_before) in [(expired, NEVER), (NEVER, second(6))] {
        let revoked = fixture.issue(fixture.new_code()).await;
        assert!(fixture.revoke(&revoked.grant.id, second(5)).await);
        sweep_before(fixture, second(CODE_LIFETIME_S), second(5), NEVER).await;
        assert!(is_there(fixture, &revoked).await, "neither limit is reached");
        sweep_before(fixture, codes_before, grants_before, NEVER).await;
        assert!(!is_there(fixture, &revoked).await);
    }
}

pub(crate) async fn a_grant_with_a_pending_code_has_not_ended(fixture: &Fixture) {
    let waiting = fixture.issue(fixture.new_code()).await;
    sweep_before(fixture, NEVER, second(10 * REFRESH_LIFETIME_S), NEVER).await;
    assert!(is_there(fixture, &waiting).await);
}

pub(crate) async fn clients_without_a_grant_are_swept(fixture: &Fixture) {
    let [old, young] = [fixture.client_at(NOW).await, fixture.client_at(second(5)).await];
    sweep_before(fixture, NEVER, NEVER, NOW).await;
    assert!(fixture.store().client(&old).await.unwrap().is_some());
    sweep_before(fixture, NEVER, NEVER, second(5)).await;
    assert_eq!(fixture.store().client(&old).await.unwrap(), None);
    assert!(fixture.store().client(&young).await.unwrap().is_some());
}

pub(crate) async fn a_client_with_a_grant_is_kept(fixture: &Fixture) {
    let client = fixture.client_at(NOW).await;
    let mut code = fixture.new_code();
    code.grant.client_id.clone_from(&client);
    let granted = fixture.redeemed(code).await;
    sweep_before(fixture, NEVER, NEVER, second(5)).await;
    assert!(fixture.store().client(&client).await.unwrap().is_some());
    assert!(fixture.revoke(&granted.grant.id, second(1)).await);
    sweep_before(fixture, NEVER, second(2), second(5)).await;
    assert_eq!(fixture.store().client(&client).await.unwrap(), None, "its last grant was deleted");
}

pub(crate) async fn a_swept_client_can_register_again(fixture: &Fixture) {
    let first = fixture.new_client();
    fixture.store().register_client(first.clone()).await.unwrap();
    sweep_before(fixture, NEVER, NEVER, second(1)).await;
    let mut again = fixture.new_client();
    again.digest = first.digest;
    let client = again.client.clone();
    assert_eq!(fixture.store().register_client(again).await.unwrap(), client);
    assert_eq!(fixture.store().client(&client.id).await.unwrap(), Some(client));
}

pub(crate) async fn a_client_that_registers_again_is_kept_longer(fixture: &Fixture) {
    let first = fixture.new_client();
    let registered = fixture.store().register_client(first.clone()).await.unwrap();
    let register_at = async |at: UnixMillis| {
        let mut again = fixture.new_client();
        again.digest = first.digest;
        again.client.issued_at = at;
        assert_eq!(fixture.store().register_client(again).await.unwrap(), registered);
    };
    let is_kept = async || fixture.store().client(&registered.id).await.unwrap().is_some();
    let again_at = NOW.plus_ms(REREGISTRATION_INTERVAL_MS);
    register_at(again_at).await;
    register_at(again_at.plus_ms(-1)).await;
    sweep_before(fixture, NEVER, NEVER, again_at).await;
    assert!(is_kept().await, "an earlier registration changes nothing");
    register_at(again_at.plus_ms(REREGISTRATION_INTERVAL_MS - 1)).await;
    sweep_before(fixture, NEVER, NEVER, again_at.plus_ms(1)).await;
    assert!(!is_kept().await, "too soon after the last one to be recorded");
}

pub(crate) async fn a_client_with_a_document_is_swept_after_its_last_grant(fixture: &Fixture) {
    let waiting = fixture.issue(fixture.new_code_with_client("One")).await;
    let id = waiting.grant.client_id;
    let is_kept = async || fixture.store().client(&id).await.unwrap().is_some();
    sweep_before(fixture, NEVER, NEVER, second(5)).await;
    assert!(is_kept().await, "its code is pending");
    let granted = fixture.redeemed(fixture.new_code_with_client("One")).await;
    sweep_before(fixture, second(CODE_LIFETIME_S + 1), NEVER, second(5)).await;
    assert!(is_kept().await, "it has a grant");
    assert!(fixture.revoke(&granted.grant.id, second(1)).await);
    sweep_before(fixture, NEVER, second(2), NOW).await;
    assert!(is_kept().await, "it was used recently");
    sweep_before(fixture, NEVER, second(2), second(5)).await;
    assert!(!is_kept().await);
}

pub(crate) async fn a_sweep_deletes_in_batches(fixture: &Fixture) {
    let (mut codes, mut grants, mut clients) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..10 {
        codes.push(fixture.issue(fixture.new_code()).await.grant.id);
        let granted = fixture.grant().await.grant.id;
        assert!(fixture.revoke(&granted, NOW).await);
        grants.push(granted);
        clients.push(fixture.client_at(NOW).await);
    }
    let left = async || {
        let mut left = [0; 3];
        for id in &codes {
            left[0] += usize::from(fixture.find(GrantKey::Id(id)).await.is_some());
        }
        for id in &grants {
            left[1] += usize::from(fixture.find(GrantKey::Id(id)).await.is_some());
        }
        for id in &clients {
            left[2] += usize::from(fixture.store().client(id).await.unwrap().is_some());
        }
        left
    };
    let [codes_before, grants_before, clients_before] = [second(CODE_LIFETIME_S + 1), second(1), second(1)];
    let sweep = Sweep { codes_before, grants_before, clients_before, assertions_before: NEVER, max: 3 };
    let mut before = left().await;
    assert_eq!(before, [10; 3]);
    for _ in 0..100 {
        let gone = fixture.store().sweep(sweep).await.unwrap();
        let after = left().await;
        let went: Vec<usize> = before.iter().zip(after).map(|(before, after)| before - after).collect();
        assert!(went.iter().all(|went| *went <= 3), "{went:?} of each kind went at once");
        assert_eq!(gone > 0, went.iter().any(|went| *went > 0), "{gone} rows for {went:?}");
        before = after;
        if gone == 0 {
            break;
        }
    }
    assert_eq!(before, [0; 3]);
}
