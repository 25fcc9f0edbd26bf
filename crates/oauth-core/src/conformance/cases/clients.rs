use crate::{
    AuthMethod, Client, ClientMetadata, GrantType, SecretHash,
    conformance::seed::{Seed, second},
};

pub(crate) async fn a_client_is_kept_as_it_was_registered(seed: &Seed) {
    let full = seed.new_client();
    let mut bare = seed.new_client();
    bare.digest = None;
    bare.client.secret = Some(SecretHash([0xff; 32]));
    bare.client.metadata = ClientMetadata {
        client_name: "x".repeat(200),
        redirect_uris: (0..20).map(|n| format!("https://a.example/{n}?{}", "y".repeat(1900))).collect(),
        grant_types: vec![GrantType::AuthorizationCode],
        scopes: vec!["mcp:images".to_owned()],
        token_endpoint_auth_method: AuthMethod::ClientSecretBasic,
        software_id: None,
        software_version: Some("v".repeat(200)),
    };
    for new in [full, bare] {
        let client = new.client.clone();
        assert_eq!(seed.store().register_client(new).await.unwrap(), client);
        assert_eq!(seed.store().client(&client.id).await.unwrap(), Some(client));
    }
}

pub(crate) async fn nobody_has_an_unknown_id(seed: &Seed) {
    let known = seed.store().register_client(seed.new_client()).await.unwrap();
    for id in ["", "unknown", "' OR 1=1 --", &known.id.to_uppercase(), &format!("{} ", known.id)] {
        assert_eq!(seed.store().client(id).await.unwrap(), None, "{id:?}");
    }
}

pub(crate) async fn the_same_digest_is_the_same_client(seed: &Seed) {
    let first = seed.new_client();
    let registered = seed.store().register_client(first.clone()).await.unwrap();
    let mut again = seed.new_client();
    again.digest = first.digest;
    again.client.issued_at = second(5);
    again.client.metadata.redirect_uris.reverse();
    let second_id = again.client.id.clone();
    assert_eq!(seed.store().register_client(again).await.unwrap(), registered);
    assert_eq!(seed.store().client(&second_id).await.unwrap(), None, "nothing else is stored");
    assert_eq!(seed.store().client(&registered.id).await.unwrap(), Some(registered));
}

pub(crate) async fn another_digest_or_none_is_another_client(seed: &Seed) {
    let first = seed.new_client();
    let mut without_digest = [seed.new_client(), seed.new_client()];
    without_digest.iter_mut().for_each(|new| new.digest = None);
    let [third, fourth] = without_digest;
    let mut registered: Vec<Client> = Vec::new();
    for new in [first, seed.new_client(), third, fourth] {
        registered.push(seed.store().register_client(new).await.unwrap());
    }
    for client in &registered {
        assert_eq!(seed.store().client(&client.id).await.unwrap().as_ref(), Some(client));
        assert_eq!(registered.iter().filter(|other| other.id == client.id).count(), 1);
    }
}
