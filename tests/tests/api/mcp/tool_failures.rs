//! Failed tool calls: a result with `isError` and a text that a model can act on.

use serde_json::json;
use tests::{SeedImage, TestApp};

use super::{RESOURCES, call, failure};

const V1: &str = "/api/mcp/v1";

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_argument_is_named() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let many: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    for (tool, arguments, named) in [
        ("list_images", json!({"limit": 0}), "limit"),
        ("list_images", json!({"limit": 101}), "limit"),
        ("list_images", json!({"limit": "ten"}), "limit"),
        ("list_images", json!({"limit": 1.5}), "limit"),
        ("list_images", json!({"startDate": "yesterday"}), "startDate"),
        ("list_images", json!({"startDate": "2024-05-02", "endDate": "2024-05-01"}), "startDate"),
        ("list_images", json!({"latitude": 1, "longitude": 1}), "radiusMeters"),
        ("list_images", json!({"latitude": 91, "longitude": 1, "radiusMeters": 1}), "latitude"),
        ("list_images", json!({"latitude": 1, "longitude": 1, "radiusMeters": 0}), "radiusMeters"),
        ("search_images", json!({}), "query"),
        ("search_images", json!({"query": "  "}), "query"),
        ("search_images", json!({"query": 7}), "query"),
        ("search_images", json!({"query": "x".repeat(2001)}), "query"),
        ("search_images", json!({"query": "x", "channels": ["video"]}), "channels"),
        ("search_images", json!({"query": "x", "albumId": "y", "channels": ["text"]}), "channels"),
        ("show_images", json!({}), "imageIds"),
        ("show_images", json!({"imageIds": []}), "imageIds"),
        ("show_images", json!({"imageIds": many}), "imageIds"),
        ("show_images", json!({"imageIds": "x"}), "imageIds"),
        ("show_images", json!({"imageIds": ["x"], "query": "x"}), "imageIds"),
        ("show_images", json!({"imageIds": ["x"], "latitude": 1}), "imageIds"),
        ("show_images", json!({"startDate": "2024-05-01"}), "imageIds"),
        ("show_images", json!({"query": "x", "limit": 101}), "limit"),
        ("show_images", json!({"imageIds": ["x"], "limit": 0}), "limit"),
        ("show_images", json!({"imageIds": ["x"], "startDate": "yesterday"}), "startDate"),
        ("show_images", json!({"latitude": 1}), "longitude"),
        ("view_images", json!({}), "imageIds"),
        ("view_images", json!({"imageIds": []}), "imageIds"),
        ("view_images", json!({"imageIds": many[..17]}), "imageIds"),
        ("view_images", json!({"imageIds": ["x"], "size": "huge"}), "size"),
        ("view_images", json!({"imageIds": ["x"], "sheet": 1}), "sheet"),
        ("get_image", json!({}), "id"),
        ("get_image", json!({"id": 7}), "id"),
        ("list_albums", json!({"offset": 501}), "offset"),
        ("create_album", json!({}), "title"),
        ("create_album", json!({"title": "x".repeat(101)}), "title"),
        ("create_album", json!({"title": "t", "imageIds": many}), "imageIds"),
        ("update_album", json!({"title": "t"}), "albumId"),
        ("update_album", json!({"albumId": "x"}), "title"),
        (
            "update_album",
            json!({"albumId": "x", "addImageIds": ["a"], "removeImageIds": ["a"]}),
            "addImageIds",
        ),
    ] {
        for resource in [V1, "/api/mcp/v2"] {
            let result = call(&app, resource, &ann.key, tool, &arguments).await;
            assert!(failure(&result).contains(named), "{tool} {arguments}: {}", failure(&result));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_image_or_album_is_a_tool_error() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let foreign = app.seed_one(&ben, SeedImage::at("2024-05-01")).await;
    let album = app.post("/albums", &ann.key, &json!({"title": "t"})).await.result()["id"].clone();
    for (tool, arguments) in [
        ("get_image", json!({"id": "unknown"})),
        ("get_image", json!({"id": "not an id"})),
        ("get_image", json!({"id": foreign})),
        ("show_images", json!({"imageIds": ["unknown"]})),
        ("show_images", json!({"imageIds": [foreign]})),
        ("show_images", json!({"albumId": "unknown"})),
        ("search_images", json!({"albumId": "unknown"})),
        ("create_album", json!({"title": "t", "imageIds": ["unknown"]})),
        ("create_album", json!({"title": "t", "imageIds": [foreign]})),
        ("update_album", json!({"albumId": "unknown", "title": "t"})),
        ("update_album", json!({"albumId": album, "addImageIds": [foreign]})),
        ("update_album", json!({"albumId": album, "removeImageIds": ["unknown"]})),
    ] {
        let result = call(&app, V1, &ann.key, tool, &arguments).await;
        assert!(!failure(&result).is_empty(), "{tool} {arguments}");
    }
    assert_eq!(app.get("/albums", &ann.key).await.json["pagination"]["total"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_sync_the_error_names_the_set_up_page() {
    let app = TestApp::start().await;
    let ann = app.unsynced_account("ann").await;
    let install_url = format!("{}/account/sync", app.base_url);
    for resource in RESOURCES {
        for (tool, arguments) in [
            ("list_images", json!({})),
            ("search_images", json!({"query": "x"})),
            ("get_image", json!({"id": "x"})),
            ("show_images", json!({"imageIds": ["x"]})),
        ] {
            let result = call(&app, resource, &ann.key, tool, &arguments).await;
            assert!(failure(&result).contains(&install_url), "{tool}: {}", failure(&result));
        }
    }
    for (tool, arguments) in [
        ("view_images", json!({"imageIds": ["x"]})),
        ("list_albums", json!({})),
        ("create_album", json!({"title": "t"})),
        ("update_album", json!({"albumId": "x", "title": "t"})),
    ] {
        let result = call(&app, V1, &ann.key, tool, &arguments).await;
        assert!(failure(&result).contains(&install_url), "{tool}: {}", failure(&result));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unavailable_search_is_a_tool_error_with_an_alternative() {
    let app = TestApp::builder().broken_model().start().await;
    let ann = app.account("ann").await;
    let result =
        call(&app, V1, &ann.key, "search_images", &json!({"query": "x", "channels": ["image"]})).await;
    assert!(failure(&result).contains("channels"), "{}", failure(&result));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_value_is_quoted() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (tool, arguments, said) in [
        ("list_images", json!({"limit": 0}), "limit: must lie between 1 and 100; you sent 0"),
        ("list_images", json!({"startDate": "yesterday"}), "; you sent \"yesterday\""),
        ("search_images", json!({"query": "x".repeat(2001)}), "query: must have 1 to 2000 characters. "),
        ("search_images", json!({}), "query: is missing; give it, or albumId, or a full circle. "),
    ] {
        let result = call(&app, V1, &ann.key, tool, &arguments).await;
        assert!(failure(&result).contains(said), "{}", failure(&result));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn user_messages_name_no_argument_id_or_tool() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let unsynced = app.unsynced_account("eve").await;
    let foreign = app.seed_one(&ben, SeedImage::at("2024-05-01")).await;
    for (account, tool, arguments) in [
        (&ann, "show_images", json!({"limit": 0})),
        (&ann, "show_images", json!({"imageIds": "x"})),
        (&ann, "show_images", json!({"imageIds": ["unknown", foreign]})),
        (&ann, "show_images", json!({"albumId": "unknown"})),
        (&ann, "get_image", json!({"id": "unknown"})),
        (&ann, "get_image", json!({"id": foreign})),
        (&ann, "create_album", json!({"title": "t", "imageIds": ["unknown"]})),
        (&ann, "create_album", json!({"title": "t", "imageIds": [foreign]})),
        (&ann, "update_album", json!({"albumId": "unknown", "title": "t"})),
        (&unsynced, "show_images", json!({"query": "x"})),
    ] {
        let result = call(&app, V1, &account.key, tool, &arguments).await;
        assert!(!failure(&result).is_empty());
        let message = result["_meta"]["photo-library/userMessage"].as_str().unwrap();
        assert!(message.ends_with('.'), "{message}");
        for word in ["image", "Id", "argument", "tool", "call", "unknown", "limit", &foreign] {
            assert!(!message.contains(word), "{tool} {arguments}: {message}");
        }
    }
}
