//! Messages of the Model Context Protocol.

use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use mcp_wire::client::EventParser;
use mcp_wire::headers::MessageHeaders;
use mcp_wire::lifecycle::Implementation;
use mcp_wire::server::{Server, ServerResponse};
use mcp_wire::{CallToolResult, Resource, Tool, content, jsonrpc};
use serde_json::json;

/// Strict JSON accepts only documents that serde_json accepts, and reads the same value from them.
pub(crate) fn json(bytes: &[u8]) {
    if let Ok(value) = strict_json::parse(bytes) {
        let lenient: Option<serde_json::Value> = serde_json::from_slice(bytes).ok();
        assert_eq!(Some(value), lenient);
    }
}

/// Client messages and server responses.
pub(crate) fn mcp(bytes: &[u8]) {
    if let Err(failure) = jsonrpc::Incoming::parse(bytes) {
        let _ = serde_json::to_string(&failure.into_response());
    }
    let _ = jsonrpc::Response::parse(bytes);
}

/// A POST request. The first three lines are the headers `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name`; an empty
/// line means no header. The rest is the body. The response is one line of JSON-RPC with a status that the protocol
/// defines; a notification gets no body.
pub(crate) fn mcp_server(bytes: &[u8]) {
    let mut lines = bytes.splitn(4, |byte| *byte == b'\n');
    let headers = MessageHeaders::from_fn(|_| {
        let line = lines.next().unwrap_or_default();
        (!line.is_empty()).then(|| String::from_utf8_lossy(line))
    });
    let ServerResponse { status, body, .. } = respond(&headers, lines.next().unwrap_or_default());
    match body {
        None => assert_eq!(status, 202),
        Some(body) => {
            assert!([200, 400, 404].contains(&status), "{status}");
            assert!(!body.contains(&b'\n'));
            let answer = jsonrpc::Response::parse(&body);
            assert!(answer.is_ok(), "{:?} {}", answer, String::from_utf8_lossy(&body));
        }
    }
}

/// An event stream, whose first byte says how long its chunks are. The chunks give the same events as the whole.
pub(crate) fn event_stream(bytes: &[u8]) {
    let Some((length, stream)) = bytes.split_first() else { return };
    let whole = EventParser::new(usize::MAX).push(stream);
    let mut parser = EventParser::new(usize::MAX);
    let chunks = stream.chunks(usize::from(*length).max(1));
    let events: Result<Vec<_>, _> = chunks.map(|chunk| parser.push(chunk)).collect();
    assert_eq!(events.map(|events| events.concat()), whole);
    // A short limit only ends the stream early.
    let _ = EventParser::new(16).push(stream);
}

/// The response of a server whose tools never wait.
fn respond(headers: &MessageHeaders<'_>, body: &[u8]) -> ServerResponse {
    static SERVER: LazyLock<Server<()>> = LazyLock::new(|| {
        let page = content::ResourceContents::text("ui://x", "text/html", "<p>");
        Server::builder(Implementation::new("fuzzed", "1"))
            .tool(Tool::new("echo", "Returns its arguments.", json!({"type": "object"})), |call| {
                let result = CallToolResult::structured(call.params.arguments.into());
                Box::pin(std::future::ready(result.into()))
            })
            .resource(Resource::new("ui://x", "page"), move |()| std::future::ready(vec![page.clone()]))
            .build()
            .unwrap_or_else(|error| unreachable!("the server is valid: {error}"))
    });
    let mut response = pin!(SERVER.handle((), headers, body));
    match response.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => response,
        Poll::Pending => unreachable!("the tool never waits"),
    }
}
