use std::sync::Arc;

use ::tests::black_box::AnyError;
use serde_json::{Value, json};

use crate::{closed_loop::LoadClient, connection::Connection};

/// A JSON-RPC message with its additional HTTP headers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Message {
    /// A stateless message of revision 2026-07-28.
    pub(crate) fn modern(method: &str, mut params: Value) -> Self {
        const REVISION: &str = "2026-07-28";
        let mut headers =
            vec![("MCP-Protocol-Version", REVISION.to_owned()), ("Mcp-Method", method.to_owned())];
        headers.extend(params["name"].as_str().map(|name| ("Mcp-Name", name.to_owned())));
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0.0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        Self { headers, body: body(method, &params) }
    }

    /// A message of revision 2025-11-25, as sent after `initialize`.
    pub(crate) fn legacy(method: &str, params: &Value) -> Self {
        let headers = vec![("MCP-Protocol-Version", "2025-11-25".to_owned())];
        Self { headers, body: body(method, params) }
    }
}

fn body(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// An MCP endpoint with a token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Endpoint<'a> {
    pub(crate) base_url: &'a str,
    pub(crate) path: &'a str,
    pub(crate) token: Option<&'a str>,
}

impl Endpoint<'_> {
    /// A client that sends these messages in turn, starting with the one at `first`. Each message is first sent once, and must
    /// give a result without an error.
    pub(crate) fn client(&self, messages: &[Message], first: usize) -> Result<LoadClient, AnyError> {
        let mut connection = Connection::open(self.base_url)?;
        let (path, token) = (self.path.to_owned(), self.token.map(str::to_owned));
        let send = move |connection: &mut Connection, message: &Message| -> Result<(), AnyError> {
            let headers: Vec<_> =
                message.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            match connection.json_with(&path, token.as_deref(), &headers, &message.body)? {
                200 => Ok(()),
                status => Err(format!("{path} answered {status}: {}", shown(connection.body())).into()),
            }
        };
        for message in messages {
            send(&mut connection, message)?;
            if !is_result(connection.body()) {
                return Err(format!("{}: {}", message.body, shown(connection.body())).into());
            }
        }
        let messages: Arc<[Message]> = messages.into();
        let mut next = first;
        Ok(Box::new(move || {
            let message = messages.get(next % messages.len()).ok_or("no messages")?;
            next += 1;
            send(&mut connection, message)?;
            Ok(true)
        }))
    }
}

/// Whether a response is the result of a successful call.
fn is_result(body: &[u8]) -> bool {
    let response: Value = serde_json::from_slice(body).unwrap_or_default();
    response["result"].is_object() && response["result"]["isError"] != true
}

fn shown(body: &[u8]) -> String {
    String::from_utf8_lossy(body.get(..300).unwrap_or(body)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_a_modern_message_match_its_body() {
        let message = Message::modern("tools/call", json!({"name": "echo"}));
        let expect =
            [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")];
        assert_eq!(message.headers, expect.map(|(name, value)| (name, value.to_owned())));
        let body: Value = serde_json::from_str(&message.body).unwrap();
        assert_eq!(body["method"], "tools/call");
        assert_eq!(body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert_eq!(Message::modern("tools/list", json!({})).headers.len(), 2);
    }

    #[test]
    fn error_results_are_recognised() {
        for (body, expect) in [
            (r#"{"result":{}}"#, true),
            (r#"{"result":{"isError":false}}"#, true),
            (r#"{"result":{"isError":true}}"#, false),
            (r#"{"error":{}}"#, false),
            ("", false),
        ] {
            assert_eq!(is_result(body.as_bytes()), expect, "{body}");
        }
    }
}
