//! Malformed messages and unknown methods.

use reqwest::Method;
use serde_json::{Value, json};
use tests::{TestAccount, TestApp, TestResponse};

use super::{RESOURCES, message, request, send};

async fn send_text(app: &TestApp, account: &TestAccount, text: impl Into<reqwest::Body>) -> TestResponse {
    let request = app.request(Method::POST, "/api/mcp/v1").bearer_auth(&account.key);
    app.send(request.header("content-type", "application/json").body(text)).await
}

fn check_error(answer: &TestResponse, code: i64, id: &Value) {
    assert_eq!(answer.json["jsonrpc"], "2.0");
    assert_eq!(answer.json["error"]["code"], code, "{}", answer.json);
    assert!(answer.json["error"]["message"].is_string());
    assert_eq!(&answer.json["id"], id, "{}", answer.json);
    assert!(answer.json.get("result").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_json_is_400_and_parse_error() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for text in ["", "{", "nonsense", "{\"jsonrpc\": \"2.0\", \"id\": 1,}", "\u{feff}{}x", "{}{}"] {
        check_error(&send_text(&app, &ann, text).await.expect(400), -32700, &Value::Null);
    }
    check_error(&send_text(&app, &ann, vec![b'"', 0xff, b'"']).await.expect(400), -32700, &Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn valid_json_that_is_no_request_is_400_and_invalid_request() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for body in [
        json!([]),
        json!([ping]),
        json!([ping, ping]),
        json!("ping"),
        json!(7),
        json!(null),
        json!({}),
        json!({"id": 1, "method": "ping"}),
        json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 1}),
        json!({"jsonrpc": "2.0", "id": 1, "method": 7}),
        json!({"jsonrpc": "2.0", "id": {}, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "x"}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
    ] {
        let answer = send(&app, "/api/mcp/v1", &ann.key, &body).await.expect(400);
        assert_eq!(answer.json["error"]["code"], -32600, "{body}: {}", answer.json);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn params_that_are_null_or_an_empty_array_are_absent() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        for params in [json!(null), json!([])] {
            for method in ["ping", "tools/list", "resources/list", "resources/templates/list"] {
                let answer = request(&app, resource, &ann.key, method, &params).await.expect(200);
                assert!(answer.json["result"].is_object(), "{method} {params}: {}", answer.json);
            }
            let notification =
                json!({"jsonrpc": "2.0", "method": "notifications/initialized", "params": params});
            send(&app, resource, &ann.key, &notification).await.expect(202);
            // Without parameters, these requests lack required ones.
            for (method, version, status) in
                [("tools/call", "2025-11-25", 200), ("tools/list", "2026-07-28", 400)]
            {
                let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
                let request =
                    message(&app, resource, &ann.key, &body).header("mcp-protocol-version", version);
                check_error(&app.send(request).await.expect(status), -32602, &json!(7));
            }
            // Optional members of the parameters may be null or an empty array, too.
            for (method, params) in [
                ("tools/call", json!({"name": "get_info", "arguments": params, "_meta": params})),
                ("tools/list", json!({"cursor": params, "_meta": params})),
                ("resources/read", json!({"uri": "ui://photo-library/gallery.html", "_meta": params})),
            ] {
                let answer = request(&app, resource, &ann.key, method, &params).await.expect(200);
                assert!(answer.json["result"].is_object(), "{params}: {}", answer.json);
            }
        }
        for params in [json!([1]), json!([null]), json!([[]]), json!("x"), json!(""), json!(0), json!(false)]
        {
            let answer = request(&app, resource, &ann.key, "tools/list", &params).await;
            assert!(answer.json["error"].is_object(), "{params}: {}", answer.json);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_has_at_most_512000_bytes() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let message = |bytes: usize| {
        let empty = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": ""}}).to_string();
        empty.replace("\"x\":\"\"", &format!("\"x\":\"{}\"", "x".repeat(bytes - empty.len())))
    };
    assert_eq!(message(512_000).len(), 512_000);
    send_text(&app, &ann, message(512_000)).await.expect(200);
    send_text(&app, &ann, message(512_001)).await.expect(413);
    send_text(&app, &ann, message(5_000_000)).await.expect(413);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_another_content_type_is_415() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    for (content_type, status) in [
        ("application/json; charset=utf-8", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
    ] {
        let request = app.request(Method::POST, "/api/mcp/v1").bearer_auth(&ann.key);
        let answer = app.send(request.header("content-type", content_type).body(ping.clone())).await;
        assert_eq!(answer.status, status, "{content_type}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_method_is_a_json_rpc_error_on_200() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for resource in RESOURCES {
        for method in ["tools/unknown", "completion/complete", "logging/setLevel", "", "Tools/List"] {
            let answer = request(&app, resource, &ann.key, method, &json!({})).await.expect(200);
            check_error(&answer, -32601, &json!(7));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_tool_is_invalid_params() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (resource, params) in [
        ("/api/mcp/v1", json!({"name": "delete_everything", "arguments": {}})),
        ("/api/mcp/v1", json!({"name": "Get_Info"})),
        ("/api/mcp/v1", json!({"name": ""})),
        ("/api/mcp/v1", json!({"arguments": {}})),
        ("/api/mcp/v1", json!({"name": 7})),
        ("/api/mcp/v1", json!({"name": "get_info", "arguments": "x"})),
        ("/api/mcp/v1", json!({})),
        // The legacy resource has no albums.
        ("/api/mcp/legacy", json!({"name": "list_albums", "arguments": {}})),
        ("/api/mcp/legacy", json!({"name": "create_album", "arguments": {"title": "t"}})),
        ("/api/mcp/legacy", json!({"name": "update_album", "arguments": {}})),
    ] {
        let answer = request(&app, resource, &ann.key, "tools/call", &params).await.expect(200);
        check_error(&answer, -32602, &json!(7));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_cursor_is_invalid_params() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let answer =
        request(&app, "/api/mcp/v1", &ann.key, "tools/list", &json!({"cursor": "x"})).await.expect(200);
    check_error(&answer, -32602, &json!(7));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_is_returned_exactly_as_sent() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for id in [
        "7",
        "-9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-123456789012345678901234567890123456789012345678901234567890",
        "1.0",
        "-0",
        "1e3",
        "1.50e1",
        "\"\"",
        "\"a\"",
    ] {
        // A computed result, a prepared result, and an error.
        for (method, member) in [("ping", "result"), ("tools/list", "result"), ("unknown", "error")] {
            for text in [
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#),
                format!(
                    r#" {{ "params" : {{"id": [1, "}}"]}}, "m\u0065thod" : "{method}", "\u0069d" : {id} , "jsonrpc":"2.0" }} "#
                ),
            ] {
                let answer = send_text(&app, &ann, text.clone()).await.expect(200);
                assert!(answer.json[member].is_object(), "{text}: {}", answer.json);
                let body = String::from_utf8(answer.body.to_vec()).unwrap();
                assert!(body.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{text}: {body}");
            }
        }
    }
    for id in ["1.5", "1e-3", "null", "true", "[1]"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        check_error(&send_text(&app, &ann, text).await.expect(400), -32600, &Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arbitrary_messages_get_json_rpc_responses() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let messages: Vec<Vec<u8>> = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_images", "arguments": {"query": "x", "limit": 5}}}),
        json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "show_images", "arguments": {"imageIds": ["x"]}, "_meta": meta}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "ui://photo-library/gallery.html", "_meta": meta}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    ]
    .iter()
    .map(|message| message.to_string().into_bytes())
    .collect();
    let headers =
        ["2026-07-28", "2025-11-25", "tools/call", "resources/read", "search_images", "\u{e9}", "=?base64?"];
    let mut random = fastrand::Rng::with_seed(20_260_728);
    for _ in 0..600 {
        let mut body = messages[random.usize(..messages.len())].clone();
        for _ in 0..random.usize(..4) {
            let at = random.usize(..body.len());
            match random.usize(..4) {
                0 => body[at] ^= 1 << random.usize(..8),
                1 => body.truncate(at.max(1)),
                2 => body.insert(at, b"\"{}[],:0x"[random.usize(..9)]),
                _ => drop(body.splice(at..at, messages[random.usize(..messages.len())].iter().copied())),
            }
        }
        let mut request = app
            .request(Method::POST, RESOURCES[random.usize(..RESOURCES.len())])
            .bearer_auth(&ann.key)
            .header("content-type", "application/json");
        for name in ["mcp-protocol-version", "mcp-method", "mcp-name"] {
            if random.usize(..2) == 1 {
                request = request.header(name, headers[random.usize(..headers.len())]);
            }
        }
        let answer = app.send(request.body(body.clone())).await;
        let sent = String::from_utf8_lossy(&body);
        match answer.status {
            202 => assert!(answer.body.is_empty(), "{sent}"),
            200 | 400 | 404 => {
                assert_eq!(answer.json["jsonrpc"], "2.0", "{sent}");
                let has = |member: &str| answer.json.get(member).is_some();
                assert!(has("result") != has("error"), "{sent}: {}", answer.json);
            }
            other => panic!("{other}: {sent}"),
        }
    }
}
