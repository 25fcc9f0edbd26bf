//! Uses a server of another MCP library with the client of `mcp-wire`: in the revision that both agree on, and in each older
//! one. The server has the tools of `tests/node/servers`. The first deviation ends the program with an error.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Parser;
use mcp_wire::client::{
    Client, ClientError, HttpRequest, ResponseReader, Session, Transport, TransportError,
};
use mcp_wire::jsonrpc::INVALID_PARAMS;
use mcp_wire::lifecycle::Implementation;
use mcp_wire::{CallToolParams, CallToolResult, ProtocolVersion, headers, methods};
use serde_json::{Map, Value, json};

const TOOLS: [&str; 4] = ["count", "fail", "greet", "ping"];
/// The progress notifications of the tool `count`.
const PROGRESS: usize = 3;
/// Ends a test of a server that hangs. Long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

type AnyError = Box<dyn Error + Send + Sync>;

#[derive(Debug, Parser)]
#[command(name = "mcp_interop")]
#[command(about = "Uses a server of another MCP library with the client of mcp-wire")]
struct Options {
    /// URL of the server
    url: String,
    /// Revision that the client and the server agree on
    #[arg(long)]
    newest: ProtocolVersion,
    /// The server has sessions before revision 2026-07-28
    #[arg(long)]
    sessions: bool,
    /// Number of pages of the list of tools
    #[arg(long, default_value_t = 1)]
    pages: usize,
}

/// A request, with facts about its response that the client does not report.
struct Exchange {
    /// The method of the message; `None` for a reply to the server.
    method: Option<String>,
    session: Option<String>,
    is_stream: bool,
    /// The number of progress notifications.
    progress: usize,
}

/// Sends requests, and records them.
#[derive(Clone)]
struct Recorder {
    http: reqwest::Client,
    url: String,
    exchanges: Arc<Mutex<Vec<Exchange>>>,
}

impl Recorder {
    fn exchanges(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of requests of this method.
    fn count(&self, method: &str) -> usize {
        self.exchanges().iter().filter(|exchange| exchange.method.as_deref() == Some(method)).count()
    }

    /// The session of the last request.
    fn session(&self) -> Option<String> {
        self.exchanges().last().and_then(|exchange| exchange.session.clone())
    }

    /// Sends a request in a session without the client's knowledge, and returns the status.
    async fn status(&self, method: &str, session: &str, version: ProtocolVersion) -> Result<u16, AnyError> {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": methods::PING});
        let request = self
            .http
            .request(method.parse()?, &self.url)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header(headers::PROTOCOL_VERSION, version.as_str())
            .header(headers::SESSION_ID, session);
        let request = if method == "POST" { request.body(message.to_string()) } else { request };
        Ok(request.send().await?.status().as_u16())
    }
}

impl Transport for Recorder {
    async fn send(&self, request: &HttpRequest, reader: &mut ResponseReader) -> Result<(), TransportError> {
        let builder = self.http.request(request.method.parse()?, &self.url);
        let builder = request.headers.iter().fold(builder, |all, (name, value)| all.header(name, value));
        let mut response = builder.body(request.body.clone()).send().await?;
        let header = |name: &str| response.headers().get(name)?.to_str().ok();
        let is_stream = header("content-type").is_some_and(|value| value.starts_with("text/event-stream"));
        reader.start(response.status().as_u16(), header);
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            body.extend_from_slice(&chunk);
            if reader.push(&chunk).is_break() {
                break;
            }
        }
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let session = request.headers.iter().find(|(name, _)| name == headers::SESSION_ID);
        self.exchanges().push(Exchange {
            method: message.get("method").and_then(Value::as_str).map(str::to_owned),
            session: session.map(|(_, id)| id.clone()),
            is_stream,
            progress: String::from_utf8_lossy(&body).matches("notifications/progress").count(),
        });
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let options = Options::parse();
    use_server(&options, options.newest, None).await?;
    for version in ProtocolVersion::ALL.into_iter().filter(|version| version.is_legacy()) {
        use_server(&options, version, Some(version)).await?;
    }
    Ok(())
}

/// Connects and uses everything. `limit` is the newest revision that the client offers.
async fn use_server(
    options: &Options,
    expected: ProtocolVersion,
    limit: Option<ProtocolVersion>,
) -> Result<(), AnyError> {
    let http = reqwest::Client::builder().read_timeout(TIMEOUT).build()?;
    let recorder = Recorder { http, url: options.url.clone(), exchanges: Arc::default() };
    let info = Implementation::new("mcp_interop", "1");
    let session = Session::new(limit.unwrap_or(ProtocolVersion::V2026_07_28), info);
    let mut client = Client::connect_session(recorder.clone(), session).await?;
    assert_eq!(client.version(), expected);
    assert_eq!(client.server_info().map(|info| info.name.as_str()), Some("greeter"));

    let tools = client.list_tools().await?;
    let mut names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, TOOLS);
    assert_eq!(recorder.count(methods::TOOLS_LIST), options.pages);

    greet(&mut client).await?;
    count(&mut client, &recorder).await?;
    fail(&mut client).await?;
    if options.sessions && expected.is_legacy() {
        end_sessions(client, &recorder).await?;
    } else {
        assert_eq!(recorder.session(), None);
        client.close().await?;
    }
    println!("{expected}: {} requests", recorder.exchanges().len());
    Ok(())
}

async fn call(
    client: &mut Client<Recorder>,
    name: &str,
    arguments: &Value,
) -> Result<CallToolResult, ClientError> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let outcome = client.call_tool(&CallToolParams::new(name).with_arguments(arguments)).await?;
    Ok(outcome.result().unwrap_or_default())
}

async fn greet(client: &mut Client<Recorder>) -> Result<(), AnyError> {
    let result = call(client, "greet", &json!({"name": "Ada"})).await?;
    assert_eq!((result.first_text(), result.is_error), (Some("Hello, Ada!"), false));
    Ok(())
}

/// The server streams progress before the result.
async fn count(client: &mut Client<Recorder>, recorder: &Recorder) -> Result<(), AnyError> {
    let mut call = CallToolParams::new("count").with_argument("to", json!(PROGRESS));
    call.meta = Some(Map::from_iter([("progressToken".to_owned(), json!("counting"))]));
    let result = client.call_tool(&call).await?.result().ok_or("the tool requires input")?;
    assert_eq!(result.first_text(), Some("Counted to 3."));
    let exchanges = recorder.exchanges();
    let counting = exchanges.last().ok_or("no request")?;
    assert_eq!((counting.is_stream, counting.progress), (true, PROGRESS));
    Ok(())
}

/// A failing tool gives a result with an error. Libraries respond to wrong calls with such a result or with a JSON-RPC error.
async fn fail(client: &mut Client<Recorder>) -> Result<(), AnyError> {
    let failed = call(client, "fail", &json!({})).await?;
    let text = failed.first_text().unwrap_or_default();
    assert!(failed.is_error && text.contains("on purpose"), "{failed:?}");
    for (name, arguments) in [("greet", json!({})), ("greet", json!({"name": [1]})), ("leave", json!({}))] {
        match call(client, name, &arguments).await {
            Ok(result) => assert!(result.is_error, "{name} {arguments}: {result:?}"),
            Err(error) => {
                let code = error.error_object().map(|error| error.code);
                assert_eq!(code, Some(INVALID_PARAMS), "{name} {arguments}: {error}");
            }
        }
    }
    Ok(())
}

/// The client replies to the server's ping, opens a new session after the server has ended one, and ends its own session.
async fn end_sessions(mut client: Client<Recorder>, recorder: &Recorder) -> Result<(), AnyError> {
    let result = call(&mut client, "ping", &json!({})).await?;
    assert_eq!((result.first_text(), result.is_error), (Some("The client replied."), false));

    let version = client.version();
    let first = recorder.session().ok_or("no session")?;
    let status = recorder.status("DELETE", &first, version).await?;
    assert!((200..300).contains(&status), "the server ends its session with {status}");
    greet(&mut client).await?;
    let second = recorder.session().ok_or("no session")?;
    assert_ne!(first, second);
    assert_eq!(recorder.count(methods::INITIALIZE), 2);

    assert_eq!(recorder.status("POST", &second, version).await?, 200);
    client.close().await?;
    assert_eq!(recorder.status("POST", &second, version).await?, 404);
    Ok(())
}
