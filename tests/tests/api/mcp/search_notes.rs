//! The note in search results when no vision model is in use.

use std::sync::Arc;

use library::{ModelSource, SharedEncoder};
use serde_json::{Value, json};
use tests::{TestAccount, TestApp};

use super::{RESOURCES, call, payload, request};

/// Where the operator learns how to add a model.
const HOW: &str = "docs/models.md";

/// A source of at most one model, which is then in use. The model itself does not matter, so it is the built-in encoder.
#[derive(Debug)]
struct Models {
    has_one: bool,
    can_run: bool,
}

/// A source with a model.
const ONE_MODEL: Models = Models { has_one: true, can_run: true };

impl ModelSource for Models {
    fn active_model(&self) -> Result<Option<SharedEncoder>, String> {
        Ok(self.has_one.then(|| Arc::new(vision::BuiltInEncoder) as SharedEncoder))
    }

    fn can_run_models(&self) -> bool {
        self.can_run
    }

    fn encoder_by_name(&self, _: &str) -> Option<SharedEncoder> {
        None
    }
}

async fn with_image(app: &TestApp) -> (TestAccount, String, String) {
    let ann = app.account("ann").await;
    let id = app.import_fixtures(&ann, &["media/grey.jpg"]).await["grey.jpg"].clone();
    let album = app.post("/albums", &ann.key, &json!({"title": "t", "imageIds": [id]})).await;
    (ann, id, album.result()["id"].as_str().unwrap().to_owned())
}

/// Calls that search what photos show.
fn visual_searches(album: &str) -> [(&'static str, Value); 6] {
    [
        ("search_images", json!({"query": "lake"})),
        ("search_images", json!({"query": "nothing has this"})),
        ("search_images", json!({"query": "lake", "channels": ["text", "image"]})),
        ("search_images", json!({"query": "lake", "albumId": album})),
        ("show_images", json!({"query": "lake"})),
        ("show_images", json!({"query": "lake", "latitude": 1, "longitude": 1, "radiusMeters": 5})),
    ]
}

fn has_note(payload: &Value) -> bool {
    match payload.get("note") {
        None => false,
        Some(note) => {
            assert!(note.as_str().unwrap().contains(HOW), "{note}");
            true
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visual_search_without_a_model_has_a_note() {
    let app = TestApp::start().await;
    let (ann, _, album) = with_image(&app).await;
    for resource in RESOURCES {
        for (tool, arguments) in visual_searches(&album) {
            let result = call(&app, resource, &ann.key, tool, &arguments).await;
            assert!(has_note(&payload(&result)), "{resource} {tool} {arguments}");
            if let Some(structured) = result.get("structuredContent") {
                assert_eq!(structured["note"], payload(&result)["note"], "{resource} {tool}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_without_a_visual_search_have_no_note() {
    let app = TestApp::start().await;
    let (ann, id, album) = with_image(&app).await;
    for resource in RESOURCES {
        for (tool, arguments) in [
            ("search_images", json!({"query": "lake", "channels": ["text"]})),
            ("search_images", json!({"albumId": album})),
            ("search_images", json!({"latitude": 1, "longitude": 1, "radiusMeters": 5})),
            ("show_images", json!({"imageIds": [id]})),
            ("show_images", json!({"albumId": album})),
            ("list_images", json!({})),
            ("get_image", json!({"id": id})),
        ] {
            let result = call(&app, resource, &ann.key, tool, &arguments).await;
            assert!(!has_note(&payload(&result)), "{resource} {tool} {arguments}");
            assert!(result.get("structuredContent").is_none_or(|structured| !has_note(structured)));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visual_search_with_a_model_has_no_note() {
    let app = TestApp::builder().models(Arc::new(ONE_MODEL)).start().await;
    let (ann, _, album) = with_image(&app).await;
    for resource in RESOURCES {
        for (tool, arguments) in visual_searches(&album) {
            let result = call(&app, resource, &ann.key, tool, &arguments).await;
            assert!(!has_note(&payload(&result)), "{resource} {tool} {arguments}");
        }
        let info = payload(&call(&app, resource, &ann.key, "get_info", &json!({})).await);
        assert!(!info["result"]["help"].as_str().unwrap().contains("model"), "{info}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn get_info_does_not_ask_for_a_model_if_the_model_is_broken() {
    let app = TestApp::builder().broken_model().start().await;
    let (ann, ..) = with_image(&app).await;
    let info = payload(&call(&app, RESOURCES[0], &ann.key, "get_info", &json!({})).await);
    assert!(!info["result"]["help"].as_str().unwrap().contains("model"), "{info}");
}

#[tokio::test(flavor = "multi_thread")]
async fn get_info_says_how_to_add_a_model() {
    let app = TestApp::start().await;
    let (ann, ..) = with_image(&app).await;
    for resource in RESOURCES {
        let info = payload(&call(&app, resource, &ann.key, "get_info", &json!({})).await);
        let help = info["result"]["help"].as_str().unwrap();
        assert!(help.contains("colours, light and words") && help.contains(HOW), "{help}");
        assert_eq!(&info["result"], app.get("/library", &ann.key).await.result());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_schemas_of_search_tools_declare_the_note() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let listed = request(&app, "/api/mcp/v2", &ann.key, "tools/list", &json!({})).await;
    for tool in listed.json["result"]["tools"].as_array().unwrap() {
        let schema = &tool["outputSchema"];
        let searches = ["search_images", "show_images"].contains(&tool["name"].as_str().unwrap());
        let note = &schema["properties"]["note"];
        assert_eq!(note["type"] == "string", searches, "{}", tool["name"]);
        assert!(!schema["required"].as_array().unwrap().contains(&json!("note")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_account_page_says_how_to_add_a_model() {
    for (models, is_advised) in [
        (Models { has_one: false, can_run: true }, true),
        (Models { has_one: false, can_run: false }, false),
        (ONE_MODEL, false),
    ] {
        let has_one = models.has_one;
        let app = TestApp::builder().models(Arc::new(models)).start().await;
        let anna = app.person("anna").await;
        let page = app.browser().signed_in(&anna).await.open("/account").await.expect(200).text();
        assert_eq!(page.contains("no vision model is in use"), !has_one, "{page}");
        assert_eq!(page.contains("server model install ViT-B-32__openai"), is_advised, "{page}");
        assert_eq!(page.contains("<code>server doctor</code>"), !has_one && !is_advised, "{page}");
    }
}
