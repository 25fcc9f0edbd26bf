use std::sync::atomic::Ordering;

use serde_json::json;

use crate::{
    Clock as _, CurrentRefreshToken, GrantKey, RevokeRequest, Revoked, Rotation, SecretHash, SecretString,
    testing::{TestServer, parameter},
    token::{InvalidGrantReason, RefreshToken, TokenError, TokenResponse},
};

#[tokio::test]
async fn refresh_tokens_rotate() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let other = test.register(json!({"software_id": "other"})).await.client_id;
    let first = test.tokens(&id).await;
    let token = first.refresh_token.as_ref().unwrap().expose();
    let writes = test.store.writes.load(Ordering::SeqCst);
    let check = async |client: &str, token: &str, expect: InvalidGrantReason| {
        let error = test.refresh(client, token).await.unwrap_err();
        assert!(matches!(error, TokenError::InvalidGrant(reason) if reason == expect), "{token}");
    };
    check(&other, token, InvalidGrantReason::OtherClient).await;
    check(&id, "x", InvalidGrantReason::Unknown).await;
    check(&id, first.access_token.expose(), InvalidGrantReason::Unknown).await;
    let wrong_end = format!("{}AAAA", &token[..66]);
    check(&id, &wrong_end, InvalidGrantReason::Unknown).await;
    let mut later = RefreshToken::decode(token).unwrap();
    later.generation = 9;
    check(&id, &later.encode(), InvalidGrantReason::Unknown).await;
    assert_eq!(test.store.writes.load(Ordering::SeqCst), writes, "nothing was changed");

    let form = format!(
        "grant_type=refresh_token&refresh_token={token}&client_id={id}&scope=mcp:photos+openid&resource=x"
    );
    let second = test.token(&form).await.unwrap();
    assert_eq!(second.scope, "mcp:images", "scopes stay those of the grant");
    assert_ne!(second.refresh_token, first.refresh_token);
    assert!(
        test.has_access(second.access_token.expose()).await
            && test.has_access(first.access_token.expose()).await
    );
    test.clock.advance_ms(30 * 24 * 3_600_000 - 1);
    let third = test.refresh(&id, second.refresh_token.unwrap().expose()).await.unwrap();
    test.clock.advance_ms(30 * 24 * 3_600_000);
    check(&id, third.refresh_token.unwrap().expose(), InvalidGrantReason::Expired).await;
}

#[tokio::test]
async fn a_late_replay_revokes_the_grant() {
    let replayed_after = async |rotations: usize, wait_ms: i64| {
        let test = TestServer::new();
        let id = test.register(json!({})).await.client_id;
        let mut tokens = test.tokens(&id).await;
        let old = tokens.refresh_token.clone().unwrap();
        for _ in 0..rotations {
            tokens = test.refresh(&id, tokens.refresh_token.unwrap().expose()).await.unwrap();
        }
        test.clock.advance_ms(wait_ms);
        let error = test.refresh(&id, old.expose()).await.unwrap_err();
        let TokenError::InvalidGrant(InvalidGrantReason::TokenReplayed { ended, .. }) = error else {
            panic!("{error:?}")
        };
        assert_eq!(test.has_access(tokens.access_token.expose()).await, !ended);
        let current = test.refresh(&id, tokens.refresh_token.unwrap().expose()).await;
        assert_eq!(current.is_ok(), !ended);
        ended
    };
    assert!(!replayed_after(1, 0).await);
    assert!(!replayed_after(1, 30_000).await);
    assert!(replayed_after(1, 30_001).await);
    assert!(!replayed_after(5, 30_000).await);
    assert!(replayed_after(5, 30_001).await);
    assert!(!replayed_after(40, 30_000).await);
    assert!(replayed_after(40, 30_001).await);
}

#[tokio::test]
async fn any_token_of_a_grant_revokes_it() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let check = async |pick: fn(&TokenResponse, &TokenResponse) -> SecretString, wait_ms: i64| {
        let first = test.tokens(&id).await;
        let second = test.refresh(&id, first.refresh_token.as_ref().unwrap().expose()).await.unwrap();
        let untouched = test.tokens(&id).await;
        test.clock.advance_ms(wait_ms);
        let token = pick(&first, &second);
        assert!(matches!(
            test.server.revoke(&RevokeRequest::of(token.expose())).await.unwrap(),
            Revoked::Grant(_)
        ));
        assert_eq!(test.server.revoke(&RevokeRequest::of(token.expose())).await.unwrap(), Revoked::Nothing);
        assert!(
            !test.has_access(first.access_token.expose()).await
                && !test.has_access(second.access_token.expose()).await
        );
        let refused = test.refresh(&id, second.refresh_token.unwrap().expose()).await.unwrap_err();
        assert!(matches!(refused, TokenError::InvalidGrant(InvalidGrantReason::Revoked)));
        test.refresh(&id, untouched.refresh_token.unwrap().expose()).await.unwrap();
    };
    check(|_, second| second.refresh_token.clone().unwrap(), 0).await;
    check(|first, _| first.refresh_token.clone().unwrap(), 0).await;
    check(|_, second| second.access_token.clone(), 0).await;
    check(|first, _| first.access_token.clone(), 2 * 3_600_000).await;
    let tokens = test.tokens(&id).await;
    let access = tokens.access_token.expose();
    for wrong in ["", "x", "\0", &access[1..], &access[..access.len() - 2], &"x".repeat(70)] {
        assert_eq!(test.server.revoke(&RevokeRequest::of(wrong)).await.unwrap(), Revoked::Nothing, "{wrong}");
    }
    assert!(test.has_access(access).await);
    let request = test.server.authorize(&crate::testing::authorize_query(&id)).await.unwrap();
    let code = parameter(
        &test.server.allow(&request, "1", &crate::Attempt::derive(&[9; 32], &[])).await.unwrap().to,
        "code",
    )
    .unwrap();
    assert_eq!(
        test.server.revoke(&RevokeRequest::of(code.as_str())).await.unwrap(),
        Revoked::Nothing,
        "a code is not a token"
    );
}

#[tokio::test]
async fn a_forged_token_with_a_real_handle_changes_nothing() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let first = test.tokens(&id).await.refresh_token.unwrap();
    let second = test.refresh(&id, first.expose()).await.unwrap();
    test.clock.advance_ms(60_000);
    let writes = test.store.writes.load(Ordering::SeqCst);
    let real = data_encoding::BASE64URL_NOPAD.decode(first.expose().as_bytes()).unwrap();
    for at in 16..real.len() {
        let mut made_up = real.clone();
        made_up[at] ^= 1;
        let made_up = data_encoding::BASE64URL_NOPAD.encode(&made_up);
        let refused = test.refresh(&id, &made_up).await.unwrap_err();
        assert!(
            matches!(refused, TokenError::InvalidGrant(InvalidGrantReason::Unknown)),
            "{at}: {refused:?}"
        );
        assert_eq!(
            test.server.revoke(&RevokeRequest::of(made_up.as_str())).await.unwrap(),
            Revoked::Nothing,
            "{at}"
        );
    }
    assert_eq!(test.store.writes.load(Ordering::SeqCst), writes, "nothing was changed");
    assert!(test.has_access(second.access_token.expose()).await);
    let replayed = test.refresh(&id, first.expose()).await.unwrap_err();
    assert!(matches!(
        replayed,
        TokenError::InvalidGrant(InvalidGrantReason::TokenReplayed { ended: true, .. })
    ));
}

#[tokio::test]
async fn a_refresh_token_without_a_tag_works_while_it_is_current() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let first = test.tokens(&id).await.refresh_token.unwrap();
    let mut bytes = data_encoding::BASE64URL_NOPAD.decode(first.expose().as_bytes()).unwrap();
    bytes[16..20].copy_from_slice(&1_u32.to_be_bytes());
    bytes[20..].fill(9);
    let untagged = data_encoding::BASE64URL_NOPAD.encode(&bytes);
    let handle = RefreshToken::decode(&untagged).unwrap().handle_hash();
    let found = test.server.store().grant(GrantKey::RefreshHandle(&handle)).await.unwrap().unwrap();
    let current = found.refresh.unwrap();
    let at = test.clock.now();
    let hash = SecretHash::of(&untagged);
    let next = CurrentRefreshToken { hash, generation: 1, recent_rotations: vec![at], ..current };
    let grant_id = found.grant.id;
    let rotation = Rotation { grant_id, presented: current.hash, next, access_expires_at: at.plus_ms(1), at };
    assert!(test.server.store().rotate_refresh_token(rotation).await.unwrap());

    let tokens = test.refresh(&id, &untagged).await.unwrap();
    test.clock.advance_ms(60_000);
    let again = test.refresh(&id, &untagged).await.unwrap_err();
    assert!(
        matches!(again, TokenError::InvalidGrant(InvalidGrantReason::Unknown)),
        "it can no longer be authenticated"
    );
    assert_eq!(test.server.revoke(&RevokeRequest::of(untagged.as_str())).await.unwrap(), Revoked::Nothing);
    assert!(test.has_access(tokens.access_token.expose()).await);
    test.refresh(&id, tokens.refresh_token.unwrap().expose()).await.unwrap();
}
