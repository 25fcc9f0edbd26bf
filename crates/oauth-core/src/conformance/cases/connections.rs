use crate::{
    Connection,
    conformance::fixture::{Fixture, NOW, Redeemed, SUBJECTS, second},
};

async fn granted_at(fixture: &Fixture, seconds: i64) -> Redeemed {
    let mut code = fixture.new_code();
    code.grant.created_at = second(seconds);
    code.code.expires_at = second(seconds + 600);
    fixture.redeemed(code).await
}

pub(crate) async fn connections_are_listed_newest_first(fixture: &Fixture) {
    let mut expect = Vec::new();
    for seconds in [5, 1, 9, 3, 7] {
        expect.push((seconds, granted_at(fixture, seconds).await.grant));
    }
    expect.sort_by_key(|(seconds, _)| -seconds);
    let listed = fixture.store().connections(SUBJECTS[0]).await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|connection| connection.grant).collect();
    assert_eq!(listed, expect.into_iter().map(|(_, grant)| grant).collect::<Vec<_>>());
}

pub(crate) async fn only_redeemed_unrevoked_grants_of_the_user_are_listed(fixture: &Fixture) {
    let [ann, ben] = SUBJECTS;
    fixture.issue(fixture.new_code()).await;
    let revoked = fixture.grant().await;
    assert!(fixture.revoke(&revoked.grant.id, NOW).await);
    let mut of_ben = fixture.new_code();
    ben.clone_into(&mut of_ben.grant.subject);
    let of_ben = fixture.redeemed(of_ben).await;
    assert_eq!(fixture.store().connections(ann).await.unwrap(), []);
    assert_eq!(fixture.store().connections("nobody").await.unwrap(), []);
    let listed = fixture.store().connections(ben).await.unwrap();
    assert_eq!(listed.into_iter().map(|connection| connection.grant).collect::<Vec<_>>(), [of_ben.grant]);
}

pub(crate) async fn a_connection_names_its_client(fixture: &Fixture) {
    let client = fixture.store().register_client(fixture.new_client()).await.unwrap();
    let mut code = fixture.new_code();
    code.grant.client_id.clone_from(&client.id);
    code.grant.created_at = second(1);
    fixture.redeemed(code).await;
    fixture.grant().await;
    let listed = fixture.store().connections(SUBJECTS[0]).await.unwrap();
    let names: Vec<_> = listed.iter().map(|connection| connection.client_name.clone()).collect();
    assert_eq!(names, [Some(client.metadata.client_name), None]);
}

pub(crate) async fn the_last_use_never_moves_back(fixture: &Fixture) {
    let granted = fixture.grant().await;
    let last_use = async || {
        let listed = fixture.store().connections(SUBJECTS[0]).await.unwrap();
        listed.into_iter().map(|connection| connection.last_used_at).collect::<Vec<_>>()
    };
    assert_eq!(last_use().await, [None]);
    for (noted, expect) in [(5, 5), (3, 5), (5, 5), (8, 8), (1, 8)] {
        fixture.store().record_use(&granted.grant.id, second(noted)).await.unwrap();
        assert_eq!(last_use().await, [Some(second(expect))]);
    }
    fixture.store().record_use("unknown", second(9)).await.unwrap();
    assert_eq!(last_use().await, [Some(second(8))]);
    let rotation = fixture.rotation(&granted.grant.id, &granted.token, second(10));
    assert!(fixture.store().rotate_refresh_token(rotation).await.unwrap());
    assert_eq!(last_use().await, [Some(second(8))], "only recorded uses count");
}

pub(crate) async fn a_connection_has_the_redirect_uri_of_its_code(fixture: &Fixture) {
    for uri in ["https://app.example:8443/cb?a", "http://127.0.0.1:1/"] {
        let mut code = fixture.new_code();
        uri.clone_into(&mut code.code.redirect_uri);
        fixture.redeemed(code).await;
    }
    let listed = fixture.store().connections(SUBJECTS[0]).await.unwrap();
    let hosts: Vec<_> = listed.iter().map(Connection::redirect_host).collect();
    assert!(hosts.contains(&"app.example:8443".to_owned()) && hosts.contains(&"127.0.0.1:1".to_owned()));
    for connection in listed {
        let stays = connection.redirect_uri == "http://127.0.0.1:1/";
        assert_eq!(connection.redirect_stays_on_device(), stays, "{}", connection.redirect_uri);
    }
}
