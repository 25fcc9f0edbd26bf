//! The page of the photo app.

use serde_json::{Value, json};
use tests::TestApp;

use super::{RESOURCES, modern, request};

const URI: &str = "ui://photo-library/gallery.html";
const TYPE: &str = "text/html;profile=mcp-app";

fn check_hosting(meta: &Value, origin: &str) {
    assert_eq!(meta["ui"]["csp"], json!({"connectDomains": [], "resourceDomains": [origin]}));
    assert_eq!(meta["openai/widgetCSP"], json!({"connect_domains": [], "resource_domains": [origin]}));
    assert!(meta["ui"].get("domain").is_none(), "hosts refuse a domain that is not theirs");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_listed_and_read_in_every_revision() {
    let app = TestApp::builder().public_base_url("https://photos.example.org").start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        for is_modern in [false, true] {
            let answered = async |method: &str, params: Value| {
                let answer = if is_modern {
                    app.send(modern(&app, resource, &ann.key, method, &params)).await
                } else {
                    request(&app, resource, &ann.key, method, &params).await
                };
                answer.expect(200).json["result"].clone()
            };
            let list = answered("resources/list", json!({})).await;
            assert_eq!(list["resources"].as_array().unwrap().len(), 1);
            let listed = &list["resources"][0];
            assert_eq!((&listed["uri"], &listed["mimeType"]), (&json!(URI), &json!(TYPE)));
            check_hosting(&listed["_meta"], "https://photos.example.org");

            let templates = answered("resources/templates/list", json!({})).await;
            assert_eq!(templates["resourceTemplates"], json!([]));

            let read = answered("resources/read", json!({"uri": URI})).await;
            assert_eq!(read["contents"].as_array().unwrap().len(), 1);
            let page = &read["contents"][0];
            assert_eq!((&page["uri"], &page["mimeType"]), (&json!(URI), &json!(TYPE)));
            assert!(page["text"].as_str().unwrap().to_ascii_lowercase().starts_with("<!doctype html>"));
            check_hosting(&page["_meta"], "https://photos.example.org");
            for result in [&list, &templates, &read] {
                assert_eq!(result["resultType"] == "complete", is_modern);
                assert_eq!(result["ttlMs"].is_u64(), is_modern);
                assert_eq!(result["cacheScope"] == "public", is_modern);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_show_images_refers_to_the_page() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        let list = request(&app, resource, &ann.key, "tools/list", &json!({})).await.expect(200);
        for tool in list.json["result"]["tools"].as_array().unwrap() {
            let meta = &tool["_meta"];
            let shows = tool["name"] == "show_images";
            assert_eq!(meta["ui"]["resourceUri"] == URI, shows, "{tool}");
            assert_eq!(meta["openai/outputTemplate"] == URI, shows, "{tool}");
            if shows {
                assert_eq!(meta["ui"]["visibility"], json!(["model", "app"]));
                assert!(meta["openai/toolInvocation/invoking"].is_string());
                assert!(meta["openai/toolInvocation/invoked"].is_string());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_error_code_of_an_unknown_resource_depends_on_the_revision() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for uri in ["ui://photo-library/other.html", "file:///etc/passwd", "", "größe"] {
        for resource in RESOURCES {
            let params = json!({"uri": uri});
            let old = request(&app, resource, &ann.key, "resources/read", &params).await.expect(200);
            let new = app.send(modern(&app, resource, &ann.key, "resources/read", &params)).await.expect(200);
            for (answer, code) in [(old, -32002), (new, -32602)] {
                assert_eq!(answer.json["error"]["code"], code);
                assert_eq!(answer.json["error"]["data"], params);
            }
        }
    }
    let without = request(&app, "/api/mcp/v1", &ann.key, "resources/read", &json!({})).await.expect(200);
    assert_eq!(without.json["error"]["code"], -32602);
}
