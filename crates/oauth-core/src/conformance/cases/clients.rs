use crate::{
    AuthMethod, Client, ClientMetadata, Eviction, GrantType, NewClient, REREGISTRATION_INTERVAL_MS,
    SecretHash, UnixMillis,
    conformance::fixture::{Fixture, NOW, second},
};

pub(crate) async fn a_client_survives_a_round_trip(fixture: &Fixture) {
    let full = fixture.new_client();
    let mut bare = fixture.new_client();
    bare.digest = None;
    bare.client.secret = Some(SecretHash([0xff; 32]));
    bare.client.metadata = ClientMetadata {
        client_name: "x".repeat(200),
        redirect_uris: (0..20).map(|n| format!("https://a.example/{n}?{}", "y".repeat(1900))).collect(),
        grant_types: vec![GrantType::AuthorizationCode],
        scopes: vec!["mcp:images".to_owned()],
        token_endpoint_auth_method: AuthMethod::ClientSecretBasic,
        requires_assertion: true,
        software_id: None,
        software_version: Some("v".repeat(200)),
    };
    for new in [full, bare] {
        let client = new.client.clone();
        assert_eq!(fixture.store().register_client(new).await.unwrap(), client);
        assert_eq!(fixture.store().client(&client.id).await.unwrap(), Some(client));
    }
}

pub(crate) async fn an_unknown_id_finds_nothing(fixture: &Fixture) {
    let known = fixture.store().register_client(fixture.new_client()).await.unwrap();
    for id in ["", "unknown", "' OR 1=1 --", &known.id.to_uppercase(), &format!("{} ", known.id)] {
        assert_eq!(fixture.store().client(id).await.unwrap(), None, "{id:?}");
    }
}

pub(crate) async fn the_same_digest_is_the_same_client(fixture: &Fixture) {
    let first = fixture.new_client();
    let registered = fixture.store().register_client(first.clone()).await.unwrap();
    let mut again = fixture.new_client();
    again.digest = first.digest;
    again.client.issued_at = second(5);
    again.client.metadata.redirect_uris.reverse();
    let second_id = again.client.id.clone();
    assert_eq!(fixture.store().register_client(again).await.unwrap(), registered);
    assert_eq!(fixture.store().client(&second_id).await.unwrap(), None, "the second client is not stored");
    assert_eq!(fixture.store().client(&registered.id).await.unwrap(), Some(registered));
}

pub(crate) async fn another_digest_or_none_is_another_client(fixture: &Fixture) {
    let first = fixture.new_client();
    let mut without_digest = [fixture.new_client(), fixture.new_client()];
    without_digest.iter_mut().for_each(|new| new.digest = None);
    let [third, fourth] = without_digest;
    let mut registered: Vec<Client> = Vec::new();
    for new in [first, fixture.new_client(), third, fourth] {
        registered.push(fixture.store().register_client(new).await.unwrap());
    }
    for client in &registered {
        assert_eq!(fixture.store().client(&client.id).await.unwrap().as_ref(), Some(client));
        assert_eq!(registered.iter().filter(|other| other.id == client.id).count(), 1);
    }
}

/// Registers a client with an eviction down to `keep` clients and returns its id.
async fn evicting(fixture: &Fixture, at: UnixMillis, keep: u32, before: UnixMillis, max: u32) -> String {
    let mut new = fixture.new_client();
    new.client.issued_at = at;
    new.eviction = Some(Eviction { keep, before, max });
    fixture.store().register_client(new).await.unwrap().id
}

/// For each of the clients, whether it still exists.
async fn left(fixture: &Fixture, ids: &[String]) -> Vec<bool> {
    let mut left = Vec::new();
    for id in ids {
        left.push(fixture.store().client(id).await.unwrap().is_some());
    }
    left
}

/// Registers clients whose registration times are one second apart.
async fn one_each_second(fixture: &Fixture, count: i64) -> Vec<String> {
    let mut ids = Vec::new();
    for seconds in 0..count {
        ids.push(fixture.client_at(second(seconds)).await);
    }
    ids
}

pub(crate) async fn the_oldest_clients_without_a_grant_are_evicted(fixture: &Fixture) {
    let mut ids = one_each_second(fixture, 8).await;
    ids.push(evicting(fixture, second(8), 9, second(100), 3).await);
    assert_eq!(left(fixture, &ids).await, [true; 9], "nine are kept");
    ids.push(evicting(fixture, second(9), 5, second(100), 3).await);
    let expect = |gone: usize, all: usize| (0..all).map(|number| number >= gone).collect::<Vec<_>>();
    assert_eq!(left(fixture, &ids).await, expect(3, 10), "at most three are evicted at once");
    ids.push(evicting(fixture, second(10), 5, second(100), 3).await);
    assert_eq!(left(fixture, &ids).await, expect(6, 11));
    ids.push(evicting(fixture, second(11), 5, second(100), 3).await);
    assert_eq!(left(fixture, &ids).await, expect(7, 12), "five stay");
    let without_digest = NewClient { digest: None, ..fixture.new_client() };
    ids.push(fixture.store().register_client(without_digest).await.unwrap().id);
    ids.push(evicting(fixture, second(12), 5, second(100), 3).await);
    let mut expect = expect(8, 14);
    expect[12] = false;
    assert_eq!(left(fixture, &ids).await, expect, "confidential clients are evicted, too");
}

pub(crate) async fn recent_clients_are_not_evicted(fixture: &Fixture) {
    let mut ids = one_each_second(fixture, 6).await;
    ids.push(evicting(fixture, second(6), 1, second(2), 10).await);
    assert_eq!(left(fixture, &ids).await, [false, false, true, true, true, true, true]);
    ids.push(evicting(fixture, second(7), 0, second(7), 0).await);
    assert_eq!(left(fixture, &ids).await[2..], [true; 6], "none at once");
    ids.push(evicting(fixture, second(8), 0, second(8), 10).await);
    assert_eq!(left(fixture, &ids).await[2..], [false, false, false, false, false, false, true]);
}

pub(crate) async fn a_client_that_had_a_grant_is_never_evicted(fixture: &Fixture) {
    let ids = one_each_second(fixture, 4).await;
    for (id, redeems) in ids.iter().zip([true, false, true]) {
        let mut code = fixture.new_code();
        code.grant.client_id.clone_from(id);
        if redeems {
            fixture.redeemed(code).await.code
        } else {
            fixture.issue(code).await.hash
        };
    }
    let described = fixture.issue(fixture.new_code_with_client("One")).await.grant.client_id;
    // After the sweep of the grants, the store still records that the clients had grants.
    assert_eq!(fixture.revoke_all("1", NOW).await, 4);
    let grants_before = second(1);
    let [codes_before, clients_before, assertions_before] = [NOW; 3];
    let sweep = crate::Sweep { codes_before, grants_before, clients_before, assertions_before, max: 10 };
    while fixture.store().sweep(sweep).await.unwrap() > 0 {}
    evicting(fixture, second(9), 0, second(9), 10).await;
    assert_eq!(left(fixture, &ids).await, [true, true, true, false]);
    assert_eq!(left(fixture, &[described]).await, [true]);
}

pub(crate) async fn a_client_that_registers_again_is_evicted_later(fixture: &Fixture) {
    let first = fixture.new_client();
    let id = fixture.store().register_client(first.clone()).await.unwrap().id;
    let other = fixture.client_at(second(1)).await;
    let again_at = NOW.plus_ms(REREGISTRATION_INTERVAL_MS);
    let mut again = first;
    again.client.issued_at = again_at;
    fixture.store().register_client(again).await.unwrap();
    evicting(fixture, again_at.plus_ms(1), 2, again_at, 10).await;
    assert_eq!(left(fixture, &[id.clone(), other]).await, [true, false], "the other is the oldest now");
    evicting(fixture, again_at.plus_ms(2), 2, again_at.plus_ms(1), 10).await;
    assert_eq!(left(fixture, &[id]).await, [false]);
}

pub(crate) async fn a_known_client_evicts_none(fixture: &Fixture) {
    let ids = one_each_second(fixture, 3).await;
    let known = fixture.new_client();
    fixture.store().register_client(known.clone()).await.unwrap();
    let eviction = Some(Eviction { keep: 0, before: second(100), max: 10 });
    fixture.store().register_client(NewClient { eviction, ..known }).await.unwrap();
    assert_eq!(left(fixture, &ids).await, [true; 3]);
}
