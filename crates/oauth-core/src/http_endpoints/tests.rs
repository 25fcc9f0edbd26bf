use http::Request;
use serde_json::{Value, json};

use super::*;
use crate::{
    AccessTokenClaims, AccessTokens, JwkSet, PublicKeys, TokensUnavailable,
    jwt::{JwtTokens, KeySchedule, SigningKey},
    testing::{CHALLENGE, LEGACY, REDIRECT, TestServer, V1, code_form},
};

fn parts(line: &str, headers: &[(&str, &str)]) -> Parts {
    let (method, path) = line.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");

fn header<'a>(response: &'a Response<Bytes>, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|value| value.to_str().unwrap())
}

fn body(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).unwrap()
}

#[tokio::test]
async fn documents_are_at_all_paths_where_clients_look() {
    let endpoints = HttpEndpoints::new(TestServer::new().server);
    let check = async |path: &str, member: &str, expect: Option<&str>| {
        let response = endpoints.respond(&parts(&format!("GET {path}"), &[]), b"").await;
        assert_eq!(response.is_some(), expect.is_some(), "{path}");
        if let Some(response) = response {
            assert_eq!(response.status(), 200, "{path}");
            assert_eq!(header(&response, "cache-control"), Some("public, max-age=3600"));
            assert_eq!(header(&response, "access-control-allow-origin"), Some("*"));
            assert_eq!(body(&response)[member].as_str(), expect, "{path}");
        }
    };
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/api",
        "/api/.well-known/oauth-authorization-server",
    ] {
        check(path, "issuer", Some("https://photos.example/api")).await;
    }
    check("/.well-known/oauth-protected-resource", "resource", Some(V1)).await;
    check("/.well-known/oauth-protected-resource/api/mcp/v1", "resource", Some(V1)).await;
    check("/.well-known/oauth-protected-resource/api/mcp/legacy", "resource", Some(LEGACY)).await;
    check("/.well-known/oauth-protected-resource/api/mcp/v3", "resource", None).await;
    check("/.well-known/oauth-protected-resource/api/mcp/v1/", "resource", Some(V1)).await;
    check("/.well-known/oauth-protected-resource/api/mcp/v1//", "resource", None).await;
    check("/api/oauth/authorize", "", None).await;
    let paths: Vec<&str> = endpoints.paths().collect();
    assert_eq!(paths.len(), 15, "{paths:?}");
}

#[tokio::test]
async fn request_heads_are_checked() {
    let endpoints = HttpEndpoints::new(TestServer::new().server);
    let check = async |line: &str, headers: &[(&str, &str)], status: u16, error: &str| {
        let response = endpoints.respond(&parts(line, headers), b"").await.unwrap();
        assert_eq!(response.status(), status, "{line} {headers:?}");
        assert_eq!(header(&response, "cache-control"), Some("no-store"), "{line}");
        assert_eq!(header(&response, "access-control-allow-origin"), Some("*"), "{line}");
        assert_eq!(body(&response)["error"], error, "{line} {headers:?}");
    };
    let (register, token, revoke) =
        ("POST /api/oauth/register", "POST /api/oauth/token", "POST /api/oauth/revoke");
    let gzip = ("content-encoding", "gzip");
    check("GET /api/oauth/token", &[], 405, "method not allowed; use POST").await;
    check("OPTIONS /api/oauth/token", &[], 405, "method not allowed; use POST").await;
    check("POST /.well-known/oauth-protected-resource", &[], 405, "method not allowed; use GET, HEAD").await;
    check(register, &[], 400, "invalid_client_metadata").await;
    check(register, &[FORM], 400, "invalid_client_metadata").await;
    check(register, &[JSON, gzip], 415, "invalid_client_metadata").await;
    check(register, &[JSON], 400, "invalid_client_metadata").await;
    check(token, &[], 400, "invalid_request").await;
    check(token, &[("content-type", "text/plain")], 400, "invalid_request").await;
    check(token, &[FORM, gzip], 415, "invalid_request").await;
    check(token, &[FORM, ("content-encoding", "identity")], 400, "invalid_request").await;
    check(token, &[FORM, ("authorization", "Basic a"), ("authorization", "Basic a")], 400, "invalid_request")
        .await;
    check(revoke, &[JSON], 400, "invalid_request").await;
    let preflight = [("origin", "https://a.example"), ("access-control-request-method", "POST")];
    let response = endpoints.respond(&parts("OPTIONS /api/oauth/token", &preflight), b"").await.unwrap();
    assert_eq!(
        (response.status().as_u16(), header(&response, "access-control-allow-origin")),
        (204, Some("*"))
    );
    for (cause, status) in [
        (UnreadableBody::TooLarge(9), 413),
        (UnreadableBody::TooSlow, 408),
        (UnreadableBody::Broken, 400),
        (UnreadableBody::Encoded, 415),
    ] {
        let response = Endpoint::Token.unreadable_body(cause);
        assert_eq!((response.status().as_u16(), header(&response, "connection")), (status, Some("close")));
    }
    let response = ErrorBody::too_many_requests(0);
    assert_eq!((response.status().as_u16(), header(&response, "retry-after")), (429, Some("1")));
}

#[tokio::test]
async fn a_client_gets_and_revokes_tokens() {
    let test = TestServer::new();
    let endpoints = HttpEndpoints::new(test.server.clone());
    let ask = async |path: &str, kind: (&str, &str), sent: &str| {
        let parts = parts(&format!("POST /api/oauth/{path}"), &[kind]);
        endpoints.respond(&parts, sent.as_bytes()).await.unwrap()
    };
    let metadata = json!({"client_name": "A", "redirect_uris": [REDIRECT]}).to_string();
    let response = ask("register", JSON, &metadata).await;
    assert_eq!(response.status(), 201);
    let id = body(&response)["client_id"].as_str().unwrap().to_owned();

    let response = ask("token", FORM, &code_form("unknown", CHALLENGE)).await;
    assert_eq!((response.status().as_u16(), header(&response, "pragma")), (401, Some("no-cache")));
    assert!(header(&response, "www-authenticate").unwrap().starts_with("Basic "));

    let response = ask("token", FORM, &code_form(&id, &test.code(&id).await)).await;
    assert_eq!((response.status().as_u16(), header(&response, "cache-control")), (200, Some("no-store")));
    let token = body(&response)["access_token"].as_str().unwrap().to_owned();
    let resource = test.server.protect(V1).unwrap();
    let bearer = format!("Bearer {token}");
    let once = parts("GET /", &[("authorization", &bearer)]).headers;
    let twice = parts("GET /", &[("authorization", &bearer), ("authorization", &bearer)]).headers;
    assert_eq!(resource.grant_for(&once).await.unwrap().client_id, id);
    assert_eq!(resource.grant_for(&twice).await.unwrap_err().response().status(), 401);

    let response = ask("revoke", JSON, &json!({"token": token}).to_string()).await;
    assert_eq!((response.status().as_u16(), body(&response)), (200, json!({})));
    assert_eq!(resource.grant_for(&once).await.unwrap_err().response().status(), 401);

    test.store.is_down.store(true, std::sync::atomic::Ordering::SeqCst);
    for (path, kind, sent) in [
        ("register", JSON, metadata.as_str()),
        ("token", FORM, &code_form(&id, CHALLENGE)),
        ("revoke", FORM, &format!("token={token}")),
    ] {
        let response = ask(path, kind, sent).await;
        assert_eq!(
            (response.status().as_u16(), header(&response, "retry-after")),
            (503, Some("5")),
            "{path}"
        );
        assert_eq!(body(&response)["error"], "temporarily_unavailable");
    }
}

#[tokio::test]
async fn public_keys_are_served_if_tokens_have_them() {
    let keys = || parts("GET /api/oauth/jwks", &[]);
    let mut server = TestServer::new().server;
    assert_eq!(server.server_metadata().jwks_uri, None);
    assert_eq!(server.jwk_set().await.unwrap(), None);
    assert!(HttpEndpoints::new(server.clone()).respond(&keys(), b"").await.is_none());

    let key = SigningKey::from_seed(&[1; 32]).unwrap();
    server.tokens = Arc::new(JwtTokens::new(KeySchedule::new(key.clone()), server.config()));
    assert_eq!(server.server_metadata().jwks_uri.as_deref(), Some("https://photos.example/api/oauth/jwks"));
    let endpoints = HttpEndpoints::new(server);
    assert_eq!(endpoints.paths().filter(|path| *path == "/api/oauth/jwks").count(), 1);
    let response = endpoints.respond(&keys(), b"").await.unwrap();
    assert_eq!(body(&response), json!({"keys": [key.public_jwk()]}));
    assert_eq!(response.status(), 200);
    for (name, value) in [
        ("content-type", "application/json"),
        ("cache-control", "public, max-age=300"),
        ("access-control-allow-origin", "*"),
    ] {
        assert_eq!(header(&response, name), Some(value));
    }
    let response = endpoints.respond(&parts("POST /api/oauth/jwks", &[]), b"").await.unwrap();
    assert_eq!((response.status().as_u16(), header(&response, "allow")), (405, Some("GET, HEAD")));
    let preflight = [("origin", "https://a.example"), ("access-control-request-method", "GET")];
    let response = endpoints.respond(&parts("OPTIONS /api/oauth/jwks", &preflight), b"").await.unwrap();
    assert_eq!(response.status(), 204);
}

/// Access tokens whose public keys are in a store that failed.
struct NoKeys;

#[async_trait::async_trait]
impl AccessTokens for NoKeys {
    async fn sign(&self, _: &AccessTokenClaims) -> Result<String, TokensUnavailable> {
        Err(TokensUnavailable("the disk is gone".to_owned()))
    }

    async fn read(&self, _: &str) -> Result<Option<AccessTokenClaims>, TokensUnavailable> {
        Err(TokensUnavailable("the disk is gone".to_owned()))
    }

    fn public_keys(&self) -> Option<&dyn PublicKeys> {
        Some(self)
    }
}

#[async_trait::async_trait]
impl PublicKeys for NoKeys {
    async fn jwk_set(&self) -> Result<JwkSet, TokensUnavailable> {
        Err(TokensUnavailable("the disk is gone".to_owned()))
    }
}

#[tokio::test]
async fn unavailable_public_keys_are_503() {
    let mut server = TestServer::new().server;
    server.tokens = Arc::new(NoKeys);
    let response = HttpEndpoints::new(server).respond(&parts("GET /api/oauth/jwks", &[]), b"").await.unwrap();
    assert_eq!((response.status().as_u16(), header(&response, "retry-after")), (503, Some("5")));
    assert_eq!(header(&response, "cache-control"), Some("no-store"));
}

#[tokio::test]
async fn the_path_of_a_resource_keeps_its_slash() {
    let resource = crate::Resource::new("https://photos.example/mcp/", "Photos", &["photos"]);
    let urls = crate::Endpoints::under("https://photos.example");
    let lifetimes = crate::Lifetimes::default();
    let config = crate::Config::new("https://photos.example", urls, vec![resource], lifetimes).unwrap();
    let store = Arc::new(crate::MemoryStore::new());
    let endpoints = HttpEndpoints::new(AuthorizationServer::builder(config, store, &[1; 32]).build());
    for path in ["/mcp/", "/mcp", ""] {
        let line = format!("GET /.well-known/oauth-protected-resource{path}");
        let response = endpoints.respond(&parts(&line, &[]), b"").await.unwrap();
        assert_eq!(body(&response)["resource"], "https://photos.example/mcp/", "{path}");
    }
}

#[tokio::test]
async fn error_responses_carry_their_cause() {
    let test = TestServer::new();
    let endpoints = HttpEndpoints::new(test.server.clone());
    let ask = async |path: &str, kind: (&str, &str), sent: &str| {
        let parts = parts(&format!("POST /api/oauth/{path}"), &[kind]);
        endpoints.respond(&parts, sent.as_bytes()).await.unwrap()
    };
    let id = test.register(json!({})).await.client_id;
    let form = code_form(&id, &test.code(&id).await);
    let response = ask("token", FORM, &form).await;
    assert!(response.extensions().get::<TokenError>().is_none());
    let response = ask("token", FORM, &form).await;
    let Some(TokenError::InvalidGrant(crate::InvalidGrantReason::CodeReplayed { grant_id })) =
        response.extensions().get::<TokenError>()
    else {
        panic!("no replay")
    };
    assert!(!grant_id.is_empty());
    let response = ask("register", JSON, "{}").await;
    assert!(response.extensions().get::<crate::RegisterError>().is_some());
    let response = ask("revoke", FORM, "").await;
    assert!(response.extensions().get::<MalformedRevocation>().is_some());
    let resource = test.server.protect(V1).unwrap();
    let response = resource.grant(None).await.unwrap_err().response();
    assert!(response.extensions().get::<AccessError>().is_some());
    let response = test.server.authorize("").await.unwrap_err().response();
    assert!(response.extensions().get::<crate::PageError>().is_some());

    let request = test.server.authorize(&crate::testing::authorize_query(&id)).await.unwrap();
    let token = test.server.consent_token(b"s", &request).unwrap();
    let attempt = test.server.check_consent_token(b"s", &request, &token).unwrap();
    test.store.is_down.store(true, std::sync::atomic::Ordering::SeqCst);
    let mut down = vec![ask("token", FORM, &form).await];
    down.push(test.server.authorize(&crate::testing::authorize_query(&id)).await.unwrap_err().response());
    down.push(test.server.allow(&request, "1", &attempt).await.unwrap_err().response());
    for response in down {
        let cause = response.extensions().get::<crate::Unavailable>().unwrap().to_string();
        assert!(cause.contains("the disk is gone"), "{cause}");
        let sent = String::from_utf8_lossy(response.body()).to_lowercase();
        assert!(response.status() == 503 && !sent.contains("disk") && !sent.contains("nothing"), "{sent}");
    }
}

#[tokio::test]
async fn requests_are_limited_before_they_have_an_effect() {
    let test = TestServer::new();
    let id = test.register(json!({})).await.client_id;
    let limited = id.clone();
    let endpoints = HttpEndpoints::new(test.server.clone()).with_limit(move |endpoint, head, request| {
        assert_eq!((request.is_some(), head.method.as_str()), (endpoint == Endpoint::Token, "POST"));
        let is_limited = request.is_none_or(|request| request.claimed_client_id() == limited);
        if is_limited { Err(7) } else { Ok(()) }
    });
    let calls = test.store.calls.load(std::sync::atomic::Ordering::SeqCst);
    let form = code_form(&id, CHALLENGE);
    for (path, kind, sent, status) in [
        ("register", JSON, "{}", 429),
        ("revoke", FORM, "token=a", 429),
        ("token", FORM, form.as_str(), 429),
        ("token", FORM, "", 400),
        ("token", FORM, &code_form("other", CHALLENGE), 401),
    ] {
        if status == 401 {
            assert_eq!(test.store.calls.load(std::sync::atomic::Ordering::SeqCst), calls);
        }
        let parts = parts(&format!("POST /api/oauth/{path}"), &[kind]);
        let response = endpoints.respond(&parts, sent.as_bytes()).await.unwrap();
        assert_eq!(response.status(), status, "{path} {sent}");
        assert_eq!(header(&response, "retry-after"), (status == 429).then_some("7"));
        assert_eq!(header(&response, "access-control-allow-origin"), Some("*"));
    }
}
