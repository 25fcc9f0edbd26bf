use crate::{
    Connection,
    conformance::seed::{NOW, Redeemed, SUBJECTS, Seed, second},
};

async fn granted_at(seed: &Seed, seconds: i64) -> Redeemed {
    let mut code = seed.new_code();
    code.code.grant.created_at = second(seconds);
    code.code.expires_at = second(seconds + 600);
    seed.redeemed(code).await
}

pub(crate) async fn connections_are_listed_newest_first(seed: &Seed) {
    let mut expect = Vec::new();
    for seconds in [5, 1, 9, 3, 7] {
        expect.push((seconds, granted_at(seed, seconds).await.grant));
    }
    expect.sort_by_key(|(seconds, _)| -seconds);
    let listed = seed.store().connections(SUBJECTS[0]).await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|connection| connection.grant).collect();
    assert_eq!(listed, expect.into_iter().map(|(_, grant)| grant).collect::<Vec<_>>());
}

pub(crate) async fn only_redeemed_unrevoked_grants_of_the_user_are_listed(seed: &Seed) {
    let [ann, ben] = SUBJECTS;
    seed.issue(seed.new_code()).await;
    let revoked = seed.grant().await;
    assert!(seed.store().revoke_grant(&revoked.grant.id, NOW).await.unwrap());
    let mut of_ben = seed.new_code();
    ben.clone_into(&mut of_ben.code.grant.subject);
    let of_ben = seed.redeemed(of_ben).await;
    assert_eq!(seed.store().connections(ann).await.unwrap(), []);
    assert_eq!(seed.store().connections("nobody").await.unwrap(), []);
    let listed = seed.store().connections(ben).await.unwrap();
    assert_eq!(listed.into_iter().map(|connection| connection.grant).collect::<Vec<_>>(), [of_ben.grant]);
}

pub(crate) async fn a_connection_names_its_client(seed: &Seed) {
    let client = seed.store().register_client(seed.new_client()).await.unwrap();
    let mut code = seed.new_code();
    code.code.grant.client_id.clone_from(&client.id);
    code.code.grant.created_at = second(1);
    seed.redeemed(code).await;
    seed.grant().await;
    let listed = seed.store().connections(SUBJECTS[0]).await.unwrap();
    let names: Vec<_> = listed.iter().map(|connection| connection.client_name.clone()).collect();
    assert_eq!(names, [Some(client.metadata.client_name), None]);
}

pub(crate) async fn the_last_use_is_noted_and_never_moves_back(seed: &Seed) {
    let granted = seed.grant().await;
    let last_use = async || {
        let listed = seed.store().connections(SUBJECTS[0]).await.unwrap();
        listed.into_iter().map(|connection| connection.last_used_at).collect::<Vec<_>>()
    };
    assert_eq!(last_use().await, [None]);
    for (noted, expect) in [(5, 5), (3, 5), (5, 5), (8, 8), (1, 8)] {
        seed.store().record_use(&granted.grant.id, second(noted)).await.unwrap();
        assert_eq!(last_use().await, [Some(second(expect))]);
    }
    seed.store().record_use("unknown", second(9)).await.unwrap();
    assert_eq!(last_use().await, [Some(second(8))]);
    let rotation = seed.rotation(&granted.grant.id, &granted.token, second(10));
    assert!(seed.store().rotate_refresh_token(rotation).await.unwrap());
    assert_eq!(last_use().await, [Some(second(8))], "only what is noted counts");
}

pub(crate) async fn a_connection_tells_where_its_code_went(seed: &Seed) {
    for uri in ["https://app.example:8443/cb?a", "http://127.0.0.1:1/"] {
        let mut code = seed.new_code();
        uri.clone_into(&mut code.code.redirect_uri);
        seed.redeemed(code).await;
    }
    let listed = seed.store().connections(SUBJECTS[0]).await.unwrap();
    let hosts: Vec<_> = listed.iter().map(Connection::redirect_host).collect();
    assert!(hosts.contains(&"app.example:8443".to_owned()) && hosts.contains(&"127.0.0.1:1".to_owned()));
    for connection in listed {
        let stays = connection.redirect_uri == "http://127.0.0.1:1/";
        assert_eq!(connection.redirect_stays_on_device(), stays, "{}", connection.redirect_uri);
    }
}
