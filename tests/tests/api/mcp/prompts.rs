//! The prompts, in every revision.

use serde_json::{Value, json};
use tests::TestApp;

use super::{RESOURCES, message, modern, request};

const REVISIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

/// The results of a request in every revision, the newest last.
async fn in_all_revisions(
    app: &TestApp,
    resource: &str,
    key: &str,
    method: &str,
    params: &Value,
) -> Vec<Value> {
    let mut results = Vec::new();
    for revision in REVISIONS {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let request = message(app, resource, key, &body).header("mcp-protocol-version", revision);
        results.push(app.send(request).await.expect(200).json["result"].clone());
    }
    let answer = app.send(modern(app, resource, key, method, params)).await.expect(200);
    results.push(answer.json["result"].clone());
    results
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_are_listed_in_every_revision() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        let opening = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let opened = request(&app, resource, &ann.key, "initialize", &opening).await;
        assert_eq!(opened.json["result"]["capabilities"]["prompts"], json!({}));
        let lists = in_all_revisions(&app, resource, &ann.key, "prompts/list", &json!({})).await;
        let (newest, older) = lists.split_last().unwrap();
        for list in older {
            assert_eq!(*list, json!({"prompts": newest["prompts"]}), "no other members before 2026-07-28");
        }
        assert_eq!((&newest["resultType"], &newest["cacheScope"]), (&json!("complete"), &json!("public")));
        assert!(newest["ttlMs"].is_u64());
        assert!(newest["_meta"]["io.modelcontextprotocol/serverInfo"].is_object());
        let prompts = newest["prompts"].as_array().unwrap();
        assert_eq!(prompts[0]["name"], "find_photo");
        assert_eq!(prompts[0]["arguments"][0]["name"], "what");
        assert_eq!(prompts[0]["arguments"][0]["required"], true);
        assert_eq!(prompts.len(), if resource == "/api/mcp/legacy" { 1 } else { 4 });
        for prompt in prompts {
            assert!(prompt["title"].is_string() && prompt["description"].is_string(), "{prompt}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_one_message_of_the_user() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (resource, name, arguments, contained) in [
        ("/api/mcp/v1", "find_photo", json!({"what": "a red boat"}), "a red boat"),
        ("/api/mcp/legacy", "find_photo", json!({"what": "a red boat"}), "a red boat"),
        ("/api/mcp/v2", "make_trip_album", json!({"place": "Lisbon", "month": "2024-06"}), "Lisbon, 2024-06"),
        // The mock clock starts in June.
        ("/api/mcp/v1", "tidy_last_month", json!({}), "May 2024"),
        ("/api/mcp/v1", "describe_photos", json!({"language": "Greek"}), "in Greek"),
    ] {
        let params = json!({"name": name, "arguments": arguments});
        let results = in_all_revisions(&app, resource, &ann.key, "prompts/get", &params).await;
        let (newest, older) = results.split_last().unwrap();
        for result in older {
            assert_eq!(*result, json!({"messages": newest["messages"]}));
        }
        assert_eq!(newest["resultType"], "complete");
        let [message] = &newest["messages"].as_array().unwrap()[..] else { panic!("{newest}") };
        assert_eq!((&message["role"], &message["content"]["type"]), (&json!("user"), &json!("text")));
        let text = message["content"]["text"].as_str().unwrap();
        assert!(text.contains(contained), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_prompts_and_missing_arguments_are_invalid_params() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (resource, params, message) in [
        ("/api/mcp/v1", json!({"name": "unknown"}), "unknown prompt: unknown"),
        ("/api/mcp/legacy", json!({"name": "tidy_last_month"}), "unknown prompt: tidy_last_month"),
        ("/api/mcp/v1", json!({"name": "find_photo"}), "arguments.what: is required"),
        (
            "/api/mcp/v1",
            json!({"name": "find_photo", "arguments": {"what": " "}}),
            "arguments.what: is required",
        ),
        ("/api/mcp/v2", json!({"name": "make_trip_album", "arguments": {}}), "arguments.place: is required"),
    ] {
        let old = request(&app, resource, &ann.key, "prompts/get", &params).await.expect(200);
        let new = app.send(modern(&app, resource, &ann.key, "prompts/get", &params)).await.expect(200);
        for answer in [old, new] {
            assert_eq!(answer.json["error"]["code"], -32602, "{params}");
            assert_eq!(answer.json["error"]["message"], message);
        }
    }
    let list = request(&app, "/api/mcp/v1", &ann.key, "prompts/list", &json!({"cursor": "x"})).await;
    assert_eq!(list.json["error"]["code"], -32602);
}
