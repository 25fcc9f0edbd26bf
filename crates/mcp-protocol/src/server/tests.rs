use super::*;
use crate::content::ResourceContents;
use crate::headers::MessageHeaders;
use crate::jsonrpc::{ErrorObject, MISSING_REQUIRED_CLIENT_CAPABILITY, Response};
use crate::prompts::{GetPromptResult, PromptMessage};
use crate::tools::InputRequiredResult;
use crate::{
    CacheScope, CallToolResult, ContentBlock, PromptArgument, RegistryError, Resource, ResourceTemplate,
    Tool, request_meta,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn reply(reply: impl Into<ToolReply>) -> BoxFuture<ToolReply> {
    Box::pin(std::future::ready(reply.into()))
}

fn prompted(reply: impl Into<PromptReply>) -> BoxFuture<PromptReply> {
    Box::pin(std::future::ready(reply.into()))
}

fn greet() -> Prompt {
    Prompt::new("greet", "Greets.")
        .with_argument(PromptArgument::required("name", "Whom."))
        .with_argument(PromptArgument::optional("language", "Which."))
}

/// A server with one tool, prompt, resource, template and method of each kind; the context is a name.
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
        .prompt(greet(), |call| {
            let name = &call.params.arguments["name"];
            let text = ContentBlock::text(format!("{} greets {name}", call.context));
            prompted(GetPromptResult::new(vec![PromptMessage::user(text)]))
        })
        .prompt(Prompt::new("ask", "Asks back."), |call| match call.params.input_responses {
            Some(answers) => {
                let text = format!("{answers:?} {:?}", call.params.request_state);
                prompted(GetPromptResult::new(vec![PromptMessage::assistant(ContentBlock::text(text))]))
            }
            None => prompted(InputRequiredResult::new([("q", json!({"method": "elicitation/create"}))])),
        })
        .prompt(Prompt::new("refuse", "Refuses."), |_| prompted(ErrorObject::invalid_params("not today")))
        .capability("completions", json!({}))
        .method("completion/complete", Eras::Both, |call: MethodCall<&'static str>| async move {
            Ok(Map::from_iter([("completion".to_owned(), json!([call.context]))]))
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
    let capabilities = json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}});
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
    with_capabilities("tools/call", "ask", capabilities).await
}

async fn with_capabilities(method: &'static str, name: &'static str, capabilities: Value) -> (u16, Value) {
    let meta = json!({request_meta::PROTOCOL_VERSION: "2026-07-28", request_meta::CLIENT_CAPABILITIES: capabilities});
    let headers = MessageHeaders {
        protocol_version: Some("2026-07-28".into()),
        method: Some(method.into()),
        name: Some(name.into()),
        ..MessageHeaders::default()
    };
    ask(&headers, method, json!({"name": name, "_meta": meta})).await
}

#[tokio::test]
async fn prompts_are_listed_in_each_era() {
    let (_, legacy) = old("prompts/list", json!({})).await;
    assert_eq!(legacy.as_object().unwrap().len(), 1);
    let names: Vec<_> = legacy["prompts"].as_array().unwrap().iter().map(|prompt| &prompt["name"]).collect();
    assert_eq!(names, ["greet", "ask", "refuse"]);
    let (_, modern) = new("prompts/list", json!({"cursor": ""})).await;
    assert_eq!(modern["prompts"], legacy["prompts"]);
    assert_eq!((&modern["ttlMs"], &modern["cacheScope"]), (&json!(5), &json!("public")));
    assert_eq!(modern["resultType"], "complete");
    assert_eq!(new("prompts/list", json!({"cursor": "x"})).await.1["code"], -32602);
}

#[tokio::test]
async fn prompts_have_their_required_arguments() {
    let params = json!({"name": "greet", "arguments": {"name": "Ada", "unknown": "x"}});
    let (_, legacy) = old("prompts/get", params.clone()).await;
    assert_eq!(
        legacy,
        json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Ann greets Ada"}}]})
    );
    let (_, modern) = new("prompts/get", params).await;
    assert_eq!((&modern["messages"], &modern["resultType"]), (&legacy["messages"], &json!("complete")));
    assert!(modern["_meta"][request_meta::SERVER_INFO].is_object());
    for (params, message) in [
        (json!({"name": "greet"}), "arguments.name: is required"),
        (json!({"name": "greet", "arguments": {"language": "en"}}), "arguments.name: is required"),
        (
            json!({"name": "greet", "arguments": {"name": 7}}),
            "arguments.name: expected a string, got the number 7",
        ),
        (json!({"name": "none"}), "unknown prompt: none"),
        (json!({"name": "refuse"}), "not today"),
    ] {
        for (status, error) in
            [old("prompts/get", params.clone()).await, new("prompts/get", params.clone()).await]
        {
            assert_eq!((status, &error["code"], &error["message"]), (200, &json!(-32602), &json!(message)));
        }
    }
    assert_eq!(old("prompts/get", json!({})).await.1["message"], "name: is required");
}

#[tokio::test]
async fn a_prompt_may_require_input() {
    let (_, asked) = with_capabilities("prompts/get", "ask", json!({"elicitation": {}})).await;
    assert_eq!(asked["resultType"], "input_required");
    let (status, refused) = with_capabilities("prompts/get", "ask", json!({})).await;
    assert_eq!((status, &refused["code"]), (400, &json!(-32021)));
    assert_eq!(old("prompts/get", json!({"name": "ask"})).await.1["code"], -32602);
    let answers = json!({"name": "ask", "inputResponses": {"q": {}}, "requestState": "s"});
    assert_eq!(new("prompts/get", answers).await.1["messages"][0]["role"], "assistant");
}

#[test]
fn a_duplicate_prompt_is_refused() {
    let prompt = |builder: ServerBuilder<()>| builder.prompt(greet(), |_| prompted(ErrorObject::internal()));
    let twice = prompt(prompt(Server::builder(Implementation::new("s", "1")))).build();
    assert_eq!(twice.err(), Some(RegistryError::DuplicatePrompt { name: "greet".into() }));
}

#[test]
fn reserved_names_are_refused() {
    let builder = || Server::<()>::builder(Implementation::new("s", "1"));
    let method = |builder: ServerBuilder<()>, name: &str| {
        builder.method(name, Eras::Both, |_| async { Ok(Map::new()) })
    };
    for (name, built) in [
        ("tools/list", method(builder(), "tools/list").build()),
        ("prompts/get", method(builder(), "prompts/get").build()),
        ("x/y", method(method(builder(), "x/y"), "x/y").build()),
        ("tools", builder().capability("tools", json!({})).build()),
        ("prompts", builder().capability("prompts", json!({})).build()),
    ] {
        assert_eq!(built.err(), Some(RegistryError::Reserved { name: name.into() }));
    }
    assert!(method(builder(), "x/y").build().is_ok());
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
    let (_, legacy) = old("completion/complete", json!({})).await;
    assert_eq!(legacy, json!({"completion": ["Ann"]}));
    let (_, modern) = new("completion/complete", json!({})).await;
    assert_eq!((&modern["completion"], &modern["resultType"]), (&json!(["Ann"]), &json!("complete")));
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
async fn a_server_without_resources_or_prompts_has_no_such_method() {
    let server = Server::<()>::builder(Implementation::new("s", "1")).build().unwrap();
    for method in ["resources/list", "prompts/list", "prompts/get"] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": "x"}}).to_string();
        let answer = server.handle((), &MessageHeaders::default(), body.as_bytes()).await;
        assert!(String::from_utf8(answer.body.unwrap()).unwrap().contains("-32601"), "{method}");
    }
}

/// Values from valid messages, and others.
fn member() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        proptest::sample::select(vec!["2.0", "2026-07-28", "who", "ask", "greet", "a:b"])
            .prop_map(Value::from),
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
            "resources/templates/list", "prompts/list", "prompts/get", "completion/complete",
            "notifications/cancelled",
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
