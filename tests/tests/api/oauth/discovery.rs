use reqwest::Method;
use serde_json::json;
use tests::TestApp;

const SERVER: [&str; 3] = [
    "/.well-known/oauth-authorization-server/api",
    "/.well-known/oauth-authorization-server",
    "/api/.well-known/oauth-authorization-server",
];
const RESOURCES: [(&str, &str, &str); 4] = [
    ("/.well-known/oauth-protected-resource/api/mcp/v1", "/api/mcp/v1", "mcp:images"),
    ("/.well-known/oauth-protected-resource", "/api/mcp/v1", "mcp:images"),
    ("/.well-known/oauth-protected-resource/api/mcp/v2", "/api/mcp/v2", "mcp:images"),
    ("/.well-known/oauth-protected-resource/api/mcp/legacy", "/api/mcp/legacy", "mcp:photos"),
];

#[tokio::test(flavor = "multi_thread")]
async fn server_metadata_lists_endpoints_and_capabilities() {
    let app = TestApp::start().await;
    let base = &app.base_url;
    for path in SERVER {
        let document = app.fetch(path).await.expect(200).json;
        let expect = json!({
            "issuer": format!("{base}/api"),
            "authorization_endpoint": format!("{base}/api/oauth/authorize"),
            "token_endpoint": format!("{base}/api/oauth/token"),
            "registration_endpoint": format!("{base}/api/oauth/register"),
            "revocation_endpoint": format!("{base}/api/oauth/revoke"),
            "jwks_uri": format!("{base}/api/oauth/jwks"),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            "authorization_response_iss_parameter_supported": true,
        });
        for (name, value) in expect.as_object().unwrap() {
            assert_eq!(&document[name], value, "{path}: {name}");
        }
        let mut scopes: Vec<&str> = document["scopes_supported"]
            .as_array()
            .unwrap()
            .iter()
            .map(|scope| scope.as_str().unwrap())
            .collect();
        scopes.sort_unstable();
        assert_eq!(scopes, ["mcp:images", "mcp:photos"]);
        assert!(document["revocation_endpoint_auth_methods_supported"].is_array());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn resource_metadata_lists_resource_server_and_scope() {
    let app = TestApp::start().await;
    let base = &app.base_url;
    for (path, resource, scope) in RESOURCES {
        let document = app.fetch(path).await.expect(200).json;
        assert_eq!(document["resource"], format!("{base}{resource}"), "{path}");
        assert_eq!(document["authorization_servers"], json!([format!("{base}/api")]), "{path}");
        assert_eq!(document["scopes_supported"], json!([scope]), "{path}");
        assert_eq!(document["bearer_methods_supported"], json!(["header"]), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_also_at_its_path_with_a_trailing_slash() {
    let app = TestApp::start().await;
    for path in SERVER.into_iter().chain(RESOURCES.map(|(path, ..)| path)) {
        let document = app.fetch(path).await.expect(200).json;
        let with_slash = format!("{path}/");
        assert_eq!(app.fetch(&with_slash).await.expect(200).json, document, "{path}");
        app.send(app.request(Method::POST, &with_slash)).await.expect(405);
        app.fetch(&format!("{path}//")).await.expect(404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_allows_any_origin_and_is_cached_for_an_hour() {
    let app = TestApp::builder().public_base_url("https://photos.example.org").start().await;
    for path in SERVER.into_iter().chain(RESOURCES.map(|(path, ..)| path)) {
        for method in [Method::GET, Method::HEAD] {
            let request = app.request(method, path).header("origin", "https://app.example");
            let answer = app.send(request).await.expect(200);
            assert_eq!(answer.header("content-type"), Some("application/json"));
            assert_eq!(answer.header("cache-control"), Some("public, max-age=3600"));
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        }
        let answer = app.send(app.request(Method::POST, path)).await.expect(405);
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
        let preflight = app
            .request(Method::OPTIONS, path)
            .header("origin", "https://app.example")
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "mcp-protocol-version");
        let answer = app.send(preflight).await.expect(200);
        assert_eq!(answer.header("access-control-allow-headers"), Some("mcp-protocol-version"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoofed_host_header_does_not_change_urls() {
    let app = TestApp::builder().public_base_url("https://photos.example.org").start().await;
    for path in SERVER.into_iter().chain(RESOURCES.map(|(path, ..)| path)) {
        let request = app
            .request(Method::GET, path)
            .header("host", "evil.example")
            .header("x-forwarded-host", "evil.example")
            .header("x-forwarded-proto", "http")
            .header("forwarded", "host=evil.example;proto=http");
        let text = app.send(request).await.expect(200).text();
        assert!(text.contains("https://photos.example.org/api"), "{text}");
        assert!(!text.contains("evil"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_no_openid_document() {
    let app = TestApp::start().await;
    for path in [
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/api",
        "/api/.well-known/openid-configuration",
        "/.well-known/oauth-protected-resource/api/mcp/v3",
        "/.well-known/oauth-authorization-server/api/mcp/v1",
    ] {
        app.fetch(path).await.expect(404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_public_keys_are_served() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let tokens = app.tokens(&client, &person).await;
    let (header, _) = super::decoded(&tokens.access);
    let answer = app.fetch("/api/oauth/jwks").await.expect(200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    let keys = answer.json["keys"].as_array().unwrap();
    let key = keys.iter().find(|key| key["kid"] == header["kid"]).unwrap();
    assert_eq!((&key["alg"], &key["use"]), (&header["alg"], &json!("sig")));
    assert!(keys.iter().all(|key| key.get("d").is_none() && key.get("k").is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_domain_is_proven_to_openai() {
    let path = "/.well-known/openai-apps-challenge";
    TestApp::start().await.fetch(path).await.expect(404);
    let app = TestApp::builder().openai_challenge("a-Token_1.2~3").start().await;
    for path in [path.to_owned(), format!("{path}/")] {
        let answer = app.fetch(&path).await.expect(200);
        assert_eq!(
            (answer.text().as_str(), answer.header("content-type")),
            ("a-Token_1.2~3", Some("text/plain"))
        );
        let head = app.send(app.request(Method::HEAD, &path)).await.expect(200);
        assert_eq!((head.body.len(), head.header("content-length")), (0, Some("13")));
    }
    app.send(app.request(Method::POST, path)).await.expect(405);
    app.fetch("/.well-known/openai-apps-challenge/x").await.expect(404);
}
