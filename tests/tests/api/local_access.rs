//! A service on a loopback address, and web pages that attack it by DNS rebinding.

use reqwest::{Method, RequestBuilder};
use tests::{SeedImage, TestApp};

const PATHS: [&str; 11] = [
    "/",
    "/healthz",
    "/readyz",
    "/sign-in",
    "/setup?token=x",
    "/account",
    "/account/sync",
    "/api/oauth/authorize",
    "/api/oauth/jwks",
    "/api/ext/v2/openapi.json",
    "/nothing",
];

fn get(app: &TestApp, path: &str) -> RequestBuilder {
    app.request(Method::GET, path)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_path_accepts_loopback_names_only() {
    let app = TestApp::start().await;
    for path in PATHS {
        for (name, value) in [
            ("host", "evil.example"),
            ("host", "localhost.evil.example"),
            ("host", "192.168.0.7:8080"),
            ("origin", "https://evil.example"),
            ("origin", "null"),
        ] {
            let answer = app.send(get(&app, path).header(name, value)).await.expect(403);
            assert!(!answer.error().is_empty(), "{path} {name}: {value}");
            assert_eq!(answer.header("access-control-allow-origin"), None, "{path} {name}: {value}");
        }
        for (name, value) in
            [("host", "localhost:1234"), ("host", "[::1]"), ("origin", "http://localhost:3000")]
        {
            let answer = app.send(get(&app, path).header(name, value)).await;
            assert_ne!(answer.status, 403, "{path} {name}: {value}");
        }
        let preflight = app
            .request(Method::OPTIONS, path)
            .header("origin", "https://evil.example")
            .header("access-control-request-method", "GET");
        app.send(preflight).await.expect(403);
    }
}

/// The discovery documents hold no data.
#[tokio::test(flavor = "multi_thread")]
async fn discovery_documents_allow_any_origin_and_loopback_hosts_only() {
    let app = TestApp::start().await;
    for path in [
        "/.well-known/oauth-authorization-server/api",
        "/.well-known/oauth-authorization-server",
        "/api/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource/api/mcp/v1",
        "/.well-known/oauth-protected-resource/api/mcp/v2",
        "/.well-known/oauth-protected-resource/api/mcp/legacy",
        "/.well-known/oauth-protected-resource",
    ] {
        for origin in ["https://evil.example", "null", "http://localhost:3000", "app://x"] {
            for method in [Method::GET, Method::HEAD] {
                let answer = app.send(app.request(method, path).header("origin", origin)).await.expect(200);
                assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path} {origin}");
                assert_eq!(answer.header("cache-control"), Some("public, max-age=3600"), "{path} {origin}");
            }
            let preflight = app
                .request(Method::OPTIONS, path)
                .header("origin", origin)
                .header("access-control-request-method", "GET")
                .header("access-control-request-headers", "mcp-protocol-version");
            let answer = app.send(preflight).await.expect(200);
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path} {origin}");
        }
        for (name, value) in [("origin", "https://evil.example"), ("accept", "*/*")] {
            let request = get(&app, path).header("host", "evil.example").header(name, value);
            let answer = app.send(request).await.expect(403);
            assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
        }
    }
}

/// Browsers load the images of a sandboxed frame, such as the photo app's, with `Origin: null`.
#[tokio::test(flavor = "multi_thread")]
async fn a_sandboxed_frame_loads_signed_images() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(1)).await;
    let image = app.get(&format!("/images/{}", ids[0]), &ann.key).await.expect(200);
    let url = image.result()["renditions"]["webp-thumb"].as_str().unwrap().to_owned();
    let path = url.strip_prefix(&app.base_url).unwrap();
    app.send(get(&app, path).header("origin", "null")).await.expect(200);
    app.send(get(&app, path).header("origin", "https://evil.example")).await.expect(403);
    app.send(get(&app, path).header("host", "evil.example").header("origin", "null")).await.expect(403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_at_another_address_gets_a_page_with_cause_and_advice() {
    let app = TestApp::start().await;
    let opened = |host: &'static str| {
        get(&app, "/sign-in")
            .header("host", host)
            .header("accept", "text/html,application/xhtml+xml,*/*;q=0.8")
    };
    let page = app.send(opened("192.168.0.7:8080")).await.expect(403);
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    let text = page.text();
    for words in [&format!("href=\"{}\"", app.base_url), "--base-url http://192.168.0.7:8080", "--listen"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(page.header("set-cookie"), None);
    // The host name may come from an attacker, so the page does not repeat it.
    let text = app.send(opened("evil.example")).await.expect(403).text();
    assert!(!text.contains("evil.example") && text.contains("--base-url http://ADDRESS:PORT"), "{text}");
    assert!(text.contains("Behind a reverse proxy, start it with --base-url"), "{text}");
    // A reverse proxy may send the loopback address as the host. Other devices cannot use it, so the page does not name it.
    for host in ["127.0.0.1:8080", "[::1]:8080"] {
        let request = opened(host).header("origin", "https://photos.example.org");
        let text = app.send(request).await.expect(403).text();
        assert!(!text.contains(host) && text.contains("--base-url http://ADDRESS:PORT"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_service_accepts_every_name() {
    let app = TestApp::builder().public_base_url("https://photos.example.org").start().await;
    for path in ["/healthz", "/sign-in", "/api/ext/v2/openapi.json"] {
        let request = get(&app, path).header("host", "other.example").header("origin", "https://app.example");
        app.send(request).await.expect(200);
    }
}
