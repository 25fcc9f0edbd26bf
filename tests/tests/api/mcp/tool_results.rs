//! The results of tools.

use serde_json::{Value, json};
use tests::{SeedImage, TestAccount, TestApp};

use super::{RESOURCES, call, payload};

const V1: &str = "/api/mcp/v1";
/// 15 minutes after the start of the mock clock.
const URLS_EXPIRE_AT: &str = "2024-06-01T12:15:00.000Z";

async fn library() -> (TestApp, TestAccount, Vec<String>) {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let images = SeedImage::series(3)
        .into_iter()
        .map(|image| image.position(1.0, 1.0).description("lake").offset_minutes(180));
    let ids = app.seed(&ann, images).await;
    (app, ann, ids)
}

fn members(value: &Value) -> Vec<&str> {
    let mut members: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    members
}

/// The members of an image in a list: those that help a model choose.
fn listed(record: &Value) -> Value {
    let mut listed = record.clone();
    for only_alone in [
        "addedAt",
        "text",
        "cameraMake",
        "cameraModel",
        "width",
        "height",
        "durationMs",
        "videoUrl",
        "labels",
        "people",
    ] {
        listed.as_object_mut().unwrap().remove(only_alone).unwrap();
    }
    listed
}

#[tokio::test(flavor = "multi_thread")]
async fn get_info_works_without_sync() {
    let app = TestApp::start().await;
    let ann = app.unsynced_account("ann").await;
    let info = app.get("/library", &ann.key).await;
    for resource in RESOURCES {
        for arguments in [json!({}), json!(null), json!({"unknown": 1})] {
            let got = payload(&call(&app, resource, &ann.key, "get_info", &arguments).await);
            assert_eq!(got, json!({"source": "photo-library", "result": info.result()}));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_and_searches_return_short_records() {
    let (app, ann, ids) = library().await;
    let album = app.post("/albums", &ann.key, &json!({"title": "t", "imageIds": ids[..2]})).await;
    let album = album.result()["id"].as_str().unwrap();
    for resource in RESOURCES {
        for (tool, arguments, path) in [
            ("list_images", json!({}), "/images".to_owned()),
            ("list_images", json!({"limit": 2}), "/images?limit=2".to_owned()),
            ("list_images", json!({"limit": 2.0, "startDate": ""}), "/images?limit=2".to_owned()),
            (
                "list_images",
                json!({"startDate": "2024-05-01T11:59", "endDate": "2024-05-01T11:59:00Z"}),
                "/images?startDate=2024-05-01T11:59&endDate=2024-05-01T11:59:00Z".to_owned(),
            ),
            (
                "list_images",
                json!({"latitude": 1, "longitude": 1.0, "radiusMeters": 5}),
                "/images?latitude=1&longitude=1&radiusMeters=5".to_owned(),
            ),
            ("search_images", json!({"query": "lake", "limit": 2}), "/search?query=lake&limit=2".to_owned()),
            (
                "search_images",
                json!({"query": "lake", "channels": ["text"]}),
                "/search?query=lake&channels=text".to_owned(),
            ),
            ("search_images", json!({"albumId": album}), format!("/search?albumId={album}")),
            (
                "search_images",
                json!({"latitude": 1, "longitude": 1, "radiusMeters": 5, "limit": null}),
                "/search?latitude=1&longitude=1&radiusMeters=5".to_owned(),
            ),
        ] {
            let got = payload(&call(&app, resource, &ann.key, tool, &arguments).await);
            let noted = tool == "search_images" && arguments == json!({"query": "lake", "limit": 2});
            let note = noted.then_some("note");
            let expect: Vec<_> =
                note.into_iter().chain(["pagination", "results", "source", "urlsExpireAt"]).collect();
            assert_eq!(members(&got), expect, "{arguments}");
            assert_eq!(got["results"][0]["utcOffset"], "+03:00");
            assert_eq!(got["source"], "photo-library");
            assert_eq!(got["urlsExpireAt"], URLS_EXPIRE_AT);
            let expect = app.get(&path, &ann.key).await.expect(200);
            let listed: Vec<_> = expect.results().iter().map(listed).collect();
            assert_eq!(got["results"], json!(listed), "{path}");
            assert_eq!(got["pagination"], expect.json["pagination"], "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn get_image_returns_all_renditions() {
    let (app, ann, ids) = library().await;
    let expect = app.get(&format!("/images/{}", ids[0]), &ann.key).await;
    for resource in RESOURCES {
        let got = payload(&call(&app, resource, &ann.key, "get_image", &json!({"id": ids[0]})).await);
        assert_eq!(members(&got), ["result", "source", "urlsExpireAt"]);
        assert_eq!(&got["result"], expect.result());
        assert_eq!(got["urlsExpireAt"], URLS_EXPIRE_AT);
    }
    let url = expect.result()["url"].as_str().unwrap();
    app.fetch(url).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn album_tools_create_update_and_list_albums() {
    let (app, ann, ids) = library().await;
    for resource in [V1, "/api/mcp/v2"] {
        let before = app.get("/albums", &ann.key).await.json["pagination"]["total"].as_u64().unwrap();
        let made =
            payload(&call(&app, resource, &ann.key, "create_album", &json!({"title": " Trip "})).await);
        assert_eq!(members(&made), ["result", "source"], "no URL, no expiry");
        assert_eq!((&made["result"]["title"], &made["result"]["imageCount"]), (&json!("Trip"), &json!(0)));
        let album = made["result"]["id"].as_str().unwrap();

        let change = json!({"albumId": album, "title": "Tour", "addImageIds": ids, "removeImageIds": []});
        let changed = payload(&call(&app, resource, &ann.key, "update_album", &change).await);
        assert_eq!(members(&changed), ["result", "source", "urlsExpireAt"]);
        assert_eq!(&changed["result"], app.get(&format!("/albums/{album}"), &ann.key).await.result());
        assert_eq!(changed["result"]["imageCount"], 3);

        let listed = payload(&call(&app, resource, &ann.key, "list_albums", &json!({"limit": 1})).await);
        assert_eq!(members(&listed), ["pagination", "results", "source", "urlsExpireAt"]);
        assert_eq!(listed["results"], json!([changed["result"]]));
        assert_eq!(listed["pagination"], json!({"total": before + 1, "offset": 0, "limit": 1}));

        let full = json!({"title": "t", "imageIds": ids[1..]});
        let made = payload(&call(&app, resource, &ann.key, "create_album", &full).await);
        assert_eq!(made["result"]["imageCount"], 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_v2_returns_structured_content_equal_to_the_text() {
    let (app, ann, ids) = library().await;
    for (tool, arguments) in [
        ("get_info", json!({})),
        ("list_images", json!({})),
        ("search_images", json!({"query": "lake"})),
        ("search_images", json!({"query": "nothing"})),
        ("get_image", json!({"id": ids[0]})),
        ("create_album", json!({"title": "t"})),
        ("list_albums", json!({})),
    ] {
        let structured = call(&app, "/api/mcp/v2", &ann.key, tool, &arguments).await;
        assert_eq!(structured["structuredContent"], payload(&structured), "{tool}");
        if tool == "create_album" {
            continue;
        }
        for resource in [V1, "/api/mcp/legacy"] {
            if resource == "/api/mcp/legacy" && tool == "list_albums" {
                continue;
            }
            let plain = call(&app, resource, &ann.key, tool, &arguments).await;
            assert!(plain.get("structuredContent").is_none(), "{resource} {tool}");
        }
    }
}
