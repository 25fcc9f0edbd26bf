//! A client's messages and the reading of their answers. Sending them is the work of whoever has an HTTP client:
//! each is one POST to the server's URL, and its answer one JSON body.
//!
//! For servers without sessions that answer in JSON, as the newest revision allows and this crate's own server does: a server that
//! answers by an event stream, or insists on `Mcp-Session-Id`, needs a transport that knows these.
//!
//! How a client begins: send [`Session::discover`] in the newest revision. When the answer is a result, go on
//! with [`DiscoverResult::best_version`](crate::lifecycle::DiscoverResult::best_version); when it is refused (a server of
//! the era of `initialize` knows neither the revision nor the method), send [`Session::initialize`] in a session of
//! [`ProtocolVersion::LATEST_LEGACY`], go on in the revision that comes back, and tell the server so by
//! [`Session::initialized`]. `examples/client.rs` does that.

use std::convert::Infallible;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::jsonrpc::{CallError, Notification, Params, ParseFailure, Request, RequestId, Response};
use crate::lifecycle::{DiscoverResult, Implementation, InitializeParams, InitializeResult};
use crate::resources::{ListResourcesResult, ReadResourceParams, ReadResourceResult};
use crate::tools::ToolOutcome;
use crate::{
    CallToolParams, ListToolsParams, ListToolsResult, ProtocolVersion, headers, methods, request_meta,
};

/// What a client says of itself, and the number of its next request.
#[derive(Debug, Clone)]
pub struct Session {
    version: ProtocolVersion,
    info: Implementation,
    capabilities: Map<String, Value>,
    next_id: i64,
}

/// A request to be sent, whose result is an `R`.
#[derive(Debug, Clone)]
pub struct Outgoing<R> {
    /// The headers that the protocol wants beside `Authorization`: `content-type`, `accept` and those of the revision.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    id: RequestId,
    result: PhantomData<fn() -> R>,
}

/// Why an answer gives no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// It is no JSON-RPC answer.
    #[error("the body is not an answer: {0}")]
    NotAnAnswer(#[from] ParseFailure),
    /// It answers another request.
    #[error("the answer is that of another request")]
    OtherRequest,
    /// It is an error, or a result of an unexpected form.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl Session {
    /// A client that speaks this revision and declares no capability.
    pub fn new(version: ProtocolVersion, info: Implementation) -> Self {
        Self { version, info, capabilities: Map::new(), next_id: 1 }
    }

    /// The same with a capability, such as `elicitation`.
    #[must_use]
    pub fn with_capability(mut self, name: impl Into<String>, value: Value) -> Self {
        self.capabilities.insert(name.into(), value);
        self
    }

    /// Goes on in another revision, the one that `initialize` or `server/discover` agreed on.
    pub fn speak(&mut self, version: ProtocolVersion) {
        self.version = version;
    }

    /// The revision that is spoken.
    pub fn version(&self) -> ProtocolVersion {
        self.version
    }

    /// Who is the server, and what can it do? From revision 2026-07-28 on.
    ///
    /// # Errors
    /// When the message cannot be written as JSON.
    pub fn discover(&mut self) -> serde_json::Result<Outgoing<DiscoverResult>> {
        self.request(methods::DISCOVER, None, &Map::new())
    }

    /// Opens a session, before revision 2026-07-28.
    ///
    /// # Errors
    /// When the message cannot be written as JSON.
    pub fn initialize(&mut self) -> serde_json::Result<Outgoing<InitializeResult>> {
        let mut params = InitializeParams::new(self.version.as_str(), self.info.clone());
        params.capabilities = self.capabilities.clone();
        self.request(methods::INITIALIZE, None, &params)
    }

    /// Tells the server that its answer to [`initialize`](Self::initialize) was read. There is no answer to this.
    ///
    /// # Errors
    /// When the message cannot be written as JSON.
    pub fn initialized(&self) -> serde_json::Result<Outgoing<Infallible>> {
        let body = serde_json::to_vec(&Notification::new(methods::INITIALIZED, None))?;
        let headers = self.headers(methods::INITIALIZED, None);
        Ok(Outgoing { headers, body, id: RequestId::Integer(0), result: PhantomData })
    }

    /// Which tools are there?
    ///
    /// # Errors
    /// When the message cannot be written as JSON.
    pub fn list_tools(&mut self, params: &ListToolsParams) -> serde_json::Result<Outgoing<ListToolsResult>> {
        self.request(methods::TOOLS_LIST, None, params)
    }

    /// Runs a tool, which may ask back a client that declares a capability to answer.
    ///
    /// # Errors
    /// When the message cannot be written as JSON.
    pub fn call_tool(&mut self, call: &CallToolParams) -> serde_json::Result<Outgoing<ToolOutcome>> {
        self.request(methods::TOOLS_CALL, Some(&call.name), call)
    }

    /// Which resources are there?
    ///
    /// # Errors
    /// When the message cannot be written as JSON.
    pub fn list_resources(&mut self) -> serde_json::Result<Outgoing<ListResourcesResult>> {
        self.request(methods::RESOURCES_LIST, None, &Map::new())
    }

    /// What does a resource hold?
    ///
    /// # Errors
    /// When the message cannot be written as JSON.
    pub fn read_resource(&mut self, uri: &str) -> serde_json::Result<Outgoing<ReadResourceResult>> {
        self.request(methods::RESOURCES_READ, Some(uri), &ReadResourceParams::new(uri))
    }

    /// Any other request; `name` is what the header `Mcp-Name` says, for the methods that have it.
    ///
    /// # Errors
    /// When the parameters cannot be written as a JSON object.
    pub fn request<P: Serialize, R>(
        &mut self,
        method: &str,
        name: Option<&str>,
        params: &P,
    ) -> serde_json::Result<Outgoing<R>> {
        let id = RequestId::Integer(self.next_id);
        self.next_id += 1;
        let mut params: Map<String, Value> = serde_json::from_value(serde_json::to_value(params)?)?;
        if !self.version.is_legacy() {
            let described = request_meta::of_client(self.version, &self.info, &self.capabilities);
            let meta = params.entry("_meta").or_insert_with(|| Map::new().into());
            if let Value::Object(meta) = meta {
                meta.extend(described);
            }
        }
        let params = (!params.is_empty()).then_some(Params::Object(params));
        let body = serde_json::to_vec(&Request::new(id.clone(), method, params))?;
        Ok(Outgoing { headers: self.headers(method, name), body, id, result: PhantomData })
    }

    fn headers(&self, method: &str, name: Option<&str>) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ];
        if method != methods::INITIALIZE {
            all.push((headers::PROTOCOL_VERSION, self.version.to_string()));
        }
        if !self.version.is_legacy() {
            all.push((headers::METHOD, method.to_owned()));
            all.extend(name.map(|name| (headers::NAME, headers::encoded(name).into_owned())));
        }
        all
    }
}

impl<R: DeserializeOwned> Outgoing<R> {
    /// Reads the answer, whatever its status was.
    ///
    /// # Errors
    /// [`AnswerError`].
    pub fn read(&self, body: &[u8]) -> Result<R, AnswerError> {
        let response = Response::parse(body)?;
        let is_ours = match &response {
            // An error whose sender could not read the id has none.
            Response::Failure { id: None, .. } => true,
            response => response.id() == Some(&self.id),
        };
        if !is_ours {
            return Err(AnswerError::OtherRequest);
        }
        Ok(response.into_result()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn session(version: ProtocolVersion) -> Session {
        Session::new(version, Implementation::new("c", "1")).with_capability("elicitation", json!({}))
    }

    fn body<R>(outgoing: &Outgoing<R>) -> Value {
        serde_json::from_slice(&outgoing.body).unwrap()
    }

    #[test]
    fn a_legacy_session_is_opened_and_then_says_its_revision() {
        let mut session = session(ProtocolVersion::V2025_11_25);
        let opening = session.initialize().unwrap();
        assert_eq!(body(&opening)["params"]["capabilities"], json!({"elicitation": {}}));
        assert!(opening.headers.iter().all(|(name, _)| *name != headers::PROTOCOL_VERSION));
        session.speak(ProtocolVersion::V2025_06_18);
        let list = session.list_tools(&ListToolsParams::default()).unwrap();
        assert_eq!(body(&list), json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
        assert!(list.headers.contains(&(headers::PROTOCOL_VERSION, "2025-06-18".into())));
        assert_eq!(body(&session.initialized().unwrap())["method"], methods::INITIALIZED);
    }

    #[test]
    fn a_modern_message_describes_itself_twice() {
        let mut session = session(ProtocolVersion::V2026_07_28);
        let read = session.read_resource("ui://größe").unwrap();
        let sent = body(&read);
        assert_eq!(sent["params"]["uri"], "ui://größe");
        assert_eq!(sent["params"]["_meta"][request_meta::PROTOCOL_VERSION], "2026-07-28");
        assert_eq!(sent["params"]["_meta"][request_meta::CLIENT_CAPABILITIES], json!({"elicitation": {}}));
        for header in [
            (headers::PROTOCOL_VERSION, "2026-07-28".to_owned()),
            (headers::METHOD, "resources/read".to_owned()),
            (headers::NAME, headers::encoded("ui://größe").into_owned()),
        ] {
            assert!(read.headers.contains(&header), "{header:?}");
        }
    }

    #[test]
    fn a_server_that_asks_back_is_not_taken_for_one_that_answers() {
        let mut session = session(ProtocolVersion::V2026_07_28);
        let call = session.call_tool(&CallToolParams::new("t")).unwrap();
        let answered = |result: Value| {
            let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
            call.read(answer.as_bytes()).unwrap()
        };
        let asked = json!({"resultType": "input_required", "inputRequests": {"q": {"method": "roots/list"}}});
        let ToolOutcome::InputRequired(asked) = answered(asked) else { panic!("it asks") };
        assert_eq!(asked.input_requests.unwrap()["q"]["method"], "roots/list");
        let result = answered(json!({"content": [{"type": "text", "text": "a"}]})).result().unwrap();
        assert_eq!(result.first_text(), Some("a"));
    }

    #[test]
    fn only_the_answer_to_the_request_is_read() {
        let mut session = session(ProtocolVersion::V2026_07_28);
        let list = session.list_tools(&ListToolsParams::default()).unwrap();
        let answered = |id: Value, member: &str, value: Value| {
            list.read(json!({"jsonrpc": "2.0", "id": id, member: value}).to_string().as_bytes())
        };
        assert_eq!(answered(json!(1), "result", json!({"tools": []})).unwrap(), ListToolsResult::default());
        assert!(matches!(answered(json!(2), "result", json!({"tools": []})), Err(AnswerError::OtherRequest)));
        let refused = json!({"code": -32601, "message": "m"});
        for id in [json!(1), json!(null)] {
            assert!(matches!(
                answered(id, "error", refused.clone()),
                Err(AnswerError::Call(CallError::Refused(_)))
            ));
        }
        assert!(matches!(list.read(b"<html>"), Err(AnswerError::NotAnAnswer(_))));
    }
}
