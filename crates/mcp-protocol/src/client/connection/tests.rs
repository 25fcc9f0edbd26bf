use super::*;
use crate::elicitation::{ElicitAction, ElicitResult, Elicitation};
use crate::prompts::{GetPromptResult, PromptArgument, PromptMessage};
use crate::server::Server;
use crate::server::ToolReply;
use crate::{CallToolResult, ContentBlock};
use serde_json::json;
use std::sync::Mutex;

/// A response in chunks of a few bytes.
struct Answer {
    status: u16,
    headers: Vec<(&'static str, &'static str)>,
    body: String,
}

impl Answer {
    fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: "no JSON".to_owned() }
    }

    fn json(message: &Value) -> Self {
        Self { status: 200, headers: vec![("content-type", "application/json")], body: message.to_string() }
    }

    /// The message as the last event of a stream.
    fn stream(message: &Value) -> Self {
        let headers = vec![("content-type", "text/event-stream; charset=utf-8")];
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}});
        let body = format!("id: 0\ndata:\n\ndata: {progress}\r\n\r\nevent: message\ndata: {message}\n\n");
        Self { status: 200, headers, body }
    }

    fn with_session(mut self, id: &'static str) -> Self {
        self.headers.push(("mcp-session-id", id));
        self
    }
}

/// A server as a function, and the methods of the messages that it got.
struct Fake<F> {
    answer: F,
    methods: Mutex<Vec<String>>,
}

fn fake<F: Fn(&HttpRequest, &Value) -> Answer>(answer: F) -> Fake<F> {
    Fake { answer, methods: Mutex::default() }
}

impl<F: Fn(&HttpRequest, &Value) -> Answer + Sync> Transport for &Fake<F> {
    async fn send(&self, request: &HttpRequest, reader: &mut ResponseReader) -> Result<(), TransportError> {
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or(request.method);
        self.methods.lock().unwrap().push(method.to_owned());
        let Answer { status, headers, body } = (self.answer)(request, &message);
        reader.start(status, |name| Some(headers.iter().find(|(known, _)| *known == name)?.1));
        for chunk in body.as_bytes().chunks(7) {
            tokio::task::yield_now().await;
            if reader.push(chunk).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn result(request: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

fn failure(request: &Value, code: i64, data: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": "m", "data": data}})
}

fn opened(version: &str) -> Value {
    json!({
        "protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"},
        "instructions": "Count first.",
    })
}

fn info() -> Implementation {
    Implementation::new("c", "1")
}

/// A server with sessions that only knows `initialize` and answers with event streams; its list has three pages.
fn older_server(request: &HttpRequest, message: &Value, session: &'static str) -> Answer {
    let method = message["method"].as_str().unwrap_or_default();
    match method {
        "initialize" => Answer::stream(&result(message, &opened("2025-06-18"))).with_session(session),
        _ if header(request, "mcp-session-id") != Some(session) => Answer::status(404),
        _ if request.method == "DELETE" => Answer::status(405),
        _ if header(request, "mcp-protocol-version") != Some("2025-06-18") => Answer::status(400),
        "notifications/initialized" => Answer::status(202),
        "tools/list" => {
            let page = match message["params"]["cursor"].as_str() {
                None => json!({"tools": [{"name": "a", "inputSchema": {}}], "nextCursor": "2"}),
                Some("2") => json!({"tools": [], "nextCursor": "3"}),
                _ => json!({"tools": [{"name": "b", "inputSchema": {}}]}),
            };
            Answer::stream(&result(message, &page))
        }
        "tools/call" => {
            Answer::stream(&result(message, &json!({"content": [{"type": "text", "text": "done"}]})))
        }
        _ => Answer::stream(&failure(message, -32601, &Value::Null)),
    }
}

#[tokio::test]
async fn an_older_server_gets_a_session_and_all_pages_are_listed() {
    let server = fake(|request, message| older_server(request, message, "s1"));
    let mut client = Client::connect(&server, info()).await.unwrap();
    assert_eq!(client.version(), ProtocolVersion::V2025_06_18);
    assert_eq!(client.instructions(), Some("Count first."));
    assert_eq!(client.server_info().unwrap().name, "s");
    assert!(client.capabilities().tools.is_some());
    let tools = client.list_tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let called = client.call_tool(&CallToolParams::new("a")).await.unwrap().result().unwrap();
    assert_eq!(called.first_text(), Some("done"));
    let error = client.request::<_, Value>("unknown", None, &json!({})).await.unwrap_err();
    assert_eq!(error.error_object().unwrap().code, -32601);
    client.close().await.unwrap();
    let methods = server.methods.lock().unwrap();
    assert_eq!(methods[..3], ["server/discover", "initialize", "notifications/initialized"]);
    assert_eq!(methods.last().unwrap(), "DELETE");
}

#[tokio::test]
async fn a_session_that_the_server_ended_is_opened_again() {
    let current = Mutex::new("s1");
    let server = fake(|request, message| older_server(request, message, *current.lock().unwrap()));
    let mut client = Client::connect(&server, info()).await.unwrap();
    *current.lock().unwrap() = "s2";
    assert_eq!(client.list_tools().await.unwrap().len(), 2);
    let opened = server.methods.lock().unwrap().iter().filter(|method| *method == "initialize").count();
    assert_eq!(opened, 2);

    let server = fake(|request, message| match message["method"].as_str() {
        Some("tools/list") => Answer::status(404),
        _ => older_server(request, message, "s1"),
    });
    let mut client = Client::connect(&server, info()).await.unwrap();
    assert!(matches!(client.list_tools().await, Err(ClientError::SessionEnded)));
}

#[tokio::test]
async fn an_older_server_is_recognised_by_any_response_but_those_of_newer_servers() {
    let unsupported = |versions: Value| json!({"supported": versions, "requested": "2026-07-28"});
    for (code, data, falls_back) in [
        (-32601, Value::Null, true),
        (-32000, Value::Null, true),
        (-32022, unsupported(json!(["2025-11-25"])), true),
        (-32022, unsupported(json!(["2099-01-01"])), false),
        (-32020, Value::Null, false),
    ] {
        let server = fake(|_, message| match message["method"].as_str() {
            Some("server/discover") => Answer::json(&failure(message, code, &data)),
            Some("initialize") => Answer::json(&result(message, &opened("2025-03-26"))),
            _ => Answer::status(202),
        });
        let connected = Client::connect(&server, info()).await;
        match connected {
            Ok(client) => assert_eq!(client.version(), ProtocolVersion::V2025_03_26),
            Err(error) => assert_eq!(error.error_object().unwrap().code, code),
        }
        assert_eq!(
            server.methods.lock().unwrap().contains(&"initialize".to_owned()),
            falls_back,
            "{code} {data}"
        );
    }
    for (found, falls_back) in
        [(json!(["2025-11-25"]), true), (json!(["2099-01-01"]), false), (json!(7), true)]
    {
        let server = fake(|_, message| match message["method"].as_str() {
            Some("server/discover") => {
                Answer::json(&result(message, &json!({"supportedVersions": found, "capabilities": {}})))
            }
            _ => Answer::status(500),
        });
        let error = Client::connect(&server, info()).await.err().unwrap();
        assert_eq!(matches!(error, ClientError::NoCommonRevision { .. }), !falls_back, "{error}");
    }
}

#[tokio::test]
async fn a_server_that_requires_a_token_is_not_an_older_one() {
    let server = fake(|_, _| Answer { headers: vec![("www-authenticate", "Bearer")], ..Answer::status(401) });
    let error = Client::connect(&server, info()).await.err().unwrap();
    let ClientError::Response(ResponseError::Status { status: 401, www_authenticate }) = error else {
        panic!("{error}");
    };
    assert_eq!(www_authenticate.as_deref(), Some("Bearer"));
    assert_eq!(*server.methods.lock().unwrap(), ["server/discover"]);
}

#[tokio::test]
async fn an_endless_list_is_an_error() {
    let server = fake(|request, message| match message["method"].as_str() {
        Some("resources/list") => {
            Answer::json(&result(message, &json!({"resources": [], "nextCursor": "next"})))
        }
        _ => older_server(request, message, "s1"),
    });
    let mut client = Client::connect(&server, info()).await.unwrap();
    assert!(matches!(client.list_resources().await, Err(ClientError::TooManyPages)));
}

#[tokio::test]
async fn broken_responses_are_errors() {
    for (answer, expect) in [
        (Answer::status(500), "the server returned the HTTP status 500"),
        (Answer::status(200), "the body is not a response: the body is not valid JSON"),
        (
            Answer::json(&json!({"jsonrpc": "2.0", "id": 99, "result": {}})),
            "the response has the id of another",
        ),
        (Answer::stream(&json!({"jsonrpc": "2.0", "id": 99, "result": {}})), "the response ended before"),
        (Answer::stream(&json!([1])), "the body is not a response: batches"),
    ] {
        let answer = Mutex::new(Some(answer));
        let server = fake(|request, message| match message["method"].as_str() {
            Some("tools/list") => answer.lock().unwrap().take().unwrap(),
            _ => older_server(request, message, "s1"),
        });
        let mut client = Client::connect(&server, info()).await.unwrap();
        let error = client.list_tools().await.unwrap_err().to_string();
        assert!(error.starts_with(expect), "{error}");
    }
}

/// A server that waits for the reply to a ping before it continues its stream.
struct Pinging(Mutex<Option<Value>>);

impl Transport for &Pinging {
    async fn send(&self, request: &HttpRequest, reader: &mut ResponseReader) -> Result<(), TransportError> {
        let message: Value = serde_json::from_slice(&request.body)?;
        let answer = match message["method"].as_str() {
            Some("initialize") => Answer::json(&result(&message, &opened("2025-11-25"))).with_session("s1"),
            Some("tools/call") => {
                reader.start(200, |name| (name == "content-type").then_some("text/event-stream"));
                let sampling = json!({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage"});
                let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
                assert!(
                    reader.push(format!("data: {sampling}\n\ndata: {ping}\n\n").as_bytes()).is_continue()
                );
                while self.0.lock().unwrap().as_ref().is_none_or(|reply| reply["id"] != "p") {
                    tokio::task::yield_now().await;
                }
                Answer::stream(&result(&message, &json!({"content": []})))
            }
            Some(_) => Answer::status(202),
            None => {
                assert_eq!(header(request, "mcp-session-id"), Some("s1"));
                tokio::task::yield_now().await;
                *self.0.lock().unwrap() = Some(message);
                Answer::status(202)
            }
        };
        if reader.status() == 0 {
            reader.start(answer.status, |name| {
                Some(answer.headers.iter().find(|(known, _)| *known == name)?.1)
            });
        }
        let _ = reader.push(answer.body.as_bytes());
        Ok(())
    }
}

#[tokio::test]
async fn a_ping_in_a_stream_is_answered_before_the_stream_ends() {
    let server = Pinging(Mutex::default());
    let session = Session::new(ProtocolVersion::LATEST_LEGACY, info());
    let mut client = Client::connect_session(&server, session).await.unwrap();
    client.call_tool(&CallToolParams::new("t")).await.unwrap();
    assert_eq!(*server.0.lock().unwrap(), Some(json!({"jsonrpc": "2.0", "id": "p", "result": {}})));
}

/// A server that sends two pings together with the result of a tool, and keeps the replies.
struct Hasty(Mutex<Vec<Value>>);

impl Transport for &Hasty {
    async fn send(&self, request: &HttpRequest, reader: &mut ResponseReader) -> Result<(), TransportError> {
        let message: Value = serde_json::from_slice(&request.body)?;
        let event = |message: Value| format!("data: {message}\n\n");
        let ping = |id: u8| event(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
        let events = match message["method"].as_str() {
            Some("initialize") => event(result(&message, &opened("2025-11-25"))),
            Some("tools/call") => ping(1) + &ping(2) + &event(result(&message, &json!({"content": []}))),
            Some(_) => String::new(),
            None => {
                tokio::task::yield_now().await;
                self.0.lock().unwrap().push(message["id"].clone());
                String::new()
            }
        };
        reader.start(200, |name| (name == "content-type").then_some("text/event-stream"));
        let _ = reader.push(events.as_bytes());
        Ok(())
    }
}

#[tokio::test]
async fn pings_that_arrive_together_with_the_result_are_answered() {
    let server = Hasty(Mutex::default());
    let session = Session::new(ProtocolVersion::LATEST_LEGACY, info());
    let mut client = Client::connect_session(&server, session).await.unwrap();
    client.call_tool(&CallToolParams::new("t")).await.unwrap();
    assert_eq!(*server.0.lock().unwrap(), [1, 2]);
}

/// This crate's own server.
struct Own(Server<()>);

impl Transport for &Own {
    async fn send(&self, request: &HttpRequest, reader: &mut ResponseReader) -> Result<(), TransportError> {
        let headers = self.0.headers(|name| header(request, name));
        let response = self.0.handle((), &headers, &request.body).await;
        reader.start(response.status, |name| (name == "content-type").then_some("application/json"));
        let _ = reader.push(&response.body.unwrap_or_default());
        Ok(())
    }
}

/// Any transport, in a task of its own.
fn spawn<T: Transport + Send + Sync + 'static>(transport: T) -> tokio::task::JoinHandle<usize> {
    tokio::spawn(async move {
        let mut client = Client::connect(transport, info()).await.unwrap();
        let greeting = client.call_tool(&CallToolParams::new("t")).await.unwrap().result().unwrap();
        client.list_resources().await.unwrap();
        client.list_tools().await.unwrap().len() + greeting.content.len()
    })
}

#[tokio::test]
async fn a_client_of_any_transport_can_be_spawned() {
    let server = Server::builder(Implementation::new("s", "1"))
        .tool(Tool::new("t", "", json!({"type": "object"})), |_| {
            Box::pin(async { CallToolResult::text("done").into() })
        })
        .resource(Resource::new("r://a", "a"), |()| async { Vec::new() })
        .build()
        .unwrap();
    let server: &'static Own = Box::leak(Box::new(Own(server)));
    assert_eq!(spawn(server).await.unwrap(), 2);
}

#[tokio::test]
async fn a_client_of_each_revision_calls_a_tool_that_declares_headers() {
    let schema =
        json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let server = Server::builder(Implementation::new("s", "1"))
        .tool(Tool::new("t", "", schema), |call| {
            let region = call.params.arguments["region"].to_string();
            Box::pin(async move { CallToolResult::text(region).into() })
        })
        .build()
        .unwrap();
    let server = Own(server);
    for version in ProtocolVersion::ALL {
        let mut client = Client::connect_session(&server, Session::new(version, info())).await.unwrap();
        assert_eq!(client.version(), version);
        assert_eq!(client.server_info(), Some(&Implementation::new("s", "1")));
        let call = CallToolParams::new("t").with_argument("region", json!("größe"));
        let result = client.call_tool(&call).await.unwrap().result().unwrap();
        assert_eq!(result.first_text(), Some("\"größe\""));
    }
}

#[tokio::test]
async fn a_client_of_each_revision_gets_prompts() {
    let greet = Prompt::new("greet", "Greets.").with_argument(PromptArgument::required("name", "Whom."));
    let server = Server::builder(Implementation::new("s", "1"))
        .prompt(greet.clone(), |call| {
            let message = PromptMessage::user(ContentBlock::text(call.params.arguments["name"].clone()));
            Box::pin(async move { GetPromptResult::new(vec![message]).into() })
        })
        .build()
        .unwrap();
    let server = Own(server);
    for version in ProtocolVersion::ALL {
        let mut client = Client::connect_session(&server, Session::new(version, info())).await.unwrap();
        assert!(client.capabilities().prompts.is_some());
        assert_eq!(client.list_prompts().await.unwrap(), std::slice::from_ref(&greet));
        let params = GetPromptParams::new("greet").with_argument("name", "größe");
        let result = client.get_prompt(&params).await.unwrap().result().unwrap();
        assert_eq!(result.messages[0].content.as_text(), Some("größe"));
        let refused = client.get_prompt(&GetPromptParams::new("greet")).await.unwrap_err();
        assert_eq!(refused.error_object().map(|error| error.code), Some(-32602));
    }
}

#[tokio::test]
async fn a_tool_asks_the_user_and_is_called_again_with_the_answer() {
    let schema = json!({"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]});
    let server = Server::builder(Implementation::new("s", "1"))
        .tool(Tool::new("delete", "", json!({"type": "object"})), move |call| {
            let question = Elicitation::form("Delete?", schema.clone());
            let reply = match call.elicited("confirm") {
                Err(error) => ToolReply::Refused(error.into()),
                Ok(None) => question.ask("confirm").with_request_state("s1").into(),
                Ok(Some(answer)) => {
                    assert_eq!(call.params.request_state.as_deref(), Some("s1"));
                    let sure = answer.content::<Map<String, Value>>().unwrap();
                    CallToolResult::text(format!("{:?}", sure.map(|sure| sure["sure"] == true))).into()
                }
            };
            Box::pin(std::future::ready(reply))
        })
        .build()
        .unwrap();
    let server = Own(server);
    let session = || Session::new(ProtocolVersion::V2026_07_28, info());
    let able = session().with_capability("elicitation", json!({"form": {}}));
    let mut client = Client::connect_session(&server, able).await.unwrap();
    let sure = Map::from_iter([("sure".to_owned(), json!(true))]);
    for (answer, said) in [
        (ElicitResult::accept(sure), "Some(true)"),
        (ElicitResult::without_content(ElicitAction::Decline), "None"),
    ] {
        let call = CallToolParams::new("delete");
        let ToolOutcome::InputRequired(required) = client.call_tool(&call).await.unwrap() else {
            panic!("it did not ask")
        };
        let (name, request) = required.input_requests.as_ref().unwrap().iter().next().unwrap();
        let Some(Elicitation::Form(form)) = Elicitation::of_request(request).unwrap() else {
            panic!("{request}")
        };
        assert_eq!(form.message, "Delete?");
        let responses = Map::from_iter([(name.clone(), serde_json::to_value(answer).unwrap())]);
        let again = call.with_input(required, responses);
        let result = client.call_tool(&again).await.unwrap().result().unwrap();
        assert_eq!(result.first_text(), Some(said));
    }
    let malformed = Map::from_iter([("confirm".to_owned(), json!("yes"))]);
    let call = CallToolParams { input_responses: Some(malformed), ..CallToolParams::new("delete") };
    let error = client.call_tool(&call).await.unwrap_err();
    assert_eq!(error.error_object().unwrap().code, -32602);

    for unable in [session(), session().with_capability("elicitation", json!({"url": {}}))] {
        let mut client = Client::connect_session(&server, unable).await.unwrap();
        let error = client.call_tool(&CallToolParams::new("delete")).await.unwrap_err();
        assert_eq!(error.error_object().unwrap().code, MISSING_REQUIRED_CLIENT_CAPABILITY);
    }
}
