use crate::{
    CodeStatus, IssuedCode, NewCode, UnixMillis,
    conformance::seed::{CODE_LIFE, NOW, SUBJECTS, Seed, second},
};

pub(crate) async fn a_code_is_kept_with_its_grant(seed: &Seed) {
    let new = seed.issue(seed.new_code()).await;
    assert_eq!(seed.store().code(&new.hash).await.unwrap().as_ref(), Some(&new.code));
    assert_eq!(seed.store().grant(&new.code.grant.id).await.unwrap(), Some(new.code.grant));
    assert_eq!(seed.store().code(&seed.hash()).await.unwrap(), None);
    assert_eq!(seed.store().grant("unknown").await.unwrap(), None);
}

pub(crate) async fn a_waiting_code_can_be_issued_again(seed: &Seed) {
    let new = seed.issue(seed.new_code()).await;
    let mut again = new.clone();
    again.code.grant.id = seed.id();
    again.code.grant.created_at = second(3);
    again.code.expires_at = second(3 + CODE_LIFE);
    let id = again.code.grant.id.clone();
    assert_eq!(seed.store().issue_code(again).await.unwrap(), CodeStatus::Pending);
    assert_eq!(seed.store().code(&new.hash).await.unwrap(), Some(new.code), "nothing changed");
    assert_eq!(seed.store().grant(&id).await.unwrap(), None, "the second grant is not stored");
}

pub(crate) async fn a_code_stands_for_one_consent(seed: &Seed) {
    type Change = fn(&mut IssuedCode);
    let new = seed.issue(seed.new_code()).await;
    let changes: [(&str, Change); 6] = [
        ("client", |code| code.grant.client_id.push('x')),
        ("user", |code| SUBJECTS[1].clone_into(&mut code.grant.subject)),
        ("resource", |code| code.grant.resource.push('/')),
        ("scopes", |code| code.grant.scopes.truncate(1)),
        ("redirect URI", |code| code.redirect_uri.push('/')),
        ("challenge", |code| code.challenge.make_ascii_lowercase()),
    ];
    for (what, change) in changes {
        let mut other = new.clone();
        other.code.grant.id = seed.id();
        change(&mut other.code);
        let id = other.code.grant.id.clone();
        assert_eq!(seed.store().issue_code(other).await.unwrap(), CodeStatus::Spent, "another {what}");
        assert_eq!(seed.store().grant(&id).await.unwrap(), None, "another {what}");
        assert_eq!(seed.store().code(&new.hash).await.unwrap().as_ref(), Some(&new.code), "another {what}");
    }
}

pub(crate) async fn a_redeemed_or_revoked_code_is_spent(seed: &Seed) {
    let redeemed = seed.new_code();
    seed.redeemed(redeemed.clone()).await;
    let revoked = seed.issue(seed.new_code()).await;
    assert!(seed.store().revoke_grant(&revoked.code.grant.id, NOW).await.unwrap());
    for new in [redeemed, revoked] {
        let again = NewCode {
            code: IssuedCode { grant: crate::Grant { id: seed.id(), ..new.code.grant }, ..new.code },
            ..new
        };
        assert_eq!(seed.store().issue_code(again).await.unwrap(), CodeStatus::Spent);
    }
}

pub(crate) async fn a_code_is_redeemed_once(seed: &Seed) {
    let new = seed.issue(seed.new_code()).await;
    let redemption = seed.redemption(new.hash, second(1));
    let first = redemption.refresh.clone().unwrap();
    assert!(seed.store().redeem_code(redemption).await.unwrap());
    let again = seed.redemption(new.hash, second(2));
    let refused = again.refresh.clone().unwrap();
    assert!(!seed.store().redeem_code(again).await.unwrap());

    let code = seed.store().code(&new.hash).await.unwrap().unwrap();
    assert_eq!(code.redeemed_at, Some(second(1)));
    assert_eq!(code.grant, new.code.grant, "a second redemption leaves the grant as it is");
    assert_eq!(seed.current(&first.handle).await, first.token);
    assert_eq!(seed.store().refreshable_grant(&refused.handle).await.unwrap(), None);
}

pub(crate) async fn a_code_is_redeemed_before_it_expires(seed: &Seed) {
    let check = async |at: UnixMillis, expect: bool| {
        let new = seed.issue(seed.new_code()).await;
        let redemption = seed.redemption(new.hash, at);
        let handle = redemption.refresh.clone().unwrap().handle;
        assert_eq!(seed.store().redeem_code(redemption).await.unwrap(), expect, "{at:?}");
        let code = seed.store().code(&new.hash).await.unwrap().unwrap();
        assert_eq!(code.redeemed_at, expect.then_some(at), "an expired code can still be looked up");
        assert_eq!(seed.store().refreshable_grant(&handle).await.unwrap().is_some(), expect);
    };
    check(NOW, true).await;
    check(second(CODE_LIFE).plus_ms(-1), true).await;
    check(second(CODE_LIFE), false).await;
    check(second(CODE_LIFE).plus_ms(1), false).await;
}

pub(crate) async fn a_code_may_come_without_a_refresh_token(seed: &Seed) {
    let new = seed.issue(seed.new_code()).await;
    let mut redemption = seed.redemption(new.hash, NOW);
    redemption.refresh = None;
    assert!(seed.store().redeem_code(redemption.clone()).await.unwrap());
    assert!(!seed.store().redeem_code(redemption).await.unwrap());
    assert!(seed.is_alive(&new.code.grant.id).await);
    assert_eq!(seed.store().connections(SUBJECTS[0]).await.unwrap().len(), 1);
}

pub(crate) async fn an_unknown_code_opens_nothing(seed: &Seed) {
    let redemption = seed.redemption(seed.hash(), NOW);
    let handle = redemption.refresh.clone().unwrap().handle;
    assert!(!seed.store().redeem_code(redemption).await.unwrap());
    assert_eq!(seed.store().refreshable_grant(&handle).await.unwrap(), None);
}

pub(crate) async fn a_revoked_code_opens_nothing(seed: &Seed) {
    let new = seed.issue(seed.new_code()).await;
    assert!(seed.store().revoke_grant(&new.code.grant.id, second(1)).await.unwrap());
    assert!(!seed.store().redeem_code(seed.redemption(new.hash, second(2))).await.unwrap());
    let code = seed.store().code(&new.hash).await.unwrap().unwrap();
    assert_eq!((code.redeemed_at, code.grant.revoked_at), (None, Some(second(1))));
}

/// Whether the store keeps this code's client as it is.
async fn keeps(seed: &Seed, new: &NewCode) -> bool {
    let client = new.client.as_ref().unwrap();
    seed.store().client(&client.id).await.unwrap().as_ref() == Some(client)
}

pub(crate) async fn a_client_that_describes_itself_is_kept_with_its_code(seed: &Seed) {
    let first = seed.issue(seed.new_code_of_described("One")).await;
    assert!(keeps(seed, &first).await);
    let mut next = seed.new_code_of_described("Two");
    if let Some(client) = &mut next.client {
        client.issued_at = second(5);
        client.metadata.redirect_uris.truncate(1);
    }
    seed.redeemed(next.clone()).await;
    assert!(keeps(seed, &next).await && !keeps(seed, &first).await, "it describes itself otherwise now");
    let connections = seed.store().connections(SUBJECTS[0]).await.unwrap();
    assert_eq!(connections[0].client_name.as_deref(), Some("Two"));
    seed.issue(seed.new_code()).await;
    assert!(keeps(seed, &next).await, "a code without a client changes none");
}

pub(crate) async fn a_code_that_is_not_new_keeps_no_client(seed: &Seed) {
    let known = seed.issue(seed.new_code_of_described("One")).await;
    let mut again = seed.new_code_of_described("Two");
    again.hash = known.hash;
    assert_eq!(seed.store().issue_code(again.clone()).await.unwrap(), CodeStatus::Pending);
    assert!(keeps(seed, &known).await);
    again.code.challenge.make_ascii_lowercase();
    assert_eq!(seed.store().issue_code(again).await.unwrap(), CodeStatus::Spent);
    assert!(keeps(seed, &known).await);
}
