//! Snapshots of each tool's description and responses, for each resource and era.

use serde_json::{Value, json};
use tests::{SeedImage, TestAccount, TestApp, TestResponse, redacted};

use super::{RESOURCES, modern, request};

const ERAS: [&str; 2] = ["legacy_era", "modern_era"];

/// For each tool, a call that succeeds and one that fails.
fn calls(image: &str, album: &str) -> [(&'static str, Value, Value); 9] {
    [
        ("get_info", json!({}), json!(null)),
        ("list_images", json!({"limit": 1}), json!({"limit": 0})),
        ("search_images", json!({"query": "tower"}), json!({})),
        ("get_image", json!({"id": image}), json!({"id": "unknown"})),
        ("view_images", json!({"imageIds": [image]}), json!({"imageIds": ["unknown"]})),
        ("show_images", json!({"imageIds": [image]}), json!({"imageIds": ["unknown"]})),
        ("list_albums", json!({}), json!({"offset": 501})),
        ("create_album", json!({"title": "Paris", "imageIds": [image]}), json!({"title": ""})),
        ("update_album", json!({"albumId": album, "title": "Tour"}), json!({"albumId": album})),
    ]
}

struct Requester<'a> {
    app: &'a TestApp,
    account: &'a TestAccount,
    resource: &'a str,
    era: &'a str,
}

impl Requester<'_> {
    async fn request_json(&self, method: &str, params: &Value) -> Value {
        let Self { app, account, resource, era } = self;
        let answer: TestResponse = if *era == "modern_era" {
            app.send(modern(app, resource, &account.key, method, params)).await
        } else {
            request(app, resource, &account.key, method, params).await
        };
        json!({"status": answer.status, "body": with_parsed_text(answer.json)})
    }
}

/// Replaces a text that contains JSON by the JSON.
fn with_parsed_text(mut body: Value) -> Value {
    if let Some(text) = body.pointer_mut("/result/content/0/text")
        && let Some(payload) = text.as_str().and_then(|text| serde_json::from_str(text).ok())
    {
        *text = payload;
    }
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_matches_its_snapshot() {
    for resource in RESOURCES {
        for era in ERAS {
            let app = TestApp::start().await;
            let ann = app.account("ann").await;
            let image = SeedImage::at("2023-07-04T18:03:22.125Z")
                .position(48.858_37, 2.294_48)
                .place("Paris, France")
                .description("The tower at dusk")
                .file_name("DSCF0001.JPG");
            let image = app.seed_one(&ann, image).await;
            let album =
                app.post("/albums", &ann.key, &json!({"title": "Empty"})).await.result()["id"].clone();
            let album = album.as_str().unwrap();
            let names = [(app.base_url.as_str(), "[base_url]"), (&image, "[image]"), (album, "[album]")];
            let requester = Requester { app: &app, account: &ann, resource, era };
            let short = resource.trim_start_matches("/api/mcp/");

            let list = requester.request_json("tools/list", &json!({})).await;
            let mut opened = redacted(list.clone(), &names);
            opened["body"]["result"]["tools"] = json!("[each stands with its answers]");
            insta::assert_json_snapshot!(format!("{short}_{era}_tools"), opened);
            for (tool, works, fails) in calls(&image, album) {
                let listed = list["body"]["result"]["tools"].as_array().unwrap();
                let Some(listed) = listed.iter().find(|listed| listed["name"] == tool) else { continue };
                let call = async |arguments: &Value| {
                    requester.request_json("tools/call", &json!({"name": tool, "arguments": arguments})).await
                };
                let mut success = call(&works).await;
                if tool == "create_album" {
                    success["body"]["result"]["content"][0]["text"]["result"]["id"] = json!("[new album]");
                    if let Some(id) = success.pointer_mut("/body/result/structuredContent/result/id") {
                        *id = json!("[new album]");
                    }
                }
                if let Some(jpeg) = success.pointer_mut("/body/result/content/1/data") {
                    *jpeg = json!("[JPEG]");
                }
                let failure = if fails.is_null() { Value::Null } else { call(&fails).await };
                let whole = json!({"listed": listed, "success": success, "failure": failure});
                insta::assert_json_snapshot!(format!("{short}_{era}_{tool}"), redacted(whole, &names));
            }
            let mut read = requester
                .request_json("resources/read", &json!({"uri": "ui://photo-library/gallery.html"}))
                .await;
            read["body"]["result"]["contents"][0]["text"] = json!("[the page]");
            let missing =
                requester.request_json("resources/read", &json!({"uri": "ui://photo-library/none"})).await;
            let listed = requester.request_json("resources/list", &json!({})).await;
            let whole = json!({"listed": listed, "success": read, "failure": missing});
            insta::assert_json_snapshot!(format!("{short}_{era}_resources"), redacted(whole, &names));
        }
    }
}
