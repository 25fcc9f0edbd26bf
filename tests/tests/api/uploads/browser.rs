use reqwest::{Method, header};
use tests::TestApp;

use super::{BYTES, TUS, begin, head, patch, photo, tus};

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_belongs_to_its_account() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    head(&app, &ben, &path).await.expect(404);
    patch(&app, &ben, &path, 0, &bytes).await.expect(404);
    app.send(tus(&app, &ben, Method::DELETE, &path)).await.expect(404);
    patch(&app, &ann, &path, 0, &bytes).await.expect(204);
    let imported = app.store.known_originals(ben.id, &[blobs::content_hash(&bytes)]).await.unwrap();
    assert_eq!(imported, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_are_401_and_never_a_lock_out() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for _ in 0..12 {
        for authorization in [None, Some("Bearer wrong"), Some("wrong"), Some("Basic YW5uOndyb25n"), Some("")]
        {
            let mut request =
                app.request(Method::POST, "/upload/").header(TUS.0, TUS.1).header("upload-length", 5);
            if let Some(authorization) = authorization {
                request = request.header(header::AUTHORIZATION, authorization);
            }
            let answer = app.send(request).await.expect(401);
            assert!(answer.header("www-authenticate").is_some());
        }
    }
    begin(&app, &ann, 5).await;
    let bare = app.request(Method::POST, "/upload").header(header::AUTHORIZATION, &ann.key);
    app.send(bare.header(TUS.0, TUS.1).header("upload-length", 5)).await.expect(201);
    let basic = app.request(Method::POST, "/upload/").basic_auth(ann.email.as_str(), Some(&ann.key));
    app.send(basic.header(TUS.0, TUS.1).header("upload-length", 5)).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_may_upload_but_other_sites_cannot_use_it() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let browser = app.browser().signed_in(&ann).await;
    let bytes = photo();
    let post = || {
        let request = browser.request(Method::POST, "/upload/").header(TUS.0, TUS.1);
        request.header("upload-length", bytes.len()).header("content-type", BYTES).body(bytes[..100].to_vec())
    };
    for (name, value) in
        [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
    {
        let answer = app.send(post().header(name, value)).await;
        assert_eq!(answer.status, 403, "{name}: {value}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    let begun = app.send(post().header(header::ORIGIN, &app.base_url)).await.expect(201);
    let path = begun.header("location").unwrap().to_owned();
    let foreign =
        browser.request(Method::DELETE, &path).header(TUS.0, TUS.1).header("origin", "https://evil.example");
    app.send(foreign).await.expect(403);
    let state = app.send(browser.request(Method::HEAD, &path).header(TUS.0, TUS.1)).await.expect(200);
    assert_eq!(state.header("upload-offset"), Some("100"));
    let known = browser.request(Method::POST, "/upload/known").json(&serde_json::json!({ "sha256": [] }));
    app.send(known.header("origin", "https://evil.example")).await.expect(403);
    // Browsers never add a key by themselves, so a request with a key needs no origin.
    begin(&app, &ann, 5).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_for_signed_in_people_load_the_upload_from_the_service() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let browser = app.browser().signed_in(&ann).await;
    for path in ["/account/sync", "/account", "/"] {
        let page = browser.open(path).await.expect(200);
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("connect-src 'self';") && !policy.contains("unsafe"), "{policy}");
        let html = page.text();
        let (_, rest) = html.split_once("data-script=\"").unwrap();
        let script = browser.open(rest.split_once('"').unwrap().0).await.expect(200);
        assert!(script.text().contains("Tus-Resumable"), "{path}");
        assert!(script.header("content-type").unwrap().starts_with("text/javascript"));
    }
    let policy = app
        .browser()
        .open("/sign-in")
        .await
        .expect(200)
        .header("content-security-policy")
        .unwrap()
        .to_owned();
    assert!(!policy.contains("script-src") && !policy.contains("connect-src"), "{policy}");
}
