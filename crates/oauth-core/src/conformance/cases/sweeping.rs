use crate::{
    NewCode, REREGISTRATION_INTERVAL_MS, Sweep, UnixMillis,
    conformance::seed::{ACCESS_LIFE, CODE_LIFE, NOW, REFRESH_LIFE, SUBJECTS, Seed, second},
};

/// Sweeps what is older than that until nothing goes any more.
async fn sweep_before(seed: &Seed, codes: UnixMillis, grants: UnixMillis, clients: UnixMillis) {
    let sweep = Sweep { codes_before: codes, grants_before: grants, clients_before: clients, max: 1000 };
    while seed.store().sweep(sweep).await.unwrap() > 0 {}
}

const NEVER: UnixMillis = UnixMillis(0);

async fn is_there(seed: &Seed, code: &NewCode) -> bool {
    let found = seed.store().code(&code.hash).await.unwrap();
    let grant = seed.store().grant(&code.code.grant.id).await.unwrap();
    assert_eq!(found.is_some(), grant.is_some(), "a code goes with its grant");
    grant.is_some()
}

pub(crate) async fn expired_codes_go_with_their_grants(seed: &Seed) {
    let waiting = seed.issue(seed.new_code()).await;
    let redeemed = seed.new_code();
    seed.redeemed(redeemed.clone()).await;
    sweep_before(seed, second(CODE_LIFE), NEVER, NEVER).await;
    assert!(is_there(seed, &waiting).await, "it did not expire before that");
    sweep_before(seed, second(CODE_LIFE).plus_ms(1), NEVER, NEVER).await;
    assert!(!is_there(seed, &waiting).await);
    assert!(is_there(seed, &redeemed).await, "a redeemed code goes with its grant only");
    assert_eq!(seed.store().connections(SUBJECTS[0]).await.unwrap().len(), 1);
}

pub(crate) async fn revoked_grants_go(seed: &Seed) {
    let granted = seed.grant().await;
    let alive = seed.grant().await;
    assert!(seed.store().revoke_grant(&granted.grant.id, second(5)).await.unwrap());
    sweep_before(seed, NEVER, second(5), NEVER).await;
    assert!(seed.store().grant(&granted.grant.id).await.unwrap().is_some());
    sweep_before(seed, NEVER, second(5).plus_ms(1), NEVER).await;
    assert_eq!(seed.store().grant(&granted.grant.id).await.unwrap(), None);
    assert_eq!(seed.store().refreshable_grant(&granted.handle).await.unwrap(), None);
    assert_eq!(seed.store().code(&granted.code).await.unwrap(), None);
    assert!(seed.is_alive(&alive.grant.id).await);
    assert_eq!(seed.current(&alive.handle).await, alive.token);
}

pub(crate) async fn a_grant_goes_when_its_last_tokens_expired(seed: &Seed) {
    let granted = seed.grant().await;
    let without_refresh = seed.issue(seed.new_code()).await;
    let mut redemption = seed.redemption(without_refresh.hash, NOW);
    redemption.refresh = None;
    assert!(seed.store().redeem_code(redemption).await.unwrap());
    let rotation = seed.rotation(&granted.grant.id, &granted.token, second(REFRESH_LIFE - 1));
    assert!(seed.store().rotate_refresh_token(rotation).await.unwrap());

    sweep_before(seed, NEVER, second(ACCESS_LIFE), NEVER).await;
    assert!(seed.is_alive(&without_refresh.code.grant.id).await, "its access token expires at that moment");
    sweep_before(seed, NEVER, second(ACCESS_LIFE).plus_ms(1), NEVER).await;
    assert_eq!(seed.store().grant(&without_refresh.code.grant.id).await.unwrap(), None);
    sweep_before(seed, NEVER, second(2 * REFRESH_LIFE - 1), NEVER).await;
    assert!(seed.is_alive(&granted.grant.id).await, "its refresh token was replaced");
    sweep_before(seed, NEVER, second(2 * REFRESH_LIFE), NEVER).await;
    assert_eq!(seed.store().grant(&granted.grant.id).await.unwrap(), None);
}

pub(crate) async fn the_longer_lived_token_keeps_a_grant(seed: &Seed) {
    let code = seed.issue(seed.new_code()).await;
    let mut redemption = seed.redemption(code.hash, NOW);
    redemption.access_expires_at = second(2 * REFRESH_LIFE);
    assert!(seed.store().redeem_code(redemption).await.unwrap());
    sweep_before(seed, NEVER, second(REFRESH_LIFE + 1), NEVER).await;
    assert!(seed.is_alive(&code.code.grant.id).await);
}

pub(crate) async fn a_waiting_code_is_no_grant_that_ended(seed: &Seed) {
    let waiting = seed.issue(seed.new_code()).await;
    sweep_before(seed, NEVER, second(10 * REFRESH_LIFE), NEVER).await;
    assert!(is_there(seed, &waiting).await);
}

pub(crate) async fn clients_without_a_grant_go(seed: &Seed) {
    let [old, young] = [seed.client_at(NOW).await, seed.client_at(second(5)).await];
    sweep_before(seed, NEVER, NEVER, NOW).await;
    assert!(seed.store().client(&old).await.unwrap().is_some());
    sweep_before(seed, NEVER, NEVER, second(5)).await;
    assert_eq!(seed.store().client(&old).await.unwrap(), None);
    assert!(seed.store().client(&young).await.unwrap().is_some());
}

pub(crate) async fn a_client_with_a_grant_stays(seed: &Seed) {
    let client = seed.client_at(NOW).await;
    let mut code = seed.new_code();
    code.code.grant.client_id.clone_from(&client);
    let granted = seed.redeemed(code).await;
    sweep_before(seed, NEVER, NEVER, second(5)).await;
    assert!(seed.store().client(&client).await.unwrap().is_some());
    assert!(seed.store().revoke_grant(&granted.grant.id, second(1)).await.unwrap());
    sweep_before(seed, NEVER, second(2), second(5)).await;
    assert_eq!(seed.store().client(&client).await.unwrap(), None, "its last grant went");
}

pub(crate) async fn a_client_that_went_can_register_again(seed: &Seed) {
    let first = seed.new_client();
    seed.store().register_client(first.clone()).await.unwrap();
    sweep_before(seed, NEVER, NEVER, second(1)).await;
    let mut again = seed.new_client();
    again.digest = first.digest;
    let client = again.client.clone();
    assert_eq!(seed.store().register_client(again).await.unwrap(), client);
    assert_eq!(seed.store().client(&client.id).await.unwrap(), Some(client));
}

pub(crate) async fn a_client_that_registers_again_stays_longer(seed: &Seed) {
    let first = seed.new_client();
    let registered = seed.store().register_client(first.clone()).await.unwrap();
    let register_at = async |at: UnixMillis| {
        let mut again = seed.new_client();
        again.digest = first.digest;
        again.client.issued_at = at;
        assert_eq!(seed.store().register_client(again).await.unwrap(), registered);
    };
    let is_kept = async || seed.store().client(&registered.id).await.unwrap().is_some();
    let again_at = NOW.plus_ms(REREGISTRATION_INTERVAL_MS);
    register_at(again_at).await;
    register_at(again_at.plus_ms(-1)).await;
    sweep_before(seed, NEVER, NEVER, again_at).await;
    assert!(is_kept().await, "a moment before the last changes nothing");
    register_at(again_at.plus_ms(REREGISTRATION_INTERVAL_MS - 1)).await;
    sweep_before(seed, NEVER, NEVER, again_at.plus_ms(1)).await;
    assert!(!is_kept().await, "too soon after the last to be noted");
}

pub(crate) async fn a_client_that_describes_itself_goes_with_its_last_grant(seed: &Seed) {
    let waiting = seed.issue(seed.new_code_of_described("One")).await;
    let id = waiting.code.grant.client_id;
    let is_kept = async || seed.store().client(&id).await.unwrap().is_some();
    sweep_before(seed, NEVER, NEVER, second(5)).await;
    assert!(is_kept().await, "its code waits");
    let granted = seed.redeemed(seed.new_code_of_described("One")).await;
    sweep_before(seed, second(CODE_LIFE + 1), NEVER, second(5)).await;
    assert!(is_kept().await, "it has a grant");
    assert!(seed.store().revoke_grant(&granted.grant.id, second(1)).await.unwrap());
    sweep_before(seed, NEVER, second(2), NOW).await;
    assert!(is_kept().await, "it was in use not long ago");
    sweep_before(seed, NEVER, second(2), second(5)).await;
    assert!(!is_kept().await);
}

pub(crate) async fn a_sweep_goes_batch_by_batch(seed: &Seed) {
    let (mut codes, mut grants, mut clients) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..10 {
        codes.push(seed.issue(seed.new_code()).await.code.grant.id);
        let granted = seed.grant().await.grant.id;
        assert!(seed.store().revoke_grant(&granted, NOW).await.unwrap());
        grants.push(granted);
        clients.push(seed.client_at(NOW).await);
    }
    let left = async || {
        let mut left = [0; 3];
        for id in &codes {
            left[0] += usize::from(seed.store().grant(id).await.unwrap().is_some());
        }
        for id in &grants {
            left[1] += usize::from(seed.store().grant(id).await.unwrap().is_some());
        }
        for id in &clients {
            left[2] += usize::from(seed.store().client(id).await.unwrap().is_some());
        }
        left
    };
    let [codes_before, grants_before, clients_before] = [second(CODE_LIFE + 1), second(1), second(1)];
    let sweep = Sweep { codes_before, grants_before, clients_before, max: 3 };
    let mut before = left().await;
    assert_eq!(before, [10; 3]);
    for _ in 0..100 {
        let gone = seed.store().sweep(sweep).await.unwrap();
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
