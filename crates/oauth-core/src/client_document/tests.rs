use std::sync::atomic::Ordering;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    AuthMethod, AuthorizationRequest, AuthorizeError, GrantType, RevokeRequest,
    testing::{self, CHALLENGE, CLIENT_URL, REDIRECT, TestServer, authorize_query, code_form, parameter},
};

fn minimal() -> Value {
    json!({"client_id": CLIENT_URL, "client_name": "An app", "redirect_uris": [REDIRECT]})
}

fn with(name: &str, value: Value) -> Value {
    let mut document = minimal();
    document[name] = value;
    document
}

fn url() -> ClientUrl {
    ClientUrl::parse(CLIENT_URL).unwrap()
}

fn read(document: &Value) -> Result<ClientMetadata, String> {
    metadata(&testing::config(), &url(), document.to_string().as_bytes())
}

#[test]
fn a_document_has_the_metadata_of_a_registration() {
    let metadata = read(&minimal()).unwrap();
    assert_eq!(
        metadata,
        ClientMetadata {
            client_name: "An app".to_owned(),
            redirect_uris: vec![REDIRECT.to_owned()],
            grant_types: vec![GrantType::AuthorizationCode, GrantType::RefreshToken],
            scopes: vec!["mcp:images".to_owned(), "mcp:photos".to_owned()],
            token_endpoint_auth_method: AuthMethod::None,
            requires_assertion: false,
            software_id: None,
            software_version: None,
        }
    );
    let check = |name: &str, value: Value, expect: fn(&ClientMetadata) -> bool| {
        let metadata = read(&with(name, value.clone())).unwrap();
        assert!(expect(&metadata), "{name}: {value}: {metadata:?}");
    };
    for unknown in ["client_uri", "logo_uri", "jwks_uri", "application_type"] {
        check(unknown, json!("https://app.example/"), |_| true);
    }
    for no_name in [json!(null), json!("")] {
        check("client_name", no_name, |metadata| metadata.client_name == "app.example");
    }
    check("grant_types", json!(["authorization_code"]), |metadata| !metadata.may_refresh());
    check("scope", json!("openid mcp:photos"), |metadata| metadata.scopes == ["mcp:photos"]);
    for method in [json!(null), json!("none")] {
        check("token_endpoint_auth_method", method, |_| true);
    }
    check("client_secret", json!(null), |_| true);
}

#[test]
fn a_document_says_whether_its_client_must_sign_assertions() {
    let check = |method: Value, others: Value, required: bool| {
        let mut document = with("token_endpoint_auth_method", method);
        document["token_endpoint_auth_methods_supported"] = others;
        document["jwks_uri"] = "https://app.example/keys".into();
        let metadata = read(&document).unwrap();
        assert_eq!(metadata.token_endpoint_auth_method, AuthMethod::None, "{document}");
        assert_eq!(metadata.requires_assertion, required, "{document}");
        // An earlier version of this crate, on the same store, reads a public client.
        let stored = serde_json::to_value(&metadata).unwrap();
        assert_eq!(stored["token_endpoint_auth_method"], "none", "{document}");
        assert_eq!(stored.get("requires_assertion").is_some(), required, "{document}");
    };
    let (none, assertion) = ("none", "private_key_jwt");
    check(json!(null), json!(null), false);
    check(json!(null), json!(["client_secret_basic"]), false);
    check(json!(null), json!([assertion, none]), false);
    check(json!(none), json!([assertion]), false);
    check(json!(assertion), json!([none]), false);
    check(json!(assertion), json!(null), true);
    check(json!(assertion), json!([assertion]), true);
    check(json!(null), json!([assertion]), true);
    check(json!("client_secret_basic"), json!([assertion]), true);
    // A client that need not sign may have unusable keys.
    let mut either = with("token_endpoint_auth_methods_supported", json!([assertion, none]));
    either["jwks_uri"] = "http://app.example/".into();
    assert!(!read(&either).unwrap().requires_assertion);
    let mut inline = with("token_endpoint_auth_method", json!(assertion));
    inline["jwks"] = json!({"keys": []});
    assert!(read(&inline).unwrap().requires_assertion);
}

#[test]
fn errors_in_the_keys_of_a_document_are_reported() {
    let check = |jwks: Value, jwks_uri: Value, words: &str| {
        let mut document = with("token_endpoint_auth_method", json!("private_key_jwt"));
        document["jwks"] = jwks;
        document["jwks_uri"] = jwks_uri;
        let fault = read(&document).unwrap_err();
        assert!(fault.contains(words), "{document}: {fault}");
    };
    let keys = "https://app.example/keys";
    check(json!(null), json!(null), "neither jwks nor jwks_uri");
    check(json!(null), json!(""), "neither jwks nor jwks_uri");
    check(json!({"keys": []}), json!(keys), "both jwks and jwks_uri");
    for jwks in [json!([]), json!("x"), json!({}), json!({"keys": {}})] {
        check(jwks, json!(null), "jwks is not a JWK set");
    }
    check(json!(null), json!([keys]), "jwks_uri is not text");
    check(json!(null), json!("http://app.example/keys"), "does not begin with https://");
    check(json!(null), json!("https://10.0.0.1/keys"), "an IP address");
    check(json!(null), json!("https://user@app.example/keys"), "user name");
}

#[test]
fn errors_in_a_document_are_reported() {
    let check = |document: &str, words: &str| {
        let fault = metadata(&testing::config(), &url(), document.as_bytes()).unwrap_err();
        assert!(fault.contains(words), "{document}: {fault}");
    };
    for text in ["", "<html>", "{", "{}{}"] {
        check(text, "the document is not JSON");
    }
    check("[]", "the document is not a JSON object");
    check(r#"{"client_id":"a","client_id":"b"}"#, "the JSON member \"client_id\" more than once");
    check("{}", "client_id is missing");
    for (name, value, words) in [
        ("client_id", json!("https://app.example/client.json/"), "client_id is not the URL"),
        ("client_id", json!("HTTPS://app.example/client.json"), "client_id is not the URL"),
        ("client_id", json!("https://evil.example/client.json"), "client_id is not the URL"),
        ("client_id", json!([CLIENT_URL]), "client_id is not the URL"),
        ("client_id", json!(null), "client_id is not the URL"),
        ("client_secret", json!("x"), "contains a client_secret,"),
        ("client_secret_expires_at", json!(0), "contains a client_secret_expires_at,"),
        ("token_endpoint_auth_method", json!("client_secret_basic"), "is not none"),
        ("token_endpoint_auth_method", json!("client_secret_post"), "is not none"),
        ("token_endpoint_auth_method", json!("client_secret_jwt"), "is not none"),
        ("token_endpoint_auth_method", json!(["none"]), "is not text"),
        ("client_name", json!(7), "client_name is not text"),
        ("client_name", json!("x".repeat(201)), "longer than 200"),
        ("redirect_uris", json!(null), "redirect_uris is missing"),
        ("redirect_uris", json!([]), "1 to 20"),
        ("redirect_uris", json!(["javascript:alert(1)"]), "redirect_uris[0] is refused"),
        ("grant_types", json!(["client_credentials"]), "lacks authorization_code"),
        ("response_types", json!(["token"]), "lacks code"),
        ("scope", json!("openid"), "has none of"),
    ] {
        check(&with(name, value).to_string(), words);
    }
}

/// Sends an authorization request with that redirect URI.
async fn authorize(test: &TestServer, redirect_uri: &str) -> Result<AuthorizationRequest, AuthorizeError> {
    let query = authorize_query(CLIENT_URL);
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("redirect_uri=")).collect();
    let encoded: String = url::form_urlencoded::byte_serialize(redirect_uri.as_bytes()).collect();
    test.server.authorize(&format!("{}&redirect_uri={encoded}", kept.join("&"))).await
}

#[tokio::test]
async fn a_client_with_a_document_is_authorized_and_stored() {
    let (test, documents) = TestServer::with_documents();
    documents.put(&minimal());
    let request = test.server.authorize(&authorize_query(CLIENT_URL)).await.unwrap();
    assert_eq!(request.client.id, CLIENT_URL);
    assert_eq!(request.client_url, Some(url()));
    assert_eq!((request.challenge.as_str(), request.redirect_uri.as_str()), (CHALLENGE, REDIRECT));
    assert!(!request.redirects_to_other_host() && !request.redirect_stays_on_device());
    assert_eq!(test.store.writes.load(Ordering::SeqCst), 0, "nothing is stored before consent");
    let unknown = test.token(&code_form(CLIENT_URL, "a-code")).await.unwrap_err();
    assert_eq!(unknown.code(), "invalid_client");

    let to = test.server.allow(&request, "1", &crate::Attempt::derive(&[7; 32], &[])).await.unwrap().to;
    // The document is not needed any more.
    documents.fail(DocumentError::Busy);
    let requests = documents.requests.load(Ordering::SeqCst);
    let code = parameter(&to, "code").unwrap();
    let tokens = test.token(&code_form(CLIENT_URL, &code)).await.unwrap();
    let refresh = tokens.refresh_token.unwrap();
    let next = test.refresh(CLIENT_URL, refresh.expose()).await.unwrap();
    let connections = test.server.store().connections("1").await.unwrap();
    assert_eq!(connections[0].client_name.as_deref(), Some("An app"));
    test.server.revoke(&RevokeRequest::of(next.refresh_token.unwrap().expose())).await.unwrap();
    assert_eq!(documents.requests.load(Ordering::SeqCst), requests);
    assert!(matches!(
        test.server.authorize(&authorize_query(CLIENT_URL)).await,
        Err(AuthorizeError::Page(PageError::Busy))
    ));
}

#[tokio::test]
async fn without_documents_such_clients_are_unknown() {
    let (with_documents, documents) = TestServer::with_documents();
    let test = TestServer::new();
    documents.put(&minimal());
    let query = authorize_query(CLIENT_URL);
    assert_eq!(with_documents.server.client_url(&query), Some(url()));
    assert_eq!(with_documents.server.client_url(&authorize_query("abc")), None);
    assert_eq!(with_documents.server.client_url(&format!("{query}&client_id=x")), None);
    assert_eq!(test.server.client_url(&query), None);
    let page = test.server.authorize(&query).await;
    assert!(matches!(page, Err(AuthorizeError::Page(PageError::UnknownClient))));
    assert!(with_documents.server.server_metadata().client_id_metadata_document_supported);
    assert!(!test.server.server_metadata().client_id_metadata_document_supported);
}

#[tokio::test]
async fn an_unusable_document_shows_an_error_page() {
    let (test, documents) = TestServer::with_documents();
    let page = async |client_id: &str| match test.server.authorize(&authorize_query(client_id)).await {
        Err(AuthorizeError::Page(page)) => {
            assert!(page.to_string().ends_with('.'));
            page
        }
        other => panic!("{client_id}: {other:?}"),
    };
    for bad in [
        "http://app.example/client.json",
        "https://app.example",
        "https://app.example/a#b",
        "https://u@app.example/a",
        "https://app.example/a/../b",
        "HTTPS://app.example/a",
        "https:",
    ] {
        assert!(matches!(page(bad).await, PageError::BadClientUrl(_)), "{bad}");
    }
    assert_eq!(documents.requests.load(Ordering::SeqCst), 0, "nothing was fetched");
    let unreadable = page(CLIENT_URL).await;
    assert!(unreadable.to_string().contains("it is missing"), "{unreadable}");
    documents.put(&json!({}));
    assert!(
        matches!(page(CLIENT_URL).await, PageError::RefusedDocument(words) if words == "client_id is missing")
    );
    assert_eq!(documents.rejections.load(Ordering::SeqCst), 1);
    documents.put(&minimal());
    assert!(matches!(
        authorize(&test, "https://evil.example/").await,
        Err(AuthorizeError::Page(PageError::UnregisteredRedirectUri))
    ));
    assert_eq!(documents.rejections.load(Ordering::SeqCst), 1);
    assert_eq!(test.store.calls.load(Ordering::SeqCst), 0, "the store was not called");
}

#[tokio::test]
async fn the_port_of_a_loopback_redirect_is_ignored() {
    let (test, documents) = TestServer::with_documents();
    let uris = [
        "http://127.0.0.1/cb",
        "http://[::1]:7/cb",
        "http://localhost/cb?a=%20b",
        "https://localhost:8443/cb",
        "https://app.example/cb",
        "com.example.app://localhost/cb",
    ];
    documents.put(&with("redirect_uris", json!(uris)));
    for good in [
        "http://127.0.0.1/cb",
        "http://127.0.0.1:0/cb",
        "http://127.0.0.1:65535/cb",
        "http://[::1]/cb",
        "http://[::1]:8080/cb",
        "http://localhost:33418/cb?a=%20b",
        "https://localhost:8443/cb",
    ] {
        let request = authorize(&test, good).await.unwrap();
        assert_eq!(request.redirect_uri, good, "the requested port is used");
        assert!(request.redirect_stays_on_device() && request.redirects_to_other_host());
    }
    for bad in [
        "http://127.0.0.1:/cb",
        "http://127.0.0.1:65536/cb",
        "http://127.0.0.1:+1/cb",
        "http://127.0.0.1:80@evil.example/cb",
        "http://127.0.0.1:80",
        "http://127.0.0.1:80/cb/",
        "http://127.0.0.1:80/cb?",
        "http://127.0.0.1:80/cb#",
        "http://127.0.0.1:80/CB",
        "http://127.0.0.1:80\\cb",
        "http://127.0.0.1.evil.example:80/cb",
        "http://127.0.0.2:80/cb",
        "http://127.1:80/cb",
        "http://localhost:80/cb",
        "http://localhost:80/cb?a=+b",
        "http://LOCALHOST:80/cb?a=%20b",
        "HTTP://127.0.0.1:80/cb",
        "https://127.0.0.1:80/cb",
        "https://localhost:8444/cb",
        "https://localhost/cb",
        "https://app.example:8443/cb",
        "com.example.app://localhost:1/cb",
    ] {
        let refused = authorize(&test, bad).await;
        assert!(
            matches!(refused, Err(AuthorizeError::Page(PageError::UnregisteredRedirectUri))),
            "{bad}: {refused:?}"
        );
    }
    // The code is bound to the URI with its port.
    let request = authorize(&test, "http://127.0.0.1:5/cb").await.unwrap();
    let to = test.server.allow(&request, "1", &crate::Attempt::derive(&[7; 32], &[])).await.unwrap().to;
    assert!(to.starts_with("http://127.0.0.1:5/cb?code="), "{to}");
    let form = |uri: &str| {
        code_form(CLIENT_URL, &parameter(&to, "code").unwrap())
            .replace(&url::form_urlencoded::byte_serialize(REDIRECT.as_bytes()).collect::<String>(), uri)
    };
    let other = test.token(&form("http://127.0.0.1:6/cb")).await.unwrap_err();
    assert_eq!(other.code(), "invalid_grant");
    test.token(&form("http://127.0.0.1:5/cb")).await.unwrap();
}

#[tokio::test]
async fn the_port_matters_for_a_registered_client() {
    let (test, _) = TestServer::with_documents();
    let id = test.register(json!({})).await.client_id;
    let query = authorize_query(&id);
    let encoded: String = url::form_urlencoded::byte_serialize(REDIRECT.as_bytes()).collect();
    let known = test.server.authorize(&query.replace(&encoded, "http://127.0.0.1/")).await.unwrap();
    assert!(known.client_url.is_none() && !known.redirects_to_other_host());
    let page = test.server.authorize(&query.replace(&encoded, "http://127.0.0.1:5/")).await;
    assert!(matches!(page, Err(AuthorizeError::Page(PageError::UnregisteredRedirectUri))));
}

proptest! {
    #[test]
    fn any_document_is_parsed_without_panic(document in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = metadata(&testing::config(), &url(), &document);
    }

    #[test]
    fn only_the_port_may_differ(port in "[0-9]{0,6}", host in "127\\.0\\.0\\.1|localhost|\\[::1\\]", path in "[/?a-c]{0,4}") {
        let (plain, other) = (format!("http://{host}{path}"), format!("http://{host}:{port}{path}"));
        if check_both(&plain, &other) {
            prop_assert!(crate::redirect_uri::differs_only_in_port(&plain, &other));
            let longer = format!("{other}x");
            prop_assert!(!crate::redirect_uri::differs_only_in_port(&plain, &longer));
        }
    }
}

fn check_both(one: &str, other: &str) -> bool {
    [one, other].iter().all(|uri| crate::check_redirect_uri(uri).is_ok())
}
