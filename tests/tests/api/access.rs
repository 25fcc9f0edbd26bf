//! Access, and the order of checks.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tests::{SeedImage, TestApp};

/// Every operation of the image and album API.
const OPERATIONS: [(Method, &str); 10] = [
    (Method::GET, "/library"),
    (Method::GET, "/images"),
    (Method::GET, "/images/x"),
    (Method::DELETE, "/images/x"),
    (Method::GET, "/search"),
    (Method::GET, "/albums"),
    (Method::POST, "/albums"),
    (Method::GET, "/albums/x"),
    (Method::PATCH, "/albums/x"),
    (Method::DELETE, "/albums/x"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_accepted_with_and_without_bearer() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for value in [ann.key.clone(), format!("Bearer {}", ann.key), format!("bearer {}", ann.key)] {
        let request = app.request(Method::GET, "/api/ext/v2/images").header("authorization", &value);
        assert_eq!(app.send(request).await.status, 200, "{value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_wrong_or_revoked_key_is_401_with_a_message() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let name = domain::KeyName::parse("lost").unwrap();
    let lost = app.library.accounts.create_key(&ann.email, name.clone()).await.unwrap();
    app.get("/images", &lost).await.expect(200);
    app.library.accounts.revoke_key(&ann.email, &name).await.unwrap();

    let mut wrong = ann.key.clone();
    wrong.pop();
    for authorization in [
        None,
        Some(format!("Bearer {lost}")),
        Some(lost.clone()),
        Some(format!("Bearer {wrong}")),
        Some(format!("Basic {}", ann.key)),
        Some("Bearer ".to_owned()),
        Some(String::new()),
        Some(format!("Bearer {} x", ann.key)),
    ] {
        for (method, path) in OPERATIONS {
            let mut request = app.request(method.clone(), &format!("/api/ext/v2{path}"));
            if let Some(value) = &authorization {
                request = request.header("authorization", value);
            }
            let answer = app.send(request).await.expect(401);
            let body = answer.json.as_object().unwrap();
            assert_eq!(body.keys().collect::<Vec<_>>(), ["message"], "{method} {path}");
            assert!(body["message"].as_str().unwrap().contains("key"));
        }
    }
    app.get("/images", &ann.key).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_the_query_or_in_two_headers_is_ignored() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let in_query = format!("/api/ext/v2/images?key={0}&access_token={0}&authorization={0}", ann.key);
    app.fetch(&in_query).await.expect(401);
    let twice = app.call(Method::GET, "/images", &ann.key).header("authorization", &ann.key);
    app.send(twice).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_a_deleted_account_is_401() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    app.get("/library", &ann.key).await.expect(200);
    app.library.accounts.delete_account(ann.id).await.unwrap();
    app.get("/library", &ann.key).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_photo_sync_every_operation_but_library_info_is_409() {
    let app = TestApp::start().await;
    let ann = app.unsynced_account("ann").await;
    for (method, path) in OPERATIONS {
        let answer = app.send(app.call(method.clone(), path, &ann.key)).await;
        if path == "/library" {
            assert_eq!(answer.status, 200);
            continue;
        }
        assert_eq!(answer.status, 409, "{method} {path}");
        let install_url = format!("{}/account/sync", app.base_url);
        assert!(answer.error().contains(&install_url), "{}", answer.error());
    }
}

/// Which errors a request has, in the order of the checks.
#[derive(Clone, Copy, Debug)]
struct Broken {
    key: bool,
    path: bool,
    method: bool,
    sync: bool,
    length: bool,
    media_type: bool,
    content: bool,
    foreign: bool,
}

const SOUND: Broken = Broken {
    key: false,
    path: false,
    method: false,
    sync: false,
    length: false,
    media_type: false,
    content: false,
    foreign: false,
};

#[tokio::test(flavor = "multi_thread")]
async fn checks_have_a_fixed_order() {
    // The body is declared and never sent, so the request ends after the body timeout.
    let app =
        TestApp::builder().limits(|limits| limits.body_timeout = Duration::from_millis(200)).start().await;
    let (synced, unsynced) = (app.account("ann").await, app.unsynced_account("ben").await);
    let other = app.account("cleo").await;
    let foreign = app.seed_one(&other, SeedImage::at("2024-05-01")).await;
    // Each request has one error and all errors that are checked later.
    let mut broken = Broken {
        key: true,
        path: true,
        method: true,
        sync: true,
        length: true,
        media_type: true,
        content: true,
        foreign: true,
    };
    type Mend = fn(&mut Broken);
    let mends: [(u16, Mend); 8] = [
        (401, |broken| broken.key = false),
        (404, |broken| broken.path = false),
        (405, |broken| broken.method = false),
        (409, |broken| broken.sync = false),
        (413, |broken| broken.length = false),
        (415, |broken| broken.media_type = false),
        (400, |broken| broken.content = false),
        (403, |broken| broken.foreign = false),
    ];
    for (status, mend) in mends {
        let key = if broken.sync { &unsynced.key } else { &synced.key };
        let answer = app.send_raw(request(&broken, key, &foreign)).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{broken:?}: {answer}");
        mend(&mut broken);
    }
    let answer = app.send_raw(request(&SOUND, &synced.key, &foreign)).await;
    assert!(answer.starts_with("HTTP/1.1 404 "), "an unknown id comes last: {answer}");
}

/// A request to create an album. A body that is too long is only declared, not sent.
fn request(broken: &Broken, key: &str, foreign: &str) -> String {
    let key = if broken.key { "wrong" } else { key };
    let path = if broken.path { "/nothing" } else { "/albums" };
    let method = if broken.method { "PUT" } else { "POST" };
    let media_type = if broken.media_type { "text/plain" } else { "application/json" };
    let id = if broken.foreign { foreign } else { "unknown" };
    let title = if broken.content { "" } else { "t" };
    let body = json!({"title": title, "imageIds": ["unknown", id]}).to_string();
    let length = if broken.length { 512_001 } else { body.len() };
    let body = if broken.length { String::new() } else { body };
    format!(
        "{method} /api/ext/v2{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: {key}\r\n\
         Content-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn every_error_but_401_has_only_the_error_field() {
    let app = TestApp::builder().broken_model().start().await;
    let ann = app.account("ann").await;
    for (path, status) in [
        ("/nothing", 404),
        ("", 404),
        ("/", 404),
        ("/images/", 404),
        ("/images/a/b", 404),
        ("/Images", 404),
        ("/images/unknown", 404),
        ("/albums/unknown", 404),
        ("/images?limit=0", 400),
        ("/search?query=x&channels=image", 502),
    ] {
        let answer = app.get(path, &ann.key).await.expect(status);
        assert!(!answer.error().is_empty(), "{path}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
    }
    let outside = app.fetch("/nothing").await.expect(404);
    assert!(!outside.error().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_of_another_account_is_403_and_an_album_404() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let image = app.seed_one(&ann, SeedImage::at("2024-05-01")).await;
    let album = app.post("/albums", &ann.key, &json!({"title": "t"})).await.expect(201);
    let album = album.result()["id"].as_str().unwrap().to_owned();

    app.get(&format!("/images/{image}"), &ben.key).await.expect(403).error();
    app.delete(&format!("/images/{image}"), &ben.key).await.expect(403).error();
    let path = format!("/albums/{album}");
    app.get(&path, &ben.key).await.expect(404).error();
    app.patch(&path, &ben.key, &json!({"title": "mine"})).await.expect(404).error();
    app.delete(&path, &ben.key).await.expect(404).error();
    app.get(&format!("/search?albumId={album}"), &ben.key).await.expect(404).error();
    assert!(app.get("/images", &ben.key).await.ids().is_empty());
    assert!(app.get("/albums", &ben.key).await.ids().is_empty());

    app.get(&format!("/images/{image}"), &ann.key).await.expect(200);
    assert_eq!(app.get(&path, &ann.key).await.result()["title"], "t");
}
