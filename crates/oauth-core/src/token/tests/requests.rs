use std::sync::atomic::Ordering;

use data_encoding::BASE64;
use serde_json::json;

use crate::{
    SecretHash,
    testing::{REDIRECT, TestServer, VERIFIER, code_form},
    token::{TokenError, TokenRequest},
};

#[tokio::test]
async fn malformed_requests_are_refused_in_order() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let code = test.code(&id).await;
    let calls = test.store.calls.load(Ordering::SeqCst);
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
        "scope",
        "refresh_token",
    ] {
        check(&format!("{form}&{name}=a&{name}=a"), request, &format!("{name} is given more than once"));
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
    assert_eq!(test.store.calls.load(Ordering::SeqCst), calls, "the store was not called");
    test.token(&form).await.unwrap();
}

#[tokio::test]
async fn json_is_read_like_a_form() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let code = test.code(&id).await;
    let body = json!({
        "grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": VERIFIER,
        "client_id": id, "client_secret": null, "resource": "anything", "unknown": [{}],
    });
    let request = TokenRequest::from_json(body.to_string().as_bytes(), None).unwrap();
    assert!(request == TokenRequest::from_form(code_form(&id, &code).as_bytes(), None).unwrap());
    assert_eq!((request.claimed_client_id(), request.token_hash()), (id.as_str(), SecretHash::of(&code)));
    assert!(!format!("{request:?}").contains(&code));
    test.server.token(request).await.unwrap();
    for (name, value) in [("resource", json!(["a", "b"])), ("resource", json!(1)), ("scope", json!([{}]))] {
        let mut body = body.clone();
        body[name] = value;
        let read = TokenRequest::from_json(body.to_string().as_bytes(), None);
        assert!(read.is_ok(), "{name} is ignored: {read:?}");
    }
    for ignored in ["resource=%ff", "resource=a&resource=b", "scope=%ff"] {
        let form = format!("{}&{ignored}", code_form(&id, &code));
        assert!(TokenRequest::from_form(form.as_bytes(), None).is_ok(), "{ignored}");
    }
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
    ] {
        let error = TokenRequest::from_json(body.as_bytes(), None).unwrap_err();
        assert_eq!(error.code(), "invalid_request", "{body}");
    }
}

#[tokio::test]
async fn clients_authenticate() {
    let test = TestServer::new();
    let public = test.register(json!({})).await.client_id;
    let confidential = test.register(json!({"token_endpoint_auth_method": "client_secret_basic"})).await;
    let (id, secret) = (confidential.client_id, confidential.client_secret.unwrap().expose().to_owned());
    let basic = |text: &str| Some(format!("Basic {}", BASE64.encode(text.as_bytes())));
    let check = async |client: &str, more: &str, header: Option<String>, expect: &str| {
        let code = test.code(client).await;
        let form = code_form("", &code).replace("&client_id=", more);
        let request = TokenRequest::from_form(form.as_bytes(), header.as_deref());
        let answer = match request {
            Ok(request) => test.server.token(request).await,
            Err(error) => Err(error),
        };
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
