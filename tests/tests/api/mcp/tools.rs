//! The tools of each resource.

use serde_json::{Value, json};
use tests::TestApp;

use super::{RESOURCES, request};

/// The tools in order.
const TOOLS: [&str; 11] = [
    "get_info",
    "list_images",
    "search_images",
    "get_image",
    "view_images",
    "show_images",
    "list_albums",
    "create_album",
    "update_album",
    "update_images",
    "undo_changes",
];
/// Those of the legacy resource.
const LEGACY: [&str; 5] = ["get_info", "list_images", "search_images", "get_image", "show_images"];

async fn tools(app: &TestApp, resource: &str, key: &str) -> Vec<Value> {
    let answer = request(app, resource, key, "tools/list", &json!({})).await.expect(200);
    answer.json["result"]["tools"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_resource_lists_its_tools_in_order() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        let tools = tools(&app, resource, &ann.key).await;
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        let expect = if resource == "/api/mcp/legacy" { &LEGACY[..] } else { &TOOLS };
        assert_eq!(names, expect, "{resource}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_has_a_description_schema_and_hints() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        for tool in tools(&app, resource, &ann.key).await {
            let name = tool["name"].as_str().unwrap();
            assert!(tool["description"].as_str().is_some_and(|text| text.len() > 20), "{name}");
            assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
            assert!(tool["annotations"]["title"].is_string(), "{name}");
            let reads = !["create_album", "update_album", "update_images", "undo_changes"].contains(&name);
            assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{name}");
            for hint in ["destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{name} {hint}");
            }
            assert_eq!(tool["outputSchema"].is_object(), resource == "/api/mcp/v2", "{resource} {name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_have_the_names_of_the_image_api() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let circle = ["latitude", "longitude", "radiusMeters"];
    let dates = ["startDate", "endDate"];
    let filters = ["album", "archived", "camera", "favorite", "keyword", "media", "month", "people", "place"];
    let details = ["favorite", "rating", "keywords", "archived", "description", "capturedAt", "utcOffset"];
    let tools = tools(&app, "/api/mcp/v1", &ann.key).await;
    for (name, arguments, required) in [
        ("get_info", vec![], &[][..]),
        ("list_images", [&["limit"][..], &dates, &circle, &filters].concat(), &[]),
        (
            "search_images",
            [&["query", "albumId", "channels", "limit"][..], &dates, &circle, &filters].concat(),
            &[],
        ),
        ("get_image", vec!["id"], &["id"]),
        (
            "show_images",
            [&["imageIds", "query", "albumId", "channels", "limit"][..], &dates, &circle, &filters].concat(),
            &[],
        ),
        ("view_images", vec!["imageIds", "size", "sheet"], &["imageIds"]),
        ("list_albums", vec!["limit", "offset"], &[]),
        ("create_album", vec!["title", "imageIds"], &["title"]),
        ("update_album", vec!["albumId", "title", "addImageIds", "removeImageIds"], &["albumId"]),
        (
            "update_images",
            [&["imageIds", "dryRun", "latitude", "longitude"][..], &details].concat(),
            &["imageIds"],
        ),
        ("undo_changes", vec!["changeId"], &["changeId"]),
    ] {
        let schema = &tools.iter().find(|tool| tool["name"] == name).unwrap()["inputSchema"];
        let mut properties: Vec<&str> = schema["properties"]
            .as_object()
            .map(|properties| properties.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let mut arguments = arguments;
        properties.sort_unstable();
        arguments.sort_unstable();
        assert_eq!(properties, arguments, "{name}");
        let listed: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert_eq!(listed, required, "{name}");
    }
}
