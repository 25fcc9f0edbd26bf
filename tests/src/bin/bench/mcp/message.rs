use std::sync::Arc;

use ::tests::black_box::AnyError;
use serde_json::{Value, json};

use crate::{connection::Connection, lanes::Lane};

/// A message, and the headers that it needs beside those of every message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Message {
    /// One that describes itself, as of 2026-07-28.
    pub(super) fn modern(method: &str, mut params: Value) -> Self {
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

    /// One as of 2025-11-25, which a client sends after `initialize`.
    pub(super) fn legacy(method: &str, params: &Value) -> Self {
        let headers = vec![("MCP-Protocol-Version", "2025-11-25".to_owned())];
        Self { headers, body: body(method, params) }
    }
}

fn body(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// Where messages go, and with which token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Endpoint<'a> {
    pub(super) base_url: &'a str,
    pub(super) path: &'a str,
    pub(super) token: Option<&'a str>,
}

impl Endpoint<'_> {
    /// A lane that sends these messages over and over, from the one at `first` on. It has been seen that each of them is
    /// answered by a result that is no error.
    pub(super) fn lane(&self, messages: &[Message], first: usize) -> Result<Lane, AnyError> {
        let mut connection = Connection::open(self.base_url)?;
        let (path, token) = (self.path.to_owned(), self.token.map(str::to_owned));
        let ask = move |connection: &mut Connection, message: &Message| -> Result<(), AnyError> {
            let headers: Vec<_> =
                message.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            match connection.json_with(&path, token.as_deref(), &headers, &message.body)? {
                200 => Ok(()),
                status => Err(format!("{path} answered {status}: {}", shown(connection.body())).into()),
            }
        };
        for message in messages {
            ask(&mut connection, message)?;
            if !is_result(connection.body()) {
                return Err(format!("{}: {}", message.body, shown(connection.body())).into());
            }
        }
        let messages: Arc<[Message]> = messages.into();
        let mut next = first;
        Ok(Box::new(move || {
            let message = messages.get(next % messages.len()).ok_or("there is nothing to send")?;
            next += 1;
            ask(&mut connection, message)?;
            Ok(true)
        }))
    }
}

/// Whether an answer is a result, and not that of a failed tool.
fn is_result(body: &[u8]) -> bool {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    answer["result"].is_object() && answer["result"]["isError"] != true
}

fn shown(body: &[u8]) -> String {
    String::from_utf8_lossy(body.get(..300).unwrap_or(body)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modern_message_says_the_same_in_headers_and_body() {
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
    fn only_results_that_are_no_errors_are_measured() {
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
