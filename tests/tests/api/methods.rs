//! Methods: HEAD, OPTIONS, CORS preflights and unknown methods.

use reqwest::Method;
use serde_json::json;
use tests::{SeedImage, TestApp};

/// A base URL that pages of any origin may call.
const PUBLIC: &str = "https://photos.example.org";

#[tokio::test(flavor = "multi_thread")]
async fn head_is_like_get_without_a_body() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let id = app.seed_one(&ann, SeedImage::at("2024-05-01")).await;
    let album = app.post("/albums", &ann.key, &json!({"title": "t"})).await.result()["id"].clone();
    let album = album.as_str().unwrap();
    for path in [
        "/library".to_owned(),
        "/images".to_owned(),
        format!("/images/{id}"),
        "/images/unknown".to_owned(),
        "/images?limit=0".to_owned(),
        "/search?query=x".to_owned(),
        "/albums".to_owned(),
        format!("/albums/{album}"),
        "/nothing".to_owned(),
    ] {
        let got = app.get(&path, &ann.key).await;
        let head = app.send(app.call(Method::HEAD, &path, &ann.key)).await;
        assert_eq!(head.status, got.status, "{path}");
        assert!(head.body.is_empty(), "{path}");
        assert_eq!(head.header("content-type"), got.header("content-type"), "{path}");
        assert_eq!(head.header("content-length"), got.header("content-length"), "{path}");
    }
    for path in ["/healthz", "/readyz", "/account/sync", "/"] {
        let head = app.send(app.request(Method::HEAD, path)).await.expect(200);
        assert!(head.body.is_empty(), "{path}");
    }
    app.send(app.request(Method::HEAD, "/api/ext/v2/images")).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_method_is_405_with_allow() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (path, allow) in [
        ("/library", "GET, HEAD"),
        ("/images", "GET, HEAD"),
        ("/images/x", "GET, HEAD, PATCH, DELETE"),
        ("/search", "GET, HEAD"),
        ("/albums", "GET, HEAD, POST"),
        ("/albums/x", "GET, HEAD, PATCH, DELETE"),
    ] {
        let methods = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE];
        for method in methods {
            if allow.split(", ").any(|served| served == method.as_str()) {
                continue;
            }
            let answer = app.send(app.call(method.clone(), path, &ann.key)).await.expect(405);
            assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
            assert!(!answer.error().is_empty());
        }
    }
    for path in ["/healthz", "/readyz", "/account/sync", "/"] {
        let answer = app.send(app.request(Method::POST, path)).await.expect(405);
        assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_of_any_origin_may_call_without_credentials() {
    let app = TestApp::builder().public_base_url(PUBLIC).start().await;
    let ann = app.account("ann").await;
    let id = app.seed_one(&ann, SeedImage::at("2024-05-01")).await;
    let got = app.get(&format!("/images/{id}"), &ann.key).await;
    let signed = got.result()["url"].as_str().unwrap().strip_prefix(PUBLIC).unwrap().to_owned();
    for (method, path) in [
        (Method::GET, "/api/ext/v2/images"),
        (Method::DELETE, "/api/ext/v2/images/x"),
        (Method::PATCH, "/api/ext/v2/albums/x"),
        (Method::POST, "/api/ext/v2/albums"),
        (Method::GET, signed.as_str()),
    ] {
        let preflight = app
            .request(Method::OPTIONS, path)
            .header("origin", "https://app.example")
            .header("access-control-request-method", method.as_str())
            .header("access-control-request-headers", "authorization,content-type");
        let answer = app.send(preflight).await.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(answer.header("access-control-allow-credentials"), None, "{path}");
        let methods = answer.header("access-control-allow-methods").unwrap();
        assert!(methods.split(',').any(|allowed| allowed == method.as_str()), "{methods}");
        let headers = answer.header("access-control-allow-headers").unwrap().to_ascii_lowercase();
        assert!(headers.contains("authorization") && headers.contains("content-type"), "{headers}");
    }
    for (path, status) in [("/api/ext/v2/images", 401), (signed.as_str(), 200), ("/i/x/webp-full.webp", 403)]
    {
        let answer = app.send(app.request(Method::GET, path).header("origin", "https://app.example")).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(answer.header("access-control-allow-credentials"), None, "{path}");
    }
    // Other origins cannot read the pages for people.
    let page =
        app.send(app.request(Method::GET, "/account/sync").header("origin", "https://app.example")).await;
    assert_eq!(page.header("access-control-allow-origin"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn options_without_a_preflight_is_handled_like_other_methods() {
    let app = TestApp::builder().public_base_url(PUBLIC).start().await;
    let ann = app.account("ann").await;
    let id = app.seed_one(&ann, SeedImage::at("2024-05-01")).await;
    let got = app.get(&format!("/images/{id}"), &ann.key).await;
    let signed = got.result()["url"].as_str().unwrap().strip_prefix(PUBLIC).unwrap();
    for (path, key, status, allow) in [
        ("/api/ext/v2/images", "", 401, None),
        ("/api/ext/v2/images", ann.key.as_str(), 405, Some("GET, HEAD")),
        ("/api/ext/v2/nothing", "", 401, None),
        ("/api/ext/v2/nothing", &ann.key, 404, None),
        ("/api/ext/v2/openapi.json", "", 405, Some("GET, HEAD")),
        ("/api/nothing", "", 404, None),
        ("/i/x/webp-full.webp", "", 403, None),
        (signed, "", 405, Some("GET, HEAD")),
        ("/healthz", "", 405, Some("GET, HEAD")),
    ] {
        // A preflight needs both headers.
        for (name, value) in
            [("x", "y"), ("origin", "https://app.example"), ("access-control-request-method", "GET")]
        {
            let mut request = app.request(Method::OPTIONS, path).header(name, value);
            if !key.is_empty() {
                request = request.bearer_auth(key);
            }
            let answer = app.send(request).await.expect(status);
            assert_eq!(answer.header("allow"), allow, "{path}");
            assert_eq!(answer.header("access-control-allow-methods"), None, "{path}");
            let origin = (path != "/healthz").then_some("*");
            assert_eq!(answer.header("access-control-allow-origin"), origin, "{path}");
        }
    }
}
