use std::sync::atomic::Ordering;

use serde_json::json;

use crate::{
    Grants, RevokeRequest,
    testing::{TestServer, VERIFIER, code_form},
    token::{InvalidGrantReason, TokenError, TokenRequest},
};

#[tokio::test]
async fn a_code_gives_tokens_once() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let code = test.code(&id).await;
    let tokens = test.token(&code_form(&id, &code)).await.unwrap();
    let (access, refresh) = (tokens.access_token.expose(), tokens.refresh_token.as_ref().unwrap().expose());
    assert_eq!(
        serde_json::to_value(&tokens).unwrap(),
        json!({
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": 3600,
            "refresh_token": refresh,
            "scope": "mcp:images",
        })
    );
    assert!(!format!("{tokens:?}").contains(access) && !format!("{tokens:?}").contains(refresh));
    let claims = test.server.tokens.read(access).await.unwrap().unwrap();
    let now = test.server.now().seconds();
    assert_eq!(claims.iss, "https://photos.example/api");
    assert_eq!(claims.sub.len(), 43, "it is opaque: {}", claims.sub);
    assert_eq!((claims.aud.as_str(), claims.scope.as_str()), (crate::testing::V1, "mcp:images"));
    assert_eq!((claims.client_id, claims.iat, claims.exp), (id.clone(), now, now + 3600));
    assert!(test.has_access(access).await);

    let again = test.token(&code_form(&id, &code)).await.unwrap_err();
    assert!(matches!(again, TokenError::InvalidGrant(InvalidGrantReason::CodeReplayed { .. })));
    assert!(test.has_access(access).await, "the grant is unchanged");
    test.refresh(&id, refresh).await.unwrap();
}

#[tokio::test]
async fn a_client_without_refresh_gets_no_refresh_token() {
    let test = TestServer::new();
    let id = test.register(json!({"grant_types": ["authorization_code"]})).await.client_id;
    let tokens = test.tokens(&id).await;
    assert_eq!(tokens.refresh_token, None);
    assert_eq!(serde_json::to_value(&tokens).unwrap().get("refresh_token"), None);
    let other = test.register(json!({})).await.client_id;
    let token = test.tokens(&other).await.refresh_token.unwrap();
    let refused = test.refresh(&id, token.expose()).await.unwrap_err();
    assert!(matches!(refused, TokenError::UnauthorizedClient));
}

#[tokio::test]
async fn an_invalid_request_does_not_use_up_a_code() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let other = test.register(json!({"software_id": "other"})).await.client_id;
    let code = test.code(&id).await;
    let form = code_form(&id, &code);
    let writes = test.store.writes.load(Ordering::SeqCst);
    let check = async |form: &str, expect: InvalidGrantReason| {
        let error = test.token(form).await.unwrap_err();
        assert_eq!(error.code(), "invalid_grant");
        assert!(matches!(error, TokenError::InvalidGrant(reason) if reason == expect), "{form}");
    };
    check(&form.replace(&code, "unknown"), InvalidGrantReason::Unknown).await;
    check(&form.replace(&code, &code.to_lowercase()), InvalidGrantReason::Unknown).await;
    check(&form.replace(&id, &other), InvalidGrantReason::OtherClient).await;
    check(&form.replace("%2Fcb", "%2FCB"), InvalidGrantReason::OtherRedirectUri).await;
    check(&form.replace("app.example", "evil.example"), InvalidGrantReason::OtherRedirectUri).await;
    check(&form.replace(VERIFIER, &"a".repeat(43)), InvalidGrantReason::WrongVerifier).await;
    check(&form.replace(VERIFIER, &format!("{VERIFIER}.")), InvalidGrantReason::WrongVerifier).await;
    assert_eq!(test.store.writes.load(Ordering::SeqCst), writes, "nothing was changed");
    test.clock.advance_ms(599_999);
    test.token(&format!("{form}&resource=https%3A%2F%2Felsewhere.example")).await.unwrap();
    check(
        &form.replace(VERIFIER, &"a".repeat(43)),
        InvalidGrantReason::CodeReplayed { grant_id: test.grant_id().await },
    )
    .await;

    let late = test.code(&id).await;
    test.clock.advance_ms(600_000);
    check(&code_form(&id, &late), InvalidGrantReason::Expired).await;
    let revoked = test.code(&id).await;
    test.server.store().revoke(Grants::OfSubject("1"), test.server.now()).await.unwrap();
    check(&code_form(&id, &revoked), InvalidGrantReason::Revoked).await;
}

impl TestServer {
    /// The only grant of the first user.
    async fn grant_id(&self) -> String {
        let connections = self.server.store().connections("1").await.unwrap();
        assert_eq!(connections.len(), 1);
        connections[0].grant.id.clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_concurrent_exchanges_succeeds() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let code = test.code(&id).await;
    let at_once = async |form: &str| {
        let tasks: Vec<_> = (0..64)
            .map(|_| {
                let server = test.server.clone();
                let request = TokenRequest::from_form(form.as_bytes(), None).unwrap();
                tokio::spawn(async move { server.token(request).await })
            })
            .collect();
        let mut won = Vec::new();
        for task in tasks {
            match task.await.unwrap() {
                Ok(tokens) => won.push(tokens),
                Err(error) => assert_eq!(error.code(), "invalid_grant"),
            }
        }
        assert_eq!(won.len(), 1);
        won.remove(0)
    };
    let tokens = at_once(&code_form(&id, &code)).await;
    let token = tokens.refresh_token.unwrap();
    let form = format!("grant_type=refresh_token&refresh_token={}&client_id={id}", token.expose());
    let tokens = at_once(&form).await;
    assert!(
        test.has_access(tokens.access_token.expose()).await,
        "the other attempts do not revoke the grant"
    );
}

#[tokio::test]
async fn a_store_failure_is_not_invalid_grant() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let tokens = test.tokens(&id).await;
    let (refresh, code) = (tokens.refresh_token.unwrap(), test.code(&id).await);
    test.store.is_down.store(true, Ordering::SeqCst);
    let answers = [test.refresh(&id, refresh.expose()).await, test.token(&code_form(&id, &code)).await];
    for answer in answers {
        let error = answer.unwrap_err();
        assert_eq!(error.body().error, "temporarily_unavailable");
        assert!(!error.description().contains("disk"));
    }
    assert!(test.server.revoke(&RevokeRequest::of(refresh.expose())).await.is_err());
    test.store.is_down.store(false, Ordering::SeqCst);
    test.refresh(&id, refresh.expose()).await.unwrap();
    test.token(&code_form(&id, &code)).await.unwrap();
}
