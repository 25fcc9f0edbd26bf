//! Legacy revisions of the protocol.

use serde_json::{Value, json};
use tests::TestApp;

use super::{RESOURCES, message, request, send};

fn initialize(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn initialize_returns_the_requested_or_the_newest_legacy_revision() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        for (requested, answered) in [
            ("2025-03-26", "2025-03-26"),
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2024-11-05", "2025-11-25"),
            ("2099-01-01", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
        ] {
            let answer =
                request(&app, resource, &ann.key, "initialize", &initialize(requested)).await.expect(200);
            let result = &answer.json["result"];
            assert_eq!(result["protocolVersion"], answered, "{requested}");
            assert_eq!(result["capabilities"]["tools"], json!({}));
            assert_eq!(result["serverInfo"]["name"], "photo-library");
            assert!(result["instructions"].is_string());
            assert_eq!(answer.header("mcp-session-id"), None, "no session id");
            assert_eq!(answer.header("content-type"), Some("application/json"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_independent_and_may_name_a_revision() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for (version, status) in [
        (None, 200),
        (Some("2025-03-26"), 200),
        (Some("2025-06-18"), 200),
        (Some("2025-11-25"), 200),
        (Some("2024-01-01"), 400),
        (Some("nonsense"), 400),
    ] {
        let mut request = message(&app, "/api/mcp/v1", &ann.key, &list)
            .header("mcp-session-id", "ignored")
            .header("last-event-id", "ignored");
        if let Some(version) = version {
            request = request.header("mcp-protocol-version", version);
        }
        let answer = app.send(request).await.expect(status);
        assert_eq!(answer.json["error"].is_object(), status == 400, "{version:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ping_returns_an_empty_result() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        for id in [json!(1), json!("one"), json!(-5)] {
            let answer =
                send(&app, resource, &ann.key, &json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).await;
            assert_eq!(answer.expect(200).json, json!({"jsonrpc": "2.0", "id": id, "result": {}}));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_get_202_without_a_body() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for method in ["notifications/initialized", "notifications/cancelled", "notifications/unknown"] {
        for resource in RESOURCES {
            let answer = send(&app, resource, &ann.key, &json!({"jsonrpc": "2.0", "method": method})).await;
            assert!(answer.expect(202).body.is_empty());
        }
    }
    send(&app, "/api/mcp/v1", "wrong", &json!({"jsonrpc": "2.0", "method": "x"})).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn any_accept_header_gets_plain_json() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for accept in ["application/json", "text/event-stream", "*/*", "text/html"] {
        let request = message(&app, "/api/mcp/v1", &ann.key, &ping).header("accept", accept);
        let answer = app.send(request).await.expect(200);
        assert_eq!(answer.header("content-type"), Some("application/json"), "{accept}");
    }
}
