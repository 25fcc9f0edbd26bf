use crate::{
    CodeStatus, Grant, GrantKey, NewCode, UnixMillis,
    conformance::fixture::{CODE_LIFETIME_S, Fixture, NOW, SUBJECTS, pending, second},
};

pub(crate) async fn a_code_is_stored_with_its_grant(fixture: &Fixture) {
    let new = fixture.issue(fixture.new_code()).await;
    for key in [GrantKey::Code(&new.hash), GrantKey::Id(&new.grant.id)] {
        assert_eq!(fixture.find(key).await, Some(pending(&new)), "{key:?}");
    }
    assert_eq!(fixture.find(GrantKey::Code(&fixture.hash())).await, None);
    assert_eq!(fixture.find(GrantKey::Id("unknown")).await, None);
}

pub(crate) async fn a_pending_code_can_be_issued_again(fixture: &Fixture) {
    let new = fixture.issue(fixture.new_code()).await;
    let mut again = new.clone();
    again.grant.id = fixture.id();
    again.grant.created_at = second(3);
    again.code.expires_at = second(3 + CODE_LIFETIME_S);
    let id = again.grant.id.clone();
    assert_eq!(fixture.store().issue_code(again).await.unwrap(), CodeStatus::Pending);
    assert_eq!(fixture.find(GrantKey::Code(&new.hash)).await, Some(pending(&new)), "nothing changed");
    assert_eq!(fixture.find(GrantKey::Id(&id)).await, None, "the second grant is not stored");
}

pub(crate) async fn a_code_belongs_to_one_consent(fixture: &Fixture) {
    type Change = fn(&mut NewCode);
    let new = fixture.issue(fixture.new_code()).await;
    let changes: [(&str, Change); 6] = [
        ("client", |new| new.grant.client_id.push('x')),
        ("user", |new| SUBJECTS[1].clone_into(&mut new.grant.subject)),
        ("resource", |new| new.grant.resource.push('/')),
        ("scopes", |new| new.grant.scopes.truncate(1)),
        ("redirect URI", |new| new.code.redirect_uri.push('/')),
        ("challenge", |new| new.code.challenge.make_ascii_lowercase()),
    ];
    for (what, change) in changes {
        let mut other = new.clone();
        other.grant.id = fixture.id();
        change(&mut other);
        let id = other.grant.id.clone();
        assert_eq!(fixture.store().issue_code(other).await.unwrap(), CodeStatus::Spent, "another {what}");
        assert_eq!(fixture.find(GrantKey::Id(&id)).await, None, "another {what}");
        assert_eq!(fixture.find(GrantKey::Code(&new.hash)).await, Some(pending(&new)), "another {what}");
    }
}

pub(crate) async fn a_redeemed_or_revoked_code_is_spent(fixture: &Fixture) {
    let redeemed = fixture.new_code();
    fixture.redeemed(redeemed.clone()).await;
    let revoked = fixture.issue(fixture.new_code()).await;
    assert!(fixture.revoke(&revoked.grant.id, NOW).await);
    for new in [redeemed, revoked] {
        let again = NewCode { grant: Grant { id: fixture.id(), ..new.grant }, ..new };
        assert_eq!(fixture.store().issue_code(again).await.unwrap(), CodeStatus::Spent);
    }
}

pub(crate) async fn a_code_is_redeemed_once(fixture: &Fixture) {
    let new = fixture.issue(fixture.new_code()).await;
    let redemption = fixture.redemption(new.hash, second(1));
    let first = redemption.refresh.clone().unwrap();
    assert!(fixture.store().redeem_code(redemption).await.unwrap());
    let again = fixture.redemption(new.hash, second(2));
    let refused = again.refresh.clone().unwrap();
    assert!(!fixture.store().redeem_code(again).await.unwrap());

    let found = fixture.find(GrantKey::Code(&new.hash)).await.unwrap();
    assert_eq!(found.code.redeemed_at, Some(second(1)));
    assert_eq!(found.grant, new.grant, "a second redemption does not change the grant");
    assert_eq!(fixture.current(&first.handle).await, first.token);
    assert_eq!(fixture.find(GrantKey::RefreshHandle(&refused.handle)).await, None);
}

pub(crate) async fn a_code_is_redeemed_before_it_expires(fixture: &Fixture) {
    let check = async |at: UnixMillis, expect: bool| {
        let new = fixture.issue(fixture.new_code()).await;
        let redemption = fixture.redemption(new.hash, at);
        let handle = redemption.refresh.clone().unwrap().handle;
        assert_eq!(fixture.store().redeem_code(redemption).await.unwrap(), expect, "{at:?}");
        let found = fixture.find(GrantKey::Code(&new.hash)).await.unwrap();
        assert_eq!(found.code.redeemed_at, expect.then_some(at), "an expired code can still be looked up");
        assert_eq!(fixture.find(GrantKey::RefreshHandle(&handle)).await.is_some(), expect);
    };
    check(NOW, true).await;
    check(second(CODE_LIFETIME_S).plus_ms(-1), true).await;
    check(second(CODE_LIFETIME_S), false).await;
    check(second(CODE_LIFETIME_S).plus_ms(1), false).await;
}

pub(crate) async fn a_code_can_be_redeemed_without_a_refresh_token(fixture: &Fixture) {
    let new = fixture.issue(fixture.new_code()).await;
    let mut redemption = fixture.redemption(new.hash, NOW);
    redemption.refresh = None;
    assert!(fixture.store().redeem_code(redemption.clone()).await.unwrap());
    assert!(!fixture.store().redeem_code(redemption).await.unwrap());
    assert!(fixture.is_valid(&new.grant.id).await);
    assert_eq!(fixture.store().connections(SUBJECTS[0]).await.unwrap().len(), 1);
}

pub(crate) async fn an_unknown_code_is_not_redeemed(fixture: &Fixture) {
    let redemption = fixture.redemption(fixture.hash(), NOW);
    let handle = redemption.refresh.clone().unwrap().handle;
    assert!(!fixture.store().redeem_code(redemption).await.unwrap());
    assert_eq!(fixture.find(GrantKey::RefreshHandle(&handle)).await, None);
}

pub(crate) async fn a_revoked_code_is_not_redeemed(fixture: &Fixture) {
    let new = fixture.issue(fixture.new_code()).await;
    assert!(fixture.revoke(&new.grant.id, second(1)).await);
    assert!(!fixture.store().redeem_code(fixture.redemption(new.hash, second(2))).await.unwrap());
    let found = fixture.find(GrantKey::Code(&new.hash)).await.unwrap();
    assert_eq!((found.code.redeemed_at, found.grant.revoked_at), (None, Some(second(1))));
}

/// Whether the store has the client of this code, unchanged.
async fn keeps(fixture: &Fixture, new: &NewCode) -> bool {
    let client = new.client.as_ref().unwrap();
    fixture.store().client(&client.id).await.unwrap().as_ref() == Some(client)
}

pub(crate) async fn a_client_with_a_document_is_stored_with_its_code(fixture: &Fixture) {
    let first = fixture.issue(fixture.new_code_with_client("One")).await;
    assert!(keeps(fixture, &first).await);
    let mut next = fixture.new_code_with_client("Two");
    if let Some(client) = &mut next.client {
        client.issued_at = second(5);
        client.metadata.redirect_uris.truncate(1);
    }
    fixture.redeemed(next.clone()).await;
    assert!(keeps(fixture, &next).await && !keeps(fixture, &first).await, "its document has changed");
    let connections = fixture.store().connections(SUBJECTS[0]).await.unwrap();
    assert_eq!(connections[0].client_name.as_deref(), Some("Two"));
    fixture.issue(fixture.new_code()).await;
    assert!(keeps(fixture, &next).await, "a code without a client changes none");
}

pub(crate) async fn an_existing_code_stores_no_client(fixture: &Fixture) {
    let known = fixture.issue(fixture.new_code_with_client("One")).await;
    let mut again = fixture.new_code_with_client("Two");
    again.hash = known.hash;
    assert_eq!(fixture.store().issue_code(again.clone()).await.unwrap(), CodeStatus::Pending);
    assert!(keeps(fixture, &known).await);
    again.code.challenge.make_ascii_lowercase();
    assert_eq!(fixture.store().issue_code(again).await.unwrap(), CodeStatus::Spent);
    assert!(keeps(fixture, &known).await);
}
