use std::sync::atomic::Ordering;

use serde_json::json;

use super::*;
use crate::testing::{CHALLENGE, LEGACY, REDIRECT, TestServer, V1, authorize_query, parameter};

/// The query without one parameter and with others appended.
fn changed(query: &str, without: &str, with: &str) -> String {
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with(&format!("{without}="))).collect();
    format!("{}&{with}", kept.join("&"))
}

#[tokio::test]
async fn required_parameters_suffice() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let request = test.server.authorize(&authorize_query(&id)).await.unwrap();
    assert_eq!(request.client.id, id);
    assert_eq!((request.redirect_uri.as_str(), request.challenge.as_str()), (REDIRECT, CHALLENGE));
    assert_eq!((request.resource.as_str(), request.state.as_deref()), (V1, None));
    assert_eq!(request.scopes, ["mcp:images"]);
    assert_eq!(
        (request.redirect_host(), request.redirect_csp_source()),
        ("app.example".to_owned(), "https://app.example".to_owned())
    );
    assert!(!request.redirect_stays_on_device());
    let policy = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' ";
    let check = |uri: &str, targets: &str| {
        let request = AuthorizationRequest { redirect_uri: uri.to_owned(), ..request.clone() };
        assert_eq!(request.content_security_policy(), format!("{policy}{targets}"));
    };
    check(REDIRECT, "https://app.example https:");
    check("http://127.0.0.1:8/", "http://127.0.0.1:8");
    check("com.example.app:/a", "com.example.app:");
}

#[tokio::test]
async fn granted_scopes_depend_on_registration_and_resource() {
    let test = TestServer::new();
    let all = test.register(json!({})).await.client_id;
    let images = test.register(json!({"scope": "mcp:images"})).await.client_id;
    let photos = test.register(json!({"scope": "mcp:photos"})).await.client_id;
    let check = async |id: &str, resource: &str, scope: &str, expect: Result<&[&str], &str>| {
        let query = format!("{}&resource={resource}&scope={scope}", authorize_query(id));
        match (test.server.authorize(&query).await, expect) {
            (Ok(request), Ok(scopes)) => assert_eq!(request.scopes, scopes, "{query}"),
            (Err(AuthorizeError::Redirect(Redirect { to, code })), Err(words)) => {
                assert_eq!(code, "invalid_scope");
                assert!(parameter(&to, "error_description").unwrap().contains(words), "{to}");
            }
            (got, expect) => panic!("{query}: {got:?} instead of {expect:?}"),
        }
    };
    let granted: Result<&[&str], &str> = Ok(&["mcp:images"]);
    for scope in ["", "+", "mcp:images", "mcp:photos", "mcp:photos+mcp:images", "mcp:images%20mcp:images+"] {
        check(&all, V1, scope, granted).await;
    }
    for scope in ["", "mcp:photos", "mcp:images+mcp:photos"] {
        check(&all, LEGACY, scope, Ok(&["mcp:photos"])).await;
    }
    check(&photos, V1, "", granted).await;
    check(&photos, LEGACY, "", Ok(&["mcp:photos"])).await;
    check(&images, V1, "", granted).await;
    check(&images, LEGACY, "", Err("no value that applies")).await;
    check(&all, LEGACY, "mcp:images", Err("no value that applies")).await;
    check(&images, V1, "mcp:photos", Err("did not register")).await;
    check(&photos, V1, "mcp:images", Err("did not register")).await;
    for scope in [
        "openid",
        "mcp:images+openid",
        "MCP:images",
        "mcp:images,mcp:photos",
        "mcp:images%00",
        "mcp:images%09",
    ] {
        check(&all, V1, scope, Err("does not know")).await;
    }
}

#[tokio::test]
async fn an_untrusted_redirect_uri_shows_an_error_page() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let query = authorize_query(&id);
    let check = async |query: &str, expect: PageError| match test.server.authorize(query).await {
        Err(AuthorizeError::Page(page)) => {
            assert_eq!(page, expect, "{query}");
            assert!(page.to_string().ends_with('.'));
        }
        other => panic!("{query}: {other:?}"),
    };
    for with in [
        "",
        "client_id=",
        "client_id=%ff",
        &format!("client_id={id}&client_id={id}"),
        "client_id=&client_id=",
    ] {
        check(&changed(&query, "client_id", with), PageError::BadClientId).await;
    }
    for with in ["nobody", "%00", "' OR 1=1 --", &id.to_uppercase(), &format!("{id}+"), &"x".repeat(100_000)]
    {
        check(&changed(&query, "client_id", &format!("client_id={with}")), PageError::UnknownClient).await;
    }
    let repeated = format!("redirect_uri={REDIRECT}&redirect_uri={REDIRECT}");
    for with in ["", "redirect_uri=", "redirect_uri=%ff", &repeated] {
        check(&changed(&query, "redirect_uri", with), PageError::BadRedirectUri).await;
    }
    for uri in [
        "https://app.example/cb",
        "https://app.example/cb?a= b",
        "https://app.example/cb?a=%20b/",
        "https://app.example/cb?a=%20b&c",
        "https://app.example/cb?a=%20b#",
        "https://app.example/cb/?a=%20b",
        "https://app.example/CB?a=%20b",
        "https://App.example/cb?a=%20b",
        "https://app.example:443/cb?a=%20b",
        "https://app.example/x/../cb?a=%20b",
        "https://app.example/%63b?a=%20b",
        "https://app.example/cb%0d%0a?a=%20b",
        "https://app.example.evil.example/cb?a=%20b",
        "https://app.example\\@evil.example/cb",
        "https://evil.example",
        "http://app.example/cb?a=%20b",
        "http://127.0.0.1",
        "http://127.0.0.1:8080/",
        "http://127.1/",
        "http://localhost/",
        "http://127.0.0.1/\0",
        " http://127.0.0.1/",
        "javascript:alert(1)",
        "/cb",
    ] {
        let encoded: String = url::form_urlencoded::byte_serialize(uri.as_bytes()).collect();
        let query = changed(&query, "redirect_uri", &format!("redirect_uri={encoded}"));
        check(&query, PageError::UnregisteredRedirectUri).await;
    }
    check("", PageError::BadClientId).await;
    assert_eq!(test.store.writes.load(Ordering::SeqCst), 1, "only the registration was written");
}

#[tokio::test]
async fn other_errors_are_redirected_to_the_client() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let query = format!("{}&state=a+b%26%00%0d%C3%A4", authorize_query(&id));
    let check = async |without: &str, with: &str, expect: &str, words: &str| {
        let query = changed(&query, without, with);
        let Err(AuthorizeError::Redirect(Redirect { to, code })) = test.server.authorize(&query).await else {
            panic!("{query} is not redirected");
        };
        let shown = [parameter(&to, "error").unwrap(), parameter(&to, "error_description").unwrap()];
        assert_eq!((code, shown[0].as_str()), (expect, expect), "{query}");
        assert!(shown[1].contains(words), "{query}: {}", shown[1]);
        assert!(to.starts_with(&format!("{REDIRECT}&error=")), "{to}");
        assert_eq!(parameter(&to, "iss").as_deref(), Some("https://photos.example/api"));
        let state = (without != "state").then_some("a b&\0\rä");
        assert_eq!(parameter(&to, "state").as_deref(), state);
    };
    let request = "invalid_request";
    for with in [
        "",
        "response_type=",
        "response_type=token",
        "response_type=code+token",
        "response_type=CODE",
        "response_type=code+",
    ] {
        check("response_type", with, request, "response_type").await;
    }
    for with in ["", "code_challenge_method=", "code_challenge_method=plain", "code_challenge_method=s256"] {
        check("code_challenge_method", with, request, "code_challenge_method").await;
    }
    for challenge in [
        "",
        &CHALLENGE[1..],
        &"a".repeat(129),
        &format!("{CHALLENGE}="),
        &format!("{CHALLENGE}%2B"),
        &"~".repeat(43),
        &"%C3%A4".repeat(43),
        &"%00".repeat(43),
    ] {
        check("code_challenge", &format!("code_challenge={challenge}"), request, "code_challenge").await;
    }
    for name in ["response_type", "code_challenge", "code_challenge_method", "resource", "scope"] {
        check("", &format!("{name}=x&{name}=x"), request, &format!("{name} is given more than once")).await;
        check(name, &format!("{name}=%ff"), request, &format!("{name} is not text")).await;
    }
    check("state", "state=a&state=b", request, "state is given more than once").await;
    check("state", "state=%ff", request, "state is not text").await;
    for resource in [
        "/api/mcp/v1",
        "https://photos.example/api/mcp",
        "https://photos.example/api/mcp/v1%23x",
        "https://photos.example/api/mcp/v11",
        "https://photos.example.evil/api/mcp/v1",
        "https://photos.example",
        "x",
    ] {
        check("", &format!("resource={resource}"), "invalid_target", "resource").await;
    }
}

#[tokio::test]
async fn the_first_error_is_reported() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let query = authorize_query(&id);
    let wrong = "&response_type=token&code_challenge=x&code_challenge_method=plain&resource=x&scope=x";
    let order = ["response_type", "code_challenge", "code_challenge_method", "resource", "scope"];
    for (index, name) in order.into_iter().enumerate() {
        let mut query_with_errors = format!("client_id={id}");
        for pair in query.split('&').chain(wrong.split('&').skip(1)) {
            let (key, value) = pair.split_once('=').unwrap();
            let rank = order.iter().position(|known| *known == key);
            let is_right = query.contains(&format!("{key}={value}"));
            if key != "client_id" && rank.is_none_or(|rank| (rank < index) == is_right) {
                query_with_errors = format!("{query_with_errors}&{pair}");
            }
        }
        let answer = test.server.authorize(&query_with_errors).await.unwrap_err();
        let AuthorizeError::Redirect(Redirect { to, .. }) = answer else {
            panic!("{query_with_errors}: {answer:?}")
        };
        assert!(parameter(&to, "error_description").unwrap().starts_with(name), "{query_with_errors}: {to}");
    }
}

fn attempt() -> crate::Attempt {
    crate::Attempt::derive(&[7; 32], &[b"form"])
}

#[tokio::test]
async fn a_store_failure_is_unavailable() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let request = test.server.authorize(&authorize_query(&id)).await.unwrap();
    test.store.is_down.store(true, Ordering::SeqCst);
    let query_with_errors = test.server.authorize(&authorize_query(&id)).await;
    assert!(matches!(query_with_errors, Err(AuthorizeError::Unavailable(_))));
    let allowed = test.server.allow(&request, "1", &attempt()).await;
    assert!(matches!(allowed, Err(crate::AllowError::Unavailable(_))));
}

#[tokio::test]
async fn a_repeated_consent_gives_the_same_code() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let query = format!("{}&state=x+y", authorize_query(&id));
    let request = test.server.authorize(&query).await.unwrap();
    let allowed = test.server.allow(&request, "1", &attempt()).await.unwrap();
    let code = parameter(&allowed.to, "code").unwrap();
    assert_eq!(code, attempt().code());
    assert_eq!(
        allowed.to,
        format!("{REDIRECT}&code={code}&state=x+y&iss=https%3A%2F%2Fphotos.example%2Fapi")
    );
    assert!(!format!("{allowed:?}").contains(&code));
    test.clock.advance_ms(1000);
    assert_eq!(test.server.allow(&request, "1", &attempt()).await.unwrap(), allowed);
    let other_user = test.server.allow(&request, "2", &attempt()).await;
    assert!(matches!(other_user, Err(crate::AllowError::AlreadyAnswered)));
    test.token(&crate::testing::code_form(&id, &code)).await.unwrap();
    let again = test.server.allow(&request, "1", &attempt()).await;
    assert!(matches!(again, Err(crate::AllowError::AlreadyAnswered)));
    assert_eq!(test.server.store().connections("1").await.unwrap().len(), 1);
    assert_eq!(test.server.store().connections("2").await.unwrap(), []);
}

#[tokio::test]
async fn a_denial_is_redirected_and_not_stored() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let request = test.server.authorize(&format!("{}&state=x", authorize_query(&id))).await.unwrap();
    let before = test.store.calls.load(Ordering::SeqCst);
    let Redirect { to, code } = test.server.deny(&request);
    assert_eq!(code, "access_denied");
    let expect = "error=access_denied&error_description=the+user+refused&state=x&iss=https%3A%2F%2Fphotos.example%2Fapi";
    assert_eq!(to, format!("{REDIRECT}&{expect}"));
    assert_eq!(test.store.calls.load(Ordering::SeqCst), before);
}

#[tokio::test]
async fn a_registered_uri_is_checked_by_the_current_rules() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let mut old = test.server.store().client(&id).await.unwrap().unwrap();
    "registered-long-ago".clone_into(&mut old.id);
    old.metadata.redirect_uris = ["intent://x/", "http://app.example/", REDIRECT].map(str::to_owned).to_vec();
    let query = authorize_query(&old.id);
    test.server
        .store()
        .register_client(crate::NewClient { client: old, digest: None, eviction: None })
        .await
        .unwrap();
    for uri in ["intent://x/", "http://app.example/"] {
        // A refused URI never receives an error, even if the request has other faults.
        for query in [query.clone(), changed(&query, "response_type", "response_type=token")] {
            let query = changed(&query, "redirect_uri", &format!("redirect_uri={uri}"));
            let refused = test.server.authorize(&query).await;
            assert!(matches!(refused, Err(AuthorizeError::Page(_))), "{uri}: {refused:?}");
        }
    }
    test.server.authorize(&query).await.unwrap();
}

#[tokio::test]
async fn redirects_to_the_device_are_recognised() {
    let test = TestServer::new();
    let registered = ["https://app.example/cb", "http://127.0.0.1:1/", "https://localhost/", "my-app:/cb"];
    let body = json!({"client_name": "An app", "redirect_uris": registered}).to_string();
    let id = test.server.register(body.as_bytes()).await.unwrap().client_id;
    for (uri, stays) in registered.into_iter().zip([false, true, true, true]) {
        let query = changed(&authorize_query(&id), "redirect_uri", &format!("redirect_uri={uri}"));
        let request = test.server.authorize(&query).await.unwrap();
        assert_eq!(request.redirect_stays_on_device(), stays, "{uri}");
    }
}
