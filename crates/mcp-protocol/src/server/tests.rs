use super::*;
use crate::content::ResourceContents;
use crate::headers::MessageHeaders;
use crate::jsonrpc::{ErrorObject, MISSING_REQUIRED_CLIENT_CAPABILITY, Response};
use crate::tools::InputRequiredResult;
use crate::{CacheScope, CallToolResult, RegistryError, Resource, ResourceTemplate, Tool, request_meta};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn reply(reply: impl Into<ToolReply>) -> BoxFuture<ToolReply> {
    Box::pin(std::future::ready(reply.into()))
}

/// A server with one tool, resource, template and method of each kind; the context is a name.
fn server() -> Server<&'static str> {
    let schema = || json!({"type": "object"});
    Server::builder(Implementation::new("s", "1"))
        .instructions("Say your name.")
        .caching(
            Caching { ttl_ms: 5, scope: CacheScope::Public },
            Caching { ttl_ms: 7, scope: CacheScope::Private },
        )
        .tool(Tool::new("who", "Tells who calls.", schema()), |call| {
            let meta = Meta::from_iter([("x/own".to_owned(), json!(1))]);
            reply(CallToolResult::text(format!("{} {}", call.context, call.version)).with_meta(meta))
        })
        .tool(Tool::new("ask", "Asks back.", schema()), |call| match call.params.input_responses {
            Some(answers) => {
                reply(CallToolResult::text(format!("{answers:?} {:?}", call.params.request_state)))
            }
            None => reply(
                InputRequiredResult::new([("q", json!({"method": "roots/list"}))]).with_request_state("s1"),
            ),
        })
        .tool(Tool::new("refuse", "Wants more.", schema()), |call| {
            let declared = call.client_capabilities().is_some_and(|known| known.contains_key("sampling"));
            assert!(!declared);
            reply(ToolReply::Refused(ErrorObject::new(MISSING_REQUIRED_CLIENT_CAPABILITY, "no sampling")))
        })
        .resource(Resource::new("a:b", "b"), |name| async move {
            vec![ResourceContents::text("a:b", "t/p", name)]
        })
        .resource_template(ResourceTemplate::new("n:{number}", "numbers"), |_, uri| {
            let number = uri.strip_prefix("n:")?.to_owned();
            Some(Box::pin(async move {
                (number != "0").then(|| vec![ResourceContents::text(format!("n:{number}"), "t/p", number)])
            }))
        })
        .capability("prompts", json!({}))
        .method("prompts/list", Eras::Both, |call: MethodCall<&'static str>| async move {
            Ok(Map::from_iter([("prompts".to_owned(), json!([call.context]))]))
        })
        .method("old", Eras::Legacy, |_| async { Err(ErrorObject::internal()) })
        .build()
        .unwrap()
}

async fn old(method: &str, params: Value) -> (u16, Value) {
    ask(&MessageHeaders::default(), method, params).await
}

async fn new(method: &str, mut params: Value) -> (u16, Value) {
    params["_meta"] =
        json!({request_meta::PROTOCOL_VERSION: "2026-07-28", request_meta::CLIENT_CAPABILITIES: {}});
    let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
    let headers = MessageHeaders {
        protocol_version: Some("2026-07-28".into()),
        method: Some(method.to_owned().into()),
        name: name.map(Into::into),
        ..MessageHeaders::default()
    };
    ask(&headers, method, params).await
}

async fn ask(headers: &MessageHeaders<'_>, method: &str, params: Value) -> (u16, Value) {
    let body = json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}).to_string();
    let answer = server().handle("Ann", headers, body.as_bytes()).await;
    let mut body: Value = serde_json::from_slice(&answer.body.unwrap()).unwrap();
    assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!("q")));
    let outcome = if body["error"].is_null() { body["result"].take() } else { body["error"].take() };
    (answer.status, outcome)
}

#[tokio::test]
async fn a_server_describes_itself_in_each_era() {
    let opening = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let (status, opened) = old("initialize", opening).await;
    assert_eq!((status, &opened["protocolVersion"]), (200, &json!("2025-06-18")));
    for absent in [json!(null), json!([])] {
        let client = json!({"name": "c", "version": "1"});
        let opening = json!({"protocolVersion": "2025-06-18", "capabilities": absent, "clientInfo": client, "_meta": absent});
        assert_eq!(old("initialize", opening).await, (200, opened.clone()), "{absent}");
    }
    let capabilities = json!({"tools": {}, "resources": {}, "prompts": {}});
    assert_eq!(opened["capabilities"], capabilities);
    let (status, discovered) = new("server/discover", json!({})).await;
    assert_eq!(
        (status, discovered),
        (
            200,
            json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": capabilities,
                "instructions": "Say your name.",
                "ttlMs": 5,
                "cacheScope": "public",
                "_meta": {request_meta::SERVER_INFO: {"name": "s", "version": "1"}},
            })
        )
    );
}

#[tokio::test]
async fn tools_run_in_the_context_of_their_caller() {
    let call = json!({"name": "who", "arguments": null});
    let (status, result) = old("tools/call", call.clone()).await;
    assert_eq!((status, &result["content"][0]["text"]), (200, &json!("Ann 2025-03-26")));
    assert_eq!(result["_meta"], json!({"x/own": 1}));
    let (status, result) = new("tools/call", call).await;
    assert_eq!((status, &result["content"][0]["text"]), (200, &json!("Ann 2026-07-28")));
    assert_eq!(
        result["_meta"],
        json!({"x/own": 1, request_meta::SERVER_INFO: {"name": "s", "version": "1"}})
    );
}

#[tokio::test]
async fn input_is_required_only_from_clients_with_the_capability() {
    let (_, asked) = asking(json!({"roots": {}})).await;
    assert_eq!((&asked["resultType"], &asked["requestState"]), (&json!("input_required"), &json!("s1")));
    assert_eq!(asked["inputRequests"]["q"]["method"], "roots/list");
    for capabilities in [json!({}), json!({"sampling": {}})] {
        let (status, refused) = asking(capabilities).await;
        assert_eq!((status, &refused["code"]), (400, &json!(-32021)));
        assert_eq!(refused["data"], json!({"requiredCapabilities": {"roots": {}}}));
    }
    let answers = json!({"name": "ask", "inputResponses": {"q": {}}, "requestState": "s1"});
    let (_, result) = new("tools/call", answers).await;
    assert_eq!((&result["resultType"], &result["isError"]), (&json!("complete"), &Value::Null));
    let (status, told) = old("tools/call", json!({"name": "ask"})).await;
    assert_eq!((status, &told["isError"]), (200, &json!(true)));
}

/// Calls the tool that requires input, as a client with these capabilities.
async fn asking(capabilities: Value) -> (u16, Value) {
    let meta = json!({request_meta::PROTOCOL_VERSION: "2026-07-28", request_meta::CLIENT_CAPABILITIES: capabilities});
    let headers = MessageHeaders {
        protocol_version: Some("2026-07-28".into()),
        method: Some("tools/call".into()),
        name: Some("ask".into()),
        ..MessageHeaders::default()
    };
    ask(&headers, "tools/call", json!({"name": "ask", "_meta": meta})).await
}

#[test]
fn reserved_names_are_refused() {
    let builder = || Server::<()>::builder(Implementation::new("s", "1"));
    let method = |builder: ServerBuilder<()>, name: &str| {
        builder.method(name, Eras::Both, |_| async { Ok(Map::new()) })
    };
    for (name, built) in [
        ("tools/list", method(builder(), "tools/list").build()),
        ("prompts/list", method(method(builder(), "prompts/list"), "prompts/list").build()),
        ("tools", builder().capability("tools", json!({})).build()),
    ] {
        assert_eq!(built.err(), Some(RegistryError::Reserved { name: name.into() }));
    }
    assert!(method(builder(), "prompts/list").build().is_ok());
}

#[tokio::test]
async fn errors_have_the_status_of_their_era() {
    for (method, params, code, legacy, modern) in [
        ("tools/call", json!({"name": "refuse"}), -32021, 200, 400),
        ("tools/call", json!({"name": "none"}), -32602, 200, 200),
        ("tools/call", json!({"name": "who", "requestState": 7}), -32602, 200, 200),
        ("tools/list", json!({"cursor": "x"}), -32602, 200, 200),
        ("resources/list", json!({"cursor": 7}), -32602, 200, 200),
        ("unknown", json!({}), -32601, 200, 404),
    ] {
        for (status, (answered, error)) in
            [(legacy, old(method, params.clone()).await), (modern, new(method, params.clone()).await)]
        {
            assert_eq!((answered, &error["code"]), (status, &json!(code)), "{method} {params}");
        }
    }
    assert_eq!(old("old", json!({})).await.1["code"], -32603);
    assert_eq!(new("old", json!({})).await.0, 404);
}

#[tokio::test]
async fn resources_are_read_by_uri_or_template() {
    for (uri, text) in [("a:b", Some("Ann")), ("n:7", Some("7")), ("n:0", None), ("x:y", None)] {
        let (_, legacy) = old("resources/read", json!({"uri": uri})).await;
        let (_, modern) = new("resources/read", json!({"uri": uri})).await;
        match text {
            Some(text) => {
                assert_eq!(legacy["contents"], modern["contents"]);
                assert_eq!(modern["contents"][0]["text"], text);
                assert_eq!((&modern["ttlMs"], &modern["cacheScope"]), (&json!(7), &json!("private")));
                assert_eq!(legacy.as_object().unwrap().len(), 1);
            }
            None => {
                assert_eq!((&legacy["code"], &modern["code"]), (&json!(-32002), &json!(-32602)));
                assert_eq!(modern["data"], json!({"uri": uri}));
            }
        }
    }
    let (_, templates) = new("resources/templates/list", json!({})).await;
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "n:{number}");
}

#[tokio::test]
async fn results_of_added_methods_are_completed_in_the_modern_era() {
    let (_, legacy) = old("prompts/list", json!({})).await;
    assert_eq!(legacy, json!({"prompts": ["Ann"]}));
    let (_, modern) = new("prompts/list", json!({})).await;
    assert_eq!((&modern["prompts"], &modern["resultType"]), (&json!(["Ann"]), &json!("complete")));
    assert!(modern["_meta"][request_meta::SERVER_INFO].is_object());
}

#[tokio::test]
async fn headers_must_repeat_the_arguments_that_declare_them() {
    let schema =
        json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let server = Server::builder(Implementation::new("s", "1"))
        .tool(Tool::new("t", "", schema), |_| reply(CallToolResult::text("done")))
        .build()
        .unwrap();
    let meta = json!({request_meta::PROTOCOL_VERSION: "2026-07-28", request_meta::CLIENT_CAPABILITIES: {}});
    for (header, arguments, status) in [
        (Some("us"), json!({"region": "us"}), 200),
        (Some("eu"), json!({"region": "us"}), 400),
        (None, json!({"region": "us"}), 400),
        (None, json!({}), 200),
    ] {
        let sent = [
            ("mcp-protocol-version", Some("2026-07-28")),
            ("mcp-method", Some("tools/call")),
            ("mcp-name", Some("t")),
            ("mcp-param-region", header),
        ];
        let headers = server.headers(|name| sent.iter().find(|(known, _)| *known == name)?.1);
        let params = json!({"name": "t", "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        assert_eq!(
            server.handle((), &headers, body.as_bytes()).await.status,
            status,
            "{header:?} {arguments}"
        );
        let legacy = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}});
        let legacy = server.handle((), &MessageHeaders::default(), legacy.to_string().as_bytes()).await;
        assert_eq!(legacy.status, 200);
    }
}

#[test]
fn a_duplicate_uri_is_refused() {
    let read = |()| std::future::ready(Vec::new());
    let twice = Server::builder(Implementation::new("s", "1"))
        .resource(Resource::new("a:b", "one"), read)
        .resource(Resource::new("a:b", "two"), read)
        .build();
    assert_eq!(twice.err(), Some(RegistryError::DuplicateUri { uri: "a:b".into() }));
}

#[tokio::test]
async fn a_server_without_resources_has_no_such_method() {
    let server = Server::<()>::builder(Implementation::new("s", "1")).build().unwrap();
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#;
    let answer = server.handle((), &MessageHeaders::default(), body).await;
    assert!(String::from_utf8(answer.body.unwrap()).unwrap().contains("-32601"));
}

/// Values from valid messages, and others.
fn member() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        proptest::sample::select(vec!["2.0", "2026-07-28", "who", "ask", "a:b"]).prop_map(Value::from),
    ];
    let names = proptest::sample::select(vec![
        "name",
        "uri",
        "arguments",
        "_meta",
        "cursor",
        "inputResponses",
        "requestState",
        request_meta::PROTOCOL_VERSION,
        request_meta::CLIENT_CAPABILITIES,
    ]);
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map(names.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn method() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => proptest::sample::select(vec![
            "initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
            "resources/templates/list", "prompts/list", "notifications/cancelled",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn header() -> impl Strategy<Value = Option<String>> {
    let known = ["2026-07-28", "2025-11-25", "tools/list", "tools/call", "resources/read", "who", "a:b"];
    proptest::option::of(prop_oneof![
        proptest::sample::select(known.to_vec()).prop_map(str::to_owned),
        any::<String>(),
    ])
}

fn check(headers: [Option<String>; 3], body: &[u8]) -> Result<(), TestCaseError> {
    let [protocol_version, method, name] = headers.map(|value| value.map(Into::into));
    let headers = MessageHeaders { protocol_version, method, name, ..MessageHeaders::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = runtime.block_on(server().handle("Ann", &headers, body));
    match answer.body {
        None => prop_assert_eq!(answer.status, 202),
        Some(body) => {
            prop_assert!([200, 400, 404].contains(&answer.status));
            prop_assert!(Response::parse(&body).is_ok());
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_message_gets_a_json_rpc_response(
        id in proptest::option::of(member()), method in method(), params in proptest::option::of(member()),
        headers in [header(), header(), header()],
    ) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if let Some(id) = id {
            message["id"] = id;
        }
        if let Some(params) = params {
            message["params"] = params;
        }
        check(headers, message.to_string().as_bytes())?;
    }

    #[test]
    fn any_bytes_get_a_json_rpc_response(body: Vec<u8>, headers in [header(), header(), header()]) {
        check(headers, &body)?;
    }
}
