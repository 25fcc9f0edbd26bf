//! Revision 2026-07-28: every request has metadata in its body and repeats it in its headers.

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tests::{SeedImage, TestAccount, TestApp};

use super::{RESOURCES, message, modern, payload};

const V1: &str = "/api/mcp/v1";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

async fn start() -> (TestApp, TestAccount) {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    (app, ann)
}

/// The status and the error code of a response.
async fn refused(app: &TestApp, request: RequestBuilder) -> (u16, Value) {
    let answer = app.send(request).await;
    assert!(answer.json.get("result").is_none(), "{}", answer.json);
    (answer.status, answer.json["error"]["code"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn discovery_describes_the_server() {
    let (app, ann) = start().await;
    for resource in RESOURCES {
        let answer =
            app.send(modern(&app, resource, &ann.key, "server/discover", &json!({}))).await.expect(200);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("mcp-session-id"), None);
        let result = &answer.json["result"];
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["supportedVersions"], json!(["2026-07-28"]), "only revisions without sessions");
        assert_eq!(result["capabilities"], json!({"tools": {}, "prompts": {}, "resources": {}}));
        assert_eq!(
            result["instructions"].as_str().unwrap().contains("create_album"),
            !resource.ends_with("legacy")
        );
        assert!(result["ttlMs"].is_u64());
        assert_eq!(result["cacheScope"], "public");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "photo-library");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_revisions_list_the_same_tools_and_only_modern_lists_have_a_ttl() {
    let (app, ann) = start().await;
    for resource in RESOURCES {
        let old = super::request(&app, resource, &ann.key, "tools/list", &json!({})).await.expect(200);
        let new = app.send(modern(&app, resource, &ann.key, "tools/list", &json!({}))).await.expect(200);
        let (old, new) = (&old.json["result"], &new.json["result"]);
        assert_eq!(old["tools"], new["tools"]);
        let members: Vec<_> = old.as_object().unwrap().keys().collect();
        assert_eq!(members, ["tools"], "no other members before 2026-07-28");
        assert_eq!(new["resultType"], "complete");
        assert!(new["ttlMs"].is_u64() && new["cacheScope"] == "public");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_result_is_complete_and_names_the_server() {
    let (app, ann) = start().await;
    let id = app.seed_one(&ann, SeedImage::at("2024-05-01")).await;
    for (tool, arguments) in [
        ("get_info", json!({})),
        ("get_image", json!({"id": id})),
        ("show_images", json!({"imageIds": [id]})),
        ("create_album", json!({"title": "t"})),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = app.send(modern(&app, V1, &ann.key, "tools/call", &params)).await.expect(200);
        let result = &answer.json["result"];
        assert_eq!(result["resultType"], "complete");
        assert!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"].is_string());
        assert_eq!(payload(result)["source"], "photo-library");
    }
    let params = json!({"name": "get_image", "arguments": {"id": "unknown"}});
    let failed = app.send(modern(&app, V1, &ann.key, "tools/call", &params)).await.expect(200);
    assert_eq!(
        (&failed.json["result"]["isError"], &failed.json["result"]["resultType"]),
        (&json!(true), &json!("complete"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_must_match_the_body() {
    let (app, ann) = start().await;
    let meta = json!({VERSION: "2026-07-28", CAPABILITIES: {}});
    let list = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": meta}});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"_meta": meta, "name": "get_info"}});
    let read = json!({"jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": {"_meta": meta, "uri": "a:b"}});
    let (version, name) = ("mcp-protocol-version", "mcp-name");
    let now = (version, "2026-07-28");
    for (body, headers) in [
        (&list, &[][..]),
        (&list, &[now]),
        (&list, &[("mcp-method", "tools/list")]),
        (&list, &[(version, "2025-11-25"), ("mcp-method", "tools/list")]),
        (&list, &[now, ("mcp-method", "tools/call")]),
        (&list, &[now, ("mcp-method", "Tools/List")]),
        (&list, &[now, now, ("mcp-method", "tools/list")]),
        (&call, &[now, ("mcp-method", "tools/call")]),
        (&call, &[now, ("mcp-method", "tools/call"), (name, "get_image")]),
        (&call, &[now, ("mcp-method", "tools/call"), (name, "=?base64?Z2V0X2luZm8?=")]),
        (&read, &[now, ("mcp-method", "resources/read")]),
        (&read, &[now, ("mcp-method", "resources/read"), (name, "a:c")]),
    ] {
        let mut request = message(&app, V1, &ann.key, body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        assert_eq!(refused(&app, request).await, (400, json!(-32020)), "{body} {headers:?}");
    }
    for name in ["get_info", "  get_info ", "=?base64?Z2V0X2luZm8=?="] {
        let request = message(&app, V1, &ann.key, &call)
            .header(version, "2026-07-28")
            .header("MCP-METHOD", "tools/call")
            .header("mcp-name", name);
        assert!(app.send(request).await.expect(200).json["result"].is_object(), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_needs_a_revision_and_client_capabilities() {
    let (app, ann) = start().await;
    for (header, meta, code) in [
        ("2026-07-28", json!({}), -32602),
        ("2026-07-28", json!({CAPABILITIES: {}}), -32602),
        ("2026-07-28", json!({VERSION: "2026-07-28"}), -32602),
        ("2026-07-28", json!({VERSION: "2026-07-28", CAPABILITIES: []}), -32602),
        ("2026-07-28", json!({VERSION: 7, CAPABILITIES: {}}), -32602),
        ("2099-01-01", json!({VERSION: "2099-01-01", CAPABILITIES: {}}), -32022),
        ("2025-11-25", json!({VERSION: "2025-11-25", CAPABILITIES: {}}), -32022),
        ("2026-07-28", json!({VERSION: "2099-01-01", CAPABILITIES: {}}), -32020),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": meta}});
        let request = message(&app, V1, &ann.key, &body)
            .header("mcp-protocol-version", header)
            .header("mcp-method", "tools/list");
        let answer = app.send(request).await.expect(400);
        assert_eq!(answer.json["error"]["code"], code, "{header} {meta}");
        assert_eq!(answer.json["id"], 7);
        if code == -32022 {
            let data = json!({"supported": ["2026-07-28"], "requested": header});
            assert_eq!(answer.json["error"]["data"], data);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_methods_and_those_of_legacy_revisions_are_404() {
    let (app, ann) = start().await;
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "subscriptions/listen",
        "resources/subscribe",
        "completion/complete",
        "unknown/method",
        "",
    ] {
        for resource in RESOURCES {
            let request = modern(&app, resource, &ann.key, method, &json!({}));
            assert_eq!(refused(&app, request).await, (404, json!(-32601)), "{method}");
        }
    }
    let answer = super::request(&app, V1, &ann.key, "server/discover", &json!({})).await.expect(200);
    assert_eq!(answer.json["error"]["code"], -32601, "it came with 2026-07-28");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_a_call_are_sent_with_200() {
    let (app, ann) = start().await;
    for (method, params) in [
        ("tools/call", json!({"name": "delete_everything"})),
        ("tools/call", json!({"name": "get_info", "arguments": "x"})),
        ("tools/list", json!({"cursor": "x"})),
        ("resources/list", json!({"cursor": "x"})),
    ] {
        let request = modern(&app, V1, &ann.key, method, &params);
        assert_eq!(refused(&app, request).await, (200, json!(-32602)), "{method} {params}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_is_202_unless_its_headers_contradict_its_body() {
    let (app, ann) = start().await;
    let (version, method) = ("mcp-protocol-version", "mcp-method");
    let (now, cancelled) = ((version, "2026-07-28"), (method, "notifications/cancelled"));
    let plain = json!({"requestId": 1});
    let described = json!({"requestId": 1, "_meta": {VERSION: "2026-07-28"}});
    let unfinished = json!({"requestId": 1, "_meta": {}});
    for (params, headers) in [
        (&plain, &[][..]),
        (&plain, &[now]),
        (&plain, &[now, cancelled]),
        (&plain, &[(version, "2025-11-25")]),
        (&plain, &[(version, "2099-01-01")]),
        (&unfinished, &[now]),
        (&described, &[]),
        (&described, &[now]),
        (&described, &[cancelled]),
        (&described, &[now, cancelled]),
    ] {
        for resource in RESOURCES {
            let body = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            let request = message(&app, resource, &ann.key, &body);
            let request =
                headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            let taken = app.send(request).await;
            assert_eq!(taken.status, 202, "{params} {headers:?}: {}", taken.json);
            assert!(taken.body.is_empty(), "{params} {headers:?}");
        }
    }
    for (params, headers) in [
        (&plain, &[now, (method, "notifications/initialized")][..]),
        (&described, &[(version, "2025-11-25")]),
        (&described, &[(method, "tools/call")]),
        (&described, &[now, now]),
    ] {
        let body = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        let request = message(&app, V1, &ann.key, &body);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        assert_eq!(refused(&app, request).await, (400, json!(-32020)), "{params} {headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn initialize_with_a_modern_header_needs_request_metadata() {
    let (app, ann) = start().await;
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params});
    let initialize = || message(&app, V1, &ann.key, &body);
    let request = initialize().header("mcp-protocol-version", "2026-07-28");
    assert_eq!(refused(&app, request).await, (400, json!(-32602)));
    // Without the header, or with a legacy revision in the header, the request is a legacy `initialize`.
    for request in [initialize(), initialize().header("mcp-protocol-version", "2025-11-25")] {
        assert_eq!(app.send(request).await.expect(200).json["result"]["protocolVersion"], "2025-11-25");
    }
}
