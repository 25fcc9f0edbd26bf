//! The tool `show_images`.

use serde_json::{Value, json};
use tests::{SeedImage, TestAccount, TestApp};

use super::{RESOURCES, call, failure, payload};

const V1: &str = "/api/mcp/v1";

async fn library() -> (TestApp, TestAccount, Vec<String>) {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let images = SeedImage::series(4)
        .into_iter()
        .map(|image| image.position(1.0, 1.0).description("lake").offset_minutes(-210));
    let ids = app.seed(&ann, images).await;
    (app, ann, ids)
}

fn ids(payload: &Value) -> Vec<&str> {
    payload["results"].as_array().unwrap().iter().map(|image| image["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_are_shown_in_order_without_duplicates() {
    let (app, ann, all) = library().await;
    let wanted = [&all[2], &all[0], &all[2]];
    for resource in RESOURCES {
        // Models sometimes also send a limit, dates and a query. The tool ignores them.
        let arguments = json!({"imageIds": wanted, "limit": 1, "endDate": "1990-01-01", "query": " "});
        let result = call(&app, resource, &ann.key, "show_images", &arguments).await;
        let text = payload(&result);
        assert_eq!(ids(&text), [&all[2], &all[0]]);
        assert_eq!(ids(&result["structuredContent"]), [&all[2], &all[0]]);
        assert_eq!(text["source"], "photo-library");
        assert_eq!(text["pagination"], json!({"total": 2, "offset": 0, "limit": 2}));
        assert_eq!(text["urlsExpireAt"], "2024-06-01T12:15:00.000Z");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn search_results_are_shown() {
    let (app, ann, all) = library().await;
    let album = app.post("/albums", &ann.key, &json!({"title": "t", "imageIds": all[1..3]})).await;
    let album = album.result()["id"].clone();
    for arguments in [
        json!({"query": "lake", "limit": 3}),
        json!({"albumId": album}),
        json!({"latitude": 1, "longitude": 1, "radiusMeters": 10, "limit": 2, "endDate": "2024-05-01T11:59:00Z"}),
        json!({"query": "nothing"}),
    ] {
        for resource in RESOURCES {
            let shown = payload(&call(&app, resource, &ann.key, "show_images", &arguments).await);
            let found = payload(&call(&app, resource, &ann.key, "search_images", &arguments).await);
            assert_eq!(ids(&shown), ids(&found), "{arguments}");
            assert_eq!(shown["pagination"], found["pagination"]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_app_gets_sizes_and_renditions() {
    let (app, ann, all) = library().await;
    for resource in RESOURCES {
        let result = call(&app, resource, &ann.key, "show_images", &json!({"imageIds": all})).await;
        for (image, text) in result["structuredContent"]["results"]
            .as_array()
            .unwrap()
            .iter()
            .zip(payload(&result)["results"].as_array().unwrap())
        {
            assert_eq!((&image["utcOffset"], &text["utcOffset"]), (&json!("-03:30"), &json!("-03:30")));
            assert_eq!((&image["width"], &image["height"]), (&json!(4000), &json!(3000)));
            let renditions = image["renditions"].as_object().unwrap();
            assert!(renditions.keys().eq(["webp-medium", "webp-thumb"]), "{renditions:?}");
            for url in renditions.values().chain([&image["url"]]) {
                app.fetch(url.as_str().unwrap()).await.expect(200);
            }
            // The model cannot see images, so its text has only one URL per image. In v2, the text equals the structured content.
            let lean = resource != "/api/mcp/v2";
            assert_eq!(text["renditions"] == json!({}), lean, "{resource}");
            assert_eq!(text.get("width").is_none(), lean, "{resource}");
            assert_eq!(text["url"], image["url"]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_ids_are_named_and_nothing_is_shown() {
    let (app, ann, all) = library().await;
    let ben = app.account("ben").await;
    let foreign = app.seed_one(&ben, SeedImage::at("2024-05-01")).await;
    app.delete(&format!("/images/{}", all[1]), &ann.key).await.expect(204);
    let result = call(
        &app,
        V1,
        &ann.key,
        "show_images",
        &json!({"imageIds": [all[0], all[1], foreign, "not an id", all[2]]}),
    )
    .await;
    for named in [all[1].as_str(), &foreign, "not an id"] {
        assert!(failure(&result).contains(named), "{named}: {}", failure(&result));
    }
    assert!(!failure(&result).contains(&all[0]));
    // The app repeats the call without these ids.
    assert_eq!(result["_meta"]["photo-library/unknownImageIds"], json!([all[1], foreign, "not an id"]));
    assert!(result.get("structuredContent").is_none(), "it would not match the output schema");
}
