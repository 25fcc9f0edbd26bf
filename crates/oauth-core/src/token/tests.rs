use std::sync::atomic::Ordering;

use data_encoding::BASE64;
use serde_json::json;

use super::*;
use crate::{
    Revoked, SecretHash,
    testing::{Bench, REDIRECT, VERIFIER, code_form, parameter},
};

#[tokio::test]
async fn a_code_gives_tokens_once() {
    let bench = Bench::new();
    let id = bench.register(json!({})).await.client_id;
    let code = bench.code(&id).await;
    let tokens = bench.token(&code_form(&id, &code)).await.unwrap();
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
    let claims = bench.server.tokens.read(access).await.unwrap().unwrap();
    let now = bench.clock_seconds();
    assert_eq!((claims.iss.as_str(), claims.sub.as_str()), ("https://photos.example/api", "1"));
    assert_eq!((claims.aud.as_str(), claims.scope.as_str()), (crate::testing::V1, "mcp:images"));
    assert_eq!((claims.client_id, claims.iat, claims.exp), (id.clone(), now, now + 3600));
    assert!(bench.opens(access).await);

    let again = bench.token(&code_form(&id, &code)).await.unwrap_err();
    assert!(matches!(again, TokenError::InvalidGrant(Reason::CodeReplayed { .. })));
    assert!(bench.opens(access).await, "the grant stays as it is");
    bench.refresh(&id, refresh).await.unwrap();
}

impl Bench {
    fn clock_seconds(&self) -> i64 {
        self.server.now().seconds()
    }
}

#[tokio::test]
async fn a_client_without_refresh_gets_no_refresh_token() {
    let bench = Bench::new();
    let id = bench.register(json!({"grant_types": ["authorization_code"]})).await.client_id;
    let tokens = bench.tokens(&id).await;
    assert_eq!(tokens.refresh_token, None);
    assert_eq!(serde_json::to_value(&tokens).unwrap().get("refresh_token"), None);
    let other = bench.register(json!({})).await.client_id;
    let token = bench.tokens(&other).await.refresh_token.unwrap();
    let refused = bench.refresh(&id, token.expose()).await.unwrap_err();
    assert!(matches!(refused, TokenError::UnauthorizedClient));
}

#[tokio::test]
async fn malformed_requests_are_told_in_order() {
    let bench = Bench::new();
    let id = bench.register(json!({})).await.client_id;
    let code = bench.code(&id).await;
    let calls = bench.store.calls.load(Ordering::SeqCst);
    let check = |form: &str, expect: &str, words: &str| {
        let error = TokenRequest::from_form(form.as_bytes(), None).unwrap_err();
        let start: String = form.chars().take(200).collect();
        assert_eq!(error.code(), expect, "{start}");
        assert!(error.description().contains(words), "{start}: {}", error.description());
    };
    let request = "invalid_request";
    for form in [
        "",
        "\0",
        "{}",
        "grant_type=",
        "grant_type",
        "grant_type=a&grant_type=a",
        "grant_type=%ff",
        "Grant_Type=refresh_token",
    ] {
        check(form, request, "grant_type");
    }
    for grant_type in ["password", "client_credentials", "REFRESH_TOKEN", "refresh_token+", "%00"] {
        check(&format!("grant_type={grant_type}&code=a&code=b"), "unsupported_grant_type", "grant_type");
    }
    check("grant_type=refresh_token", request, "refresh_token is missing");
    check("grant_type=refresh_token&refresh_token=", request, "refresh_token is missing");
    check("grant_type=refresh_token&refresh_token=a", request, "client_id is missing");
    check("grant_type=refresh_token&refresh_token=a&client_id=", request, "client_id is missing");
    check("grant_type=authorization_code&client_id=a", request, "code is missing");
    let form = code_form(&id, &code);
    for name in [
        "grant_type",
        "code",
        "redirect_uri",
        "code_verifier",
        "client_id",
        "client_secret",
        "resource",
        "scope",
        "refresh_token",
    ] {
        check(&format!("{form}&{name}=a&{name}=a"), request, &format!("{name} stands more than once"));
        if form.contains(&format!("&{name}=")) {
            let removed: Vec<&str> =
                form.split('&').filter(|pair| !pair.starts_with(&format!("{name}="))).collect();
            check(&removed.join("&"), request, &format!("{name} is missing"));
            check(&format!("{}&{name}=%ff", removed.join("&")), request, &format!("{name} is not text"));
        }
    }
    for verifier in [
        &VERIFIER[1..],
        &"a".repeat(129),
        &format!("{VERIFIER}%2B"),
        &format!("{VERIFIER}="),
        &"%C3%A4".repeat(43),
    ] {
        check(&form.replace(VERIFIER, verifier), request, "code_verifier is not 43");
    }
    assert_eq!(bench.store.calls.load(Ordering::SeqCst), calls, "the store was not asked");
    bench.token(&form).await.unwrap();
}

#[tokio::test]
async fn json_is_as_good_as_a_form() {
    let bench = Bench::new();
    let id = bench.register(json!({})).await.client_id;
    let code = bench.code(&id).await;
    let body = json!({
        "grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": VERIFIER,
        "client_id": id, "client_secret": null, "resource": "anything", "unknown": [{}],
    });
    let request = TokenRequest::from_json(body.to_string().as_bytes(), None).unwrap();
    assert!(request == TokenRequest::from_form(code_form(&id, &code).as_bytes(), None).unwrap());
    assert_eq!((request.client_hint(), request.token_hash()), (id.as_str(), SecretHash::of(&code)));
    assert!(!format!("{request:?}").contains(&code));
    bench.server.token(request).await.unwrap();
    let wrong_type = |name: &str, value: serde_json::Value| {
        let mut body = body.clone();
        body[name] = value;
        body.to_string()
    };
    for body in [
        "[]".to_owned(),
        "grant_type=refresh_token".to_owned(),
        r#"{"grant_type":"refresh_token","grant_type":"refresh_token"}"#.to_owned(),
        wrong_type("grant_type", json!(1)),
        wrong_type("code", json!(["a"])),
        wrong_type("client_secret", json!({})),
        wrong_type("resource", json!(["a", "b"])),
    ] {
        let error = TokenRequest::from_json(body.as_bytes(), None).unwrap_err();
        assert_eq!(error.code(), "invalid_request", "{body}");
    }
}

#[tokio::test]
async fn nothing_wrong_spends_a_code() {
    let bench = Bench::new();
    let id = bench.register(json!({})).await.client_id;
    let other = bench.register(json!({"software_id": "other"})).await.client_id;
    let code = bench.code(&id).await;
    let form = code_form(&id, &code);
    let writes = bench.store.writes.load(Ordering::SeqCst);
    let check = async |form: &str, expect: Reason| {
        let error = bench.token(form).await.unwrap_err();
        assert_eq!(error.code(), "invalid_grant");
        assert!(matches!(error, TokenError::InvalidGrant(reason) if reason == expect), "{form}");
    };
    check(&form.replace(&code, "unknown"), Reason::Unknown).await;
    check(&form.replace(&code, &code.to_lowercase()), Reason::Unknown).await;
    check(&form.replace(&id, &other), Reason::OtherClient).await;
    check(&form.replace("%2Fcb", "%2FCB"), Reason::OtherRedirectUri).await;
    check(&form.replace("app.example", "evil.example"), Reason::OtherRedirectUri).await;
    check(&form.replace(VERIFIER, &"a".repeat(43)), Reason::WrongVerifier).await;
    check(&form.replace(VERIFIER, &format!("{VERIFIER}.")), Reason::WrongVerifier).await;
    assert_eq!(bench.store.writes.load(Ordering::SeqCst), writes, "nothing was changed");
    bench.clock.advance_ms(599_999);
    bench.token(&format!("{form}&resource=https%3A%2F%2Felsewhere.example")).await.unwrap();
    check(
        &form.replace(VERIFIER, &"a".repeat(43)),
        Reason::CodeReplayed { grant_id: bench.grant_id().await },
    )
    .await;

    let late = bench.code(&id).await;
    bench.clock.advance_ms(600_000);
    check(&code_form(&id, &late), Reason::Expired).await;
    let revoked = bench.code(&id).await;
    bench.server.store().revoke_all("1", bench.server.now()).await.unwrap();
    check(&code_form(&id, &revoked), Reason::Revoked).await;
}

impl Bench {
    /// The only grant of the first user.
    async fn grant_id(&self) -> String {
        let connections = self.server.store().connections("1").await.unwrap();
        assert_eq!(connections.len(), 1);
        connections[0].grant.id.clone()
    }
}

#[tokio::test]
async fn clients_prove_who_they_are() {
    let bench = Bench::new();
    let public = bench.register(json!({})).await.client_id;
    let confidential = bench.register(json!({"token_endpoint_auth_method": "client_secret_basic"})).await;
    let (id, secret) = (confidential.client_id, confidential.client_secret.unwrap().expose().to_owned());
    let basic = |text: &str| Some(format!("Basic {}", BASE64.encode(text.as_bytes())));
    let check = async |client: &str, more: &str, header: Option<String>, expect: &str| {
        let code = bench.code(client).await;
        let form = code_form("", &code).replace("&client_id=", more);
        let request = TokenRequest::from_form(form.as_bytes(), header.as_deref());
        let answer = match request {
            Ok(request) => bench.server.token(request).await,
            Err(error) => Err(error),
        };
        if let Err(TokenError::InvalidClient { basic }) = &answer {
            assert_eq!(*basic, header.is_some());
        }
        let got = answer.as_ref().map_or_else(TokenError::code, |_| "tokens");
        assert_eq!(got, expect, "{more} {header:?}: {answer:?}");
    };
    let with = |id: &str, secret: &str| format!("&client_id={id}&client_secret={secret}");
    check(&id, &with(&id, &secret), None, "tokens").await;
    check(&id, "", basic(&format!("{id}:{secret}")), "tokens").await;
    check(&id, "", basic(&format!("{id}:{secret}")).map(|header| header.replace("Basic", "bAsIc")), "tokens")
        .await;
    check(&id, &format!("&client_id={id}"), basic(&format!("{id}:{secret}")), "tokens").await;
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    check(&id, "", basic(&format!("{}:{}", encode(&id), encode(&secret))), "tokens").await;
    check(&public, &format!("&client_id={public}&client_secret="), None, "tokens").await;
    check(&public, "", basic(&format!("{public}:")), "tokens").await;

    let refused = "invalid_client";
    check(&id, &format!("&client_id={id}"), None, refused).await;
    check(&id, &with(&id, ""), None, refused).await;
    check(&id, &with(&id, &secret.to_lowercase()), None, refused).await;
    check(&id, "", basic(&format!("{id}:{secret}x")), refused).await;
    check(&id, "", basic(&format!("{id}:")), refused).await;
    check(&id, "", basic(&format!("nobody:{secret}")), refused).await;
    check(&public, &with(&public, "x"), None, refused).await;
    check(&public, "", basic(&format!("{public}:x")), refused).await;
    check(&public, "&client_id=nobody", None, refused).await;
    check(&public, "&client_id=%00", None, refused).await;
    check(&public, &format!("&client_id={}", "x".repeat(100_000)), None, refused).await;
    for header in [
        "",
        "Basic",
        "Basic ",
        "Basic !",
        "Basic YQ",
        "Basic OnNlY3JldA==",
        "Basic YQ==",
        "Bearer abc",
        "Digest a",
        "Basic /zo=",
    ] {
        check(&id, "", Some(header.to_owned()), refused).await;
    }
    check(&id, &with(&id, &secret), basic(&format!("{id}:{secret}")), "invalid_request").await;
    check(&id, &format!("&client_id={public}"), basic(&format!("{id}:{secret}")), "invalid_request").await;
}

#[tokio::test]
async fn refresh_tokens_rotate() {
    let bench = Bench::new();
    let id = bench.register(json!({})).await.client_id;
    let other = bench.register(json!({"software_id": "other"})).await.client_id;
    let first = bench.tokens(&id).await;
    let token = first.refresh_token.as_ref().unwrap().expose();
    let writes = bench.store.writes.load(Ordering::SeqCst);
    let check = async |client: &str, token: &str, expect: Reason| {
        let error = bench.refresh(client, token).await.unwrap_err();
        assert!(matches!(error, TokenError::InvalidGrant(reason) if reason == expect), "{token}");
    };
    check(&other, token, Reason::OtherClient).await;
    check(&id, "x", Reason::Unknown).await;
    check(&id, first.access_token.expose(), Reason::Unknown).await;
    let wrong_end = format!("{}AAAA", &token[..66]);
    check(&id, &wrong_end, Reason::Unknown).await;
    let mut later = RefreshToken::decode(token).unwrap();
    later.generation = 9;
    check(&id, &later.encode(), Reason::Unknown).await;
    assert_eq!(bench.store.writes.load(Ordering::SeqCst), writes, "nothing was changed");

    let form = format!(
        "grant_type=refresh_token&refresh_token={token}&client_id={id}&scope=mcp:photos+openid&resource=x"
    );
    let second = bench.token(&form).await.unwrap();
    assert_eq!(second.scope, "mcp:images", "scopes stay those of the grant");
    assert_ne!(second.refresh_token, first.refresh_token);
    assert!(
        bench.opens(second.access_token.expose()).await && bench.opens(first.access_token.expose()).await
    );
    bench.clock.advance_ms(30 * 24 * 3_600_000 - 1);
    let third = bench.refresh(&id, second.refresh_token.unwrap().expose()).await.unwrap();
    bench.clock.advance_ms(30 * 24 * 3_600_000);
    check(&id, third.refresh_token.unwrap().expose(), Reason::Expired).await;
}

#[tokio::test]
async fn an_old_token_ends_the_grant_once_it_is_no_accident() {
    let replayed_after = async |rotations: usize, wait_ms: i64| {
        let bench = Bench::new();
        let id = bench.register(json!({})).await.client_id;
        let mut tokens = bench.tokens(&id).await;
        let old = tokens.refresh_token.clone().unwrap();
        for _ in 0..rotations {
            tokens = bench.refresh(&id, tokens.refresh_token.unwrap().expose()).await.unwrap();
        }
        bench.clock.advance_ms(wait_ms);
        let error = bench.refresh(&id, old.expose()).await.unwrap_err();
        let TokenError::InvalidGrant(Reason::TokenReplayed { ended, .. }) = error else {
            panic!("{error:?}")
        };
        assert_eq!(bench.opens(tokens.access_token.expose()).await, !ended);
        let current = bench.refresh(&id, tokens.refresh_token.unwrap().expose()).await;
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

#[tokio::test(flavor = "multi_thread")]
async fn of_many_at_once_one_succeeds() {
    let bench = Bench::new();
    let id = bench.register(json!({})).await.client_id;
    let code = bench.code(&id).await;
    let at_once = async |form: &str| {
        let tasks: Vec<_> = (0..64)
            .map(|_| {
                let server = bench.server.clone();
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
    assert!(bench.opens(tokens.access_token.expose()).await, "the others are no theft");
}

#[tokio::test]
async fn a_store_out_of_order_is_no_invalid_grant() {
    let bench = Bench::new();
    let id = bench.register(json!({})).await.client_id;
    let tokens = bench.tokens(&id).await;
    let (refresh, code) = (tokens.refresh_token.unwrap(), bench.code(&id).await);
    bench.store.out_of_order.store(true, Ordering::SeqCst);
    let answers = [bench.refresh(&id, refresh.expose()).await, bench.token(&code_form(&id, &code)).await];
    for answer in answers {
        let error = answer.unwrap_err();
        assert_eq!(error.body().error, "temporarily_unavailable");
        assert!(!error.description().contains("disk"));
    }
    assert!(bench.server.revoke(refresh.expose()).await.is_err());
    bench.store.out_of_order.store(false, Ordering::SeqCst);
    bench.refresh(&id, refresh.expose()).await.unwrap();
    bench.token(&code_form(&id, &code)).await.unwrap();
}

#[tokio::test]
async fn any_token_of_a_grant_revokes_it() {
    let bench = Bench::new();
    let id = bench.register(json!({})).await.client_id;
    let check = async |pick: fn(&TokenResponse, &TokenResponse) -> Secret, wait_ms: i64| {
        let first = bench.tokens(&id).await;
        let second = bench.refresh(&id, first.refresh_token.as_ref().unwrap().expose()).await.unwrap();
        let untouched = bench.tokens(&id).await;
        bench.clock.advance_ms(wait_ms);
        let token = pick(&first, &second);
        assert!(matches!(bench.server.revoke(token.expose()).await.unwrap(), Revoked::Grant(_)));
        assert_eq!(bench.server.revoke(token.expose()).await.unwrap(), Revoked::Nothing);
        assert!(
            !bench.opens(first.access_token.expose()).await
                && !bench.opens(second.access_token.expose()).await
        );
        let refused = bench.refresh(&id, second.refresh_token.unwrap().expose()).await.unwrap_err();
        assert!(matches!(refused, TokenError::InvalidGrant(Reason::Revoked)));
        bench.refresh(&id, untouched.refresh_token.unwrap().expose()).await.unwrap();
    };
    check(|_, second| second.refresh_token.clone().unwrap(), 0).await;
    check(|first, _| first.refresh_token.clone().unwrap(), 0).await;
    check(|_, second| second.access_token.clone(), 0).await;
    check(|first, _| first.access_token.clone(), 2 * 3_600_000).await;
    let tokens = bench.tokens(&id).await;
    let access = tokens.access_token.expose();
    for wrong in ["", "x", "\0", &access[1..], &access[..access.len() - 2], &"x".repeat(70)] {
        assert_eq!(bench.server.revoke(wrong).await.unwrap(), Revoked::Nothing, "{wrong}");
    }
    assert!(bench.opens(access).await);
    let request = bench.server.authorize(&crate::testing::authorize_query(&id)).await.unwrap();
    let code = parameter(&bench.server.allow(&request, "1", &[9; 32]).await.unwrap().to, "code").unwrap();
    assert_eq!(bench.server.revoke(&code).await.unwrap(), Revoked::Nothing, "a code is no token");
}
