//! Each policy changes its rule, and only that.

use serde_json::json;

use crate::{
    AuthorizeError, PageError, Policies,
    testing::{CHALLENGE, TestServer, V1, authorize_query, code_form},
};

fn with(change: fn(&mut Policies)) -> TestServer {
    let mut policies = Policies::default();
    change(&mut policies);
    TestServer::with_policies(policies)
}

#[tokio::test]
async fn the_grace_period_of_replays_can_be_longer() {
    for (test, has_access) in [(TestServer::new(), false), (with(|all| all.replay_grace_seconds = 120), true)]
    {
        let id = test.register(json!({})).await.client_id;
        let first = test.tokens(&id).await.refresh_token.unwrap();
        let renewed = test.refresh(&id, first.expose()).await.unwrap();
        test.clock.advance_ms(60_000);
        test.refresh(&id, first.expose()).await.unwrap_err();
        assert_eq!(test.has_access(renewed.access_token.expose()).await, has_access);
    }
}

#[tokio::test]
async fn a_replayed_code_can_end_its_grant() {
    for (test, has_access) in
        [(TestServer::new(), true), (with(|all| all.ends_grant_on_code_replay = true), false)]
    {
        let id = test.register(json!({})).await.client_id;
        let form = code_form(&id, &test.code(&id).await);
        let tokens = test.token(&form).await.unwrap();
        test.token(&form).await.unwrap_err();
        assert_eq!(test.has_access(tokens.access_token.expose()).await, has_access);
    }
}

#[tokio::test]
async fn a_registered_client_can_be_allowed_any_loopback_port() {
    let strict = TestServer::new();
    let loose = with(|all| all.allows_any_loopback_port = true);
    let check = async |test: &TestServer, redirect_uri: &str, expect: bool| {
        let id = test.register(json!({})).await.client_id;
        let query = format!(
            "response_type=code&client_id={id}&code_challenge={CHALLENGE}&code_challenge_method=S256\
             &redirect_uri={redirect_uri}"
        );
        match test.server.authorize(&query).await {
            Ok(request) => assert!(expect && request.redirect_uri == redirect_uri, "{redirect_uri}"),
            Err(AuthorizeError::Page(PageError::UnregisteredRedirectUri)) => {
                assert!(!expect, "{redirect_uri}");
            }
            Err(error) => panic!("{redirect_uri}: {error}"),
        }
    };
    for (test, expect) in [(&strict, false), (&loose, true)] {
        check(test, "http://127.0.0.1/", true).await;
        check(test, "http://127.0.0.1:33418/", expect).await;
        check(test, "http://127.0.0.1:33418/x", false).await;
        check(test, "https://app.example:444/cb", false).await;
    }
}

#[tokio::test]
async fn a_resource_can_be_required() {
    let test = with(|all| all.requires_resource = true);
    let id = test.register(json!({})).await.client_id;
    let query = authorize_query(&id);
    let Err(AuthorizeError::Redirect(redirect)) = test.server.authorize(&query).await else {
        panic!("accepted")
    };
    assert_eq!(redirect.code, "invalid_target");
    let request = test.server.authorize(&format!("{query}&resource={V1}")).await.unwrap();
    assert_eq!(request.resource, V1);
}

#[tokio::test]
async fn the_subject_can_be_the_id_of_the_user() {
    for (test, is_revealed) in [(TestServer::new(), false), (with(|all| all.reveals_subject = true), true)] {
        let id = test.register(json!({})).await.client_id;
        let token = test.tokens(&id).await.access_token;
        let claims = test.server.tokens.read(token.expose()).await.unwrap().unwrap();
        assert_eq!(claims.sub == "1", is_revealed);
        assert!(test.has_access(token.expose()).await);
    }
}
