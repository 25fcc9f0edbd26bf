//! A library that moves to other stores: credentials, ids and URLs of clients stay valid, and the old stores are no longer changed.

use reqwest::Method;
use serde_json::json;
use tests::{SeedImage, Stack, TestApp, oauth::Tokens};

#[tokio::test(flavor = "multi_thread")]
async fn credentials_ids_and_urls_of_clients_stay_valid_in_the_new_stores() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let ids = app.seed(&ann, SeedImage::series(12)).await;
    let client = app.public_client().await;
    let mut tokens = app.tokens(&client, &ann).await;
    let browser = app.browser().signed_in(&ann).await;
    let list = app.get("/images", &ann.key).await.expect(200);
    let urls: Vec<String> =
        list.results().iter().map(|image| image["url"].as_str().unwrap().to_owned()).collect();
    let path = |url: &str| url.strip_prefix(&app.service_url).unwrap().to_owned();
    let etag = app.fetch(&path(&urls[0])).await.expect(200).header("etag").unwrap().to_owned();

    // To the other kind of stores, and back.
    let there = app.moved_to(Stack::PostgresS3).await;
    let back = there.moved_to(Stack::Embedded).await;
    for moved in [&there, &back] {
        let mut found = moved.walk_images(&ann.key, 5).await;
        let mut expected = ids.clone();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        for url in &urls {
            moved.fetch(&path(url)).await.expect(200);
        }
        let cached = moved.request(Method::GET, &path(&urls[0])).header("if-none-match", &etag);
        moved.send(cached).await.expect(304);
        moved.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);
        browser.moved_to(moved).open("/account").await.expect(200);
    }
    tokens = Tokens::read(&back.refresh(&client, &tokens.refresh).await.expect(200));
    back.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);
    back.fetch("/readyz").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_service_whose_library_moved_changes_nothing_and_is_not_ready() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    app.seed(&ann, SeedImage::series(2)).await;
    let client = app.public_client().await;
    let tokens = app.tokens(&client, &ann).await;
    app.fetch("/readyz").await.expect(200);
    let moved = app.moved_to(Stack::Embedded).await;
    let answer = app.fetch("/readyz").await.expect(503);
    assert!(answer.json["reason"].as_str().unwrap().contains("moved"), "{}", answer.json);
    for service in [&app, &moved] {
        service.get("/images", &ann.key).await.expect(200);
    }
    let album = json!({ "title": "Summer" });
    app.post("/albums", &ann.key, &album).await.expect(503);
    assert_eq!(app.refresh(&client, &tokens.refresh).await.status, 503, "the token is not spent");
    moved.post("/albums", &ann.key, &album).await.expect(201);
    Tokens::read(&moved.refresh(&client, &tokens.refresh).await.expect(200));
}
