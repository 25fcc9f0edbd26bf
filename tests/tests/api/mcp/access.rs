//! Credentials, methods and origins of the MCP endpoints.

use reqwest::{Method, RequestBuilder};
use serde_json::json;
use tests::{SeedImage, TestApp};

use super::{RESOURCES, call, message, payload, request, send};

/// The exact `WWW-Authenticate` header of a 401.
fn challenge(base_url: &str, resource: &str) -> String {
    let scope = if resource.ends_with("legacy") { "mcp:photos" } else { "mcp:images" };
    format!(
        "Bearer scope=\"{scope}\", resource_metadata=\"{base_url}/.well-known/oauth-protected-resource{resource}\""
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_a_valid_token_is_401_with_the_metadata_url() {
    let app = TestApp::builder().public_base_url("https://photos.example.org").start().await;
    let ann = app.account("ann").await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for resource in RESOURCES {
        for authorization in [
            None,
            Some("Bearer wrong".to_owned()),
            Some("Bearer ".to_owned()),
            Some(format!("Basic {}", ann.key)),
            // Only the image API accepts a key without a scheme.
            Some(ann.key.clone()),
        ] {
            let mut request = app.request(Method::POST, resource).json(&ping);
            if let Some(value) = &authorization {
                request = request.header("authorization", value);
            }
            let answer = app.send(request).await.expect(401);
            let expect = challenge("https://photos.example.org", resource);
            assert_eq!(answer.header("www-authenticate"), Some(expect.as_str()), "{authorization:?}");
        }
        send(&app, resource, &ann.key, &ping).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_in_url_body_or_cookie_are_ignored() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "access_token": ann.key});
    let path = format!("/api/mcp/v1?access_token={0}&token={0}&key={0}", ann.key);
    let request =
        app.request(Method::POST, &path).header("cookie", format!("session={}", ann.key)).json(&body);
    app.send(request).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_fails_at_the_next_request() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let other = app.other_process().await;
    for resource in RESOURCES {
        request(&app, resource, &ann.key, "ping", &json!({})).await.expect(200);
    }
    assert!(other.accounts.revoke_key(&ann.email, &domain::KeyName::parse("test").unwrap()).await.unwrap());
    for resource in RESOURCES {
        request(&app, resource, &ann.key, "ping", &json!({})).await.expect(401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_sees_only_its_owners_images() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let id = app.seed_one(&ann, SeedImage::at("2024-05-01")).await;
    for resource in RESOURCES {
        let anns = payload(&call(&app, resource, &ann.key, "list_images", &json!({})).await);
        assert_eq!(anns["results"][0]["id"], id);
        let bens = payload(&call(&app, resource, &ben.key, "list_images", &json!({})).await);
        assert_eq!(bens["results"], json!([]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn get_and_delete_are_405_with_and_without_a_token() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        for method in [Method::GET, Method::DELETE, Method::PUT] {
            for key in [None, Some("wrong"), Some(ann.key.as_str())] {
                let mut request = app.request(method.clone(), resource);
                if let Some(key) = key {
                    request = request.bearer_auth(key);
                }
                let answer = app.send(request).await.expect(405);
                assert_eq!(answer.header("allow"), Some("POST, OPTIONS"), "{method}");
                assert_eq!(answer.json["jsonrpc"], "2.0");
                assert_eq!(answer.json["error"]["code"], -32000);
                assert!(answer.json["id"].is_null());
                // Some clients use GET to find out how to sign in.
                let valid = key == Some(ann.key.as_str());
                let expect = (!valid).then(|| challenge(&app.base_url, resource));
                assert_eq!(answer.header("www-authenticate"), expect.as_deref(), "{method} {key:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trailing_slash_in_a_path_is_ignored() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        let path = format!("{resource}/");
        request(&app, &path, &ann.key, "ping", &json!({})).await.expect(200);
        let expect = challenge(&app.base_url, resource);
        let answer = app.send(app.request(Method::POST, &path)).await.expect(401);
        assert_eq!(answer.header("www-authenticate"), Some(expect.as_str()));
        for method in [Method::GET, Method::DELETE] {
            let answer = app.send(app.request(method, &path)).await.expect(405);
            assert_eq!(answer.json["error"]["code"], -32000);
            assert_eq!(answer.header("www-authenticate"), Some(expect.as_str()));
        }
        app.send(app.request(Method::OPTIONS, &path)).await.expect(204);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loopback_base_url_allows_loopback_names_only() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for (name, value, status) in [
        ("host", "localhost:1234", 200),
        ("host", "[::1]", 200),
        ("host", "evil.example", 403),
        ("host", "localhost.evil.example", 403),
        ("host", "127.0.0.1.evil.example", 403),
        ("origin", "http://localhost:3000", 200),
        ("origin", "http://127.0.0.1", 200),
        ("origin", "https://evil.example", 403),
        ("origin", "http://localhost.evil.example", 403),
        ("origin", "null", 403),
    ] {
        for resource in RESOURCES {
            let request = message(&app, resource, &ann.key, &ping).header(name, value);
            assert_eq!(app.send(request).await.status, status, "{name}: {value}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_base_url_allows_any_origin() {
    let app = TestApp::builder().public_base_url("https://photos.example.org").start().await;
    let ann = app.account("ann").await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let request = message(&app, "/api/mcp/v1", &ann.key, &ping)
        .header("host", "other.example")
        .header("origin", "https://app.example");
    let answer = app.send(request).await.expect(200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn preflights_need_no_token_and_the_challenge_is_exposed() {
    let app = TestApp::start().await;
    let wanted = "authorization, content-type, mcp-protocol-version, mcp-method, mcp-name";
    for resource in RESOURCES {
        let preflight = app
            .request(Method::OPTIONS, resource)
            .header("origin", "http://localhost:3000")
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", wanted);
        let answer = app.send(preflight).await.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        let allowed = answer.header("access-control-allow-headers").unwrap().to_ascii_lowercase();
        assert!(wanted.split(", ").all(|name| allowed.contains(name)), "{allowed}");
        let refused =
            app.send(app.request(Method::POST, resource).header("origin", "http://localhost:3000")).await;
        let exposed =
            refused.expect(401).header("access-control-expose-headers").unwrap().to_ascii_lowercase();
        assert!(exposed.contains("www-authenticate"), "{exposed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unavailable_store_is_503_not_401() {
    let app = TestApp::builder().unmigrated().start().await;
    let answer = request(&app, "/api/mcp/v1", "photos_key", "ping", &json!({})).await.expect(503);
    assert!(answer.header("retry-after").is_some());
    assert_eq!(answer.header("www-authenticate"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_mcp_paths_are_404() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for path in ["/api/mcp", "/api/mcp/", "/api/mcp/v1//", "/api/mcp/v3", "/api/mcp/V1", "/mcp/v1"] {
        request(&app, path, &ann.key, "ping", &json!({})).await.expect(404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_options_request_that_is_no_preflight_is_204_with_allow() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        for key in [None, Some("wrong"), Some(ann.key.as_str())] {
            let request = app.request(Method::OPTIONS, resource).header("origin", "http://localhost:3000");
            let answer =
                app.send(key.into_iter().fold(request, RequestBuilder::bearer_auth)).await.expect(204);
            assert_eq!(answer.header("allow"), Some("POST, OPTIONS"), "{key:?}");
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{key:?}");
            assert!(answer.body.is_empty(), "{key:?}");
        }
    }
    app.send(app.request(Method::OPTIONS, "/api/mcp/v3")).await.expect(404);
}
