//! A client's requests and their headers.

use std::collections::HashMap;
use std::convert::Infallible;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{ResponseError, ResponseReader};
use crate::headers::{HeaderParameter, declared_parameters};
use crate::jsonrpc::{Notification, Params, Request, RequestId};
use crate::lifecycle::{DiscoverResult, Implementation, InitializeParams, InitializeResult};
use crate::prompts::{GetPromptParams, ListPromptsResult, PromptOutcome};
use crate::resources::{ListResourcesResult, ReadResourceParams, ReadResourceResult};
use crate::tools::ToolOutcome;
use crate::{
    CallToolParams, ListToolsParams, ListToolsResult, ProtocolVersion, Tool, headers, methods, request_meta,
};

/// A client's side of the protocol: its revision, description and capabilities, the id of its next request, and the
/// headers that tools declare. It sends nothing itself; [`Client`](super::Client) does.
///
/// To connect, send [`Session::discover`] in the newest revision. If the server returns a result, use
/// [`DiscoverResult::best_version`](crate::lifecycle::DiscoverResult::best_version). If it returns an error, it is a legacy
/// server: send [`Session::initialize`] with [`ProtocolVersion::LATEST_LEGACY`], switch to the returned revision and
/// session id, and send [`Session::initialized`].
///
/// ```
/// use mcp_wire::client::Session;
/// use mcp_wire::lifecycle::Implementation;
/// use mcp_wire::{CallToolParams, ProtocolVersion};
/// use serde_json::json;
///
/// let mut session = Session::new(ProtocolVersion::V2026_07_28, Implementation::new("greeter-app", "1.0"));
/// let call = session.call_tool(&CallToolParams::new("greet").with_argument("name", json!("Ada")))?;
/// // Send `call.http` and pass on the response:
/// assert!(call.http.headers.contains(&("mcp-name".to_owned(), "greet".to_owned())));
/// let mut reader = call.reader();
/// reader.start(200, |name| (name == "content-type").then_some("text/event-stream"));
/// let _ = reader.push(b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":");
/// let _ = reader.push(b"[{\"type\":\"text\",\"text\":\"Hello, Ada!\"}]}}\n\n");
///
/// let result = call.finish(reader)?.result().ok_or("it requires input")?;
/// assert_eq!(result.first_text(), Some("Hello, Ada!"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Session {
    version: ProtocolVersion,
    info: Implementation,
    capabilities: Map<String, Value>,
    next_id: i64,
    session_id: Option<String>,
    /// The headers that repeat arguments, by tool.
    header_parameters: HashMap<String, Vec<HeaderParameter>>,
}

/// An HTTP request to the server's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The method: POST, or DELETE at the end of a session.
    pub method: &'static str,
    /// The headers, with names in lower case. `Authorization` is up to the transport.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A request to send; its result is an `R`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientRequest<R> {
    /// The request to send.
    pub http: HttpRequest,
    id: RequestId,
    /// A request without a body, for replies to the server.
    empty_reply: HttpRequest,
    result: PhantomData<fn() -> R>,
}

impl Session {
    /// A client of this revision without capabilities.
    pub fn new(version: ProtocolVersion, info: Implementation) -> Self {
        Self {
            version,
            info,
            capabilities: Map::new(),
            next_id: 1,
            session_id: None,
            header_parameters: HashMap::new(),
        }
    }

    /// Adds a capability, such as `elicitation`.
    #[must_use]
    pub fn with_capability(mut self, name: impl Into<String>, value: Value) -> Self {
        self.capabilities.insert(name.into(), value);
        self
    }

    /// Switches to another revision, the one agreed on by `initialize` or `server/discover`.
    pub fn set_version(&mut self, version: ProtocolVersion) {
        self.version = version;
    }

    /// The revision of the next request.
    pub fn version(&self) -> ProtocolVersion {
        self.version
    }

    /// Sets or removes the id of the session, which the response to [`initialize`](Self::initialize) may have; see
    /// [`ResponseReader::session_id`].
    pub fn set_session_id(&mut self, session_id: Option<String>) {
        self.session_id = session_id;
    }

    /// The id of the session, before revision 2026-07-28.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// Keeps the headers that listed tools declare for arguments, so that [`call_tool`](Self::call_tool) sends them.
    /// Removes the tools whose declarations are invalid, as revision 2026-07-28 requires. Earlier revisions have none.
    pub fn keep_header_parameters(&mut self, tools: &mut Vec<Tool>) {
        if self.version.is_legacy() {
            return;
        }
        tools.retain(|tool| {
            let declared = declared_parameters(&tool.input_schema);
            let is_valid = declared.is_ok();
            self.header_parameters.insert(tool.name.clone(), declared.unwrap_or_default());
            is_valid
        });
    }

    /// Asks for the server's description and capabilities, from revision 2026-07-28 on.
    ///
    /// # Errors
    /// If the message cannot be serialised as JSON.
    pub fn discover(&mut self) -> serde_json::Result<ClientRequest<DiscoverResult>> {
        self.request(methods::DISCOVER, None, &Map::new())
    }

    /// Opens a session, before revision 2026-07-28.
    ///
    /// # Errors
    /// If the message cannot be serialised as JSON.
    pub fn initialize(&mut self) -> serde_json::Result<ClientRequest<InitializeResult>> {
        let mut params = InitializeParams::new(self.version.as_str(), self.info.clone());
        params.capabilities = self.capabilities.clone();
        self.request(methods::INITIALIZE, None, &params)
    }

    /// The notification that the response to [`initialize`](Self::initialize) was received. It has no response.
    ///
    /// # Errors
    /// If the message cannot be serialised as JSON.
    pub fn initialized(&self) -> serde_json::Result<ClientRequest<Infallible>> {
        let body = serde_json::to_vec(&Notification::new(methods::INITIALIZED, None))?;
        let headers = self.headers(Some(methods::INITIALIZED), None);
        Ok(self.client_request(headers, body, RequestId::Integer(0)))
    }

    /// Ends the session, if it has an id. The server may refuse.
    pub fn close(&mut self) -> Option<HttpRequest> {
        self.session_id.as_ref()?;
        let headers = self.headers(None, None);
        self.session_id = None;
        Some(HttpRequest { method: "DELETE", headers, body: Vec::new() })
    }

    /// Lists the tools.
    ///
    /// # Errors
    /// If the message cannot be serialised as JSON.
    pub fn list_tools(
        &mut self,
        params: &ListToolsParams,
    ) -> serde_json::Result<ClientRequest<ListToolsResult>> {
        self.request(methods::TOOLS_LIST, None, params)
    }

    /// Calls a tool, with the headers that [`keep_header_parameters`](Self::keep_header_parameters) found. The tool may
    /// require input from a client that declares the capability.
    ///
    /// # Errors
    /// If the message cannot be serialised as JSON.
    pub fn call_tool(&mut self, call: &CallToolParams) -> serde_json::Result<ClientRequest<ToolOutcome>> {
        let mut request = self.request(methods::TOOLS_CALL, Some(&call.name), call)?;
        for parameter in self.header_parameters.get(&call.name).into_iter().flatten() {
            let value = parameter.value(&call.arguments);
            request.http.headers.extend(value.map(|value| (parameter.header.clone(), value)));
        }
        Ok(request)
    }

    /// Lists the prompts.
    ///
    /// # Errors
    /// If the message cannot be serialised as JSON.
    pub fn list_prompts(&mut self) -> serde_json::Result<ClientRequest<ListPromptsResult>> {
        self.request(methods::PROMPTS_LIST, None, &Map::new())
    }

    /// Gets the messages of a prompt. It may require input from a client that declares the capability.
    ///
    /// # Errors
    /// If the message cannot be serialised as JSON.
    pub fn get_prompt(
        &mut self,
        params: &GetPromptParams,
    ) -> serde_json::Result<ClientRequest<PromptOutcome>> {
        self.request(methods::PROMPTS_GET, Some(&params.name), params)
    }

    /// Lists the resources.
    ///
    /// # Errors
    /// If the message cannot be serialised as JSON.
    pub fn list_resources(&mut self) -> serde_json::Result<ClientRequest<ListResourcesResult>> {
        self.request(methods::RESOURCES_LIST, None, &Map::new())
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// If the message cannot be serialised as JSON.
    pub fn read_resource(&mut self, uri: &str) -> serde_json::Result<ClientRequest<ReadResourceResult>> {
        self.request(methods::RESOURCES_READ, Some(uri), &ReadResourceParams::new(uri))
    }

    /// Any other request; `name` is the value of the header `Mcp-Name`, for methods that need it.
    ///
    /// # Errors
    /// If the parameters cannot be serialised as a JSON object.
    pub fn request<P: Serialize, R>(
        &mut self,
        method: &str,
        name: Option<&str>,
        params: &P,
    ) -> serde_json::Result<ClientRequest<R>> {
        let id = RequestId::Integer(self.next_id);
        self.next_id += 1;
        let mut params: Map<String, Value> = serde_json::from_value(serde_json::to_value(params)?)?;
        if !self.version.is_legacy() {
            let client_meta = request_meta::for_client(self.version, &self.info, &self.capabilities);
            let meta = params.entry("_meta").or_insert_with(|| Map::new().into());
            if let Value::Object(meta) = meta {
                meta.extend(client_meta);
            }
        }
        let params = (!params.is_empty()).then_some(Params::Object(params));
        let body = serde_json::to_vec(&Request::new(id.clone(), method, params))?;
        let headers = self.headers(Some(method), name);
        Ok(self.client_request(headers, body, id))
    }

    fn client_request<R>(
        &self,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
        id: RequestId,
    ) -> ClientRequest<R> {
        let post = |headers, body| HttpRequest { method: "POST", headers, body };
        let empty_reply = post(self.headers(None, None), Vec::new());
        ClientRequest { http: post(headers, body), id, empty_reply, result: PhantomData }
    }

    fn headers(&self, method: Option<&str>, name: Option<&str>) -> Vec<(String, String)> {
        let mut all = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ];
        if method != Some(methods::INITIALIZE) {
            all.push((headers::PROTOCOL_VERSION, self.version.to_string()));
        }
        if self.version.is_legacy() {
            all.extend(self.session_id.clone().map(|id| (headers::SESSION_ID, id)));
        } else {
            all.extend(method.map(|method| (headers::METHOD, method.to_owned())));
            all.extend(name.map(|name| (headers::NAME, headers::encode(name).into_owned())));
        }
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl<R> ClientRequest<R> {
    /// A reader of the response.
    pub fn reader(&self) -> ResponseReader {
        ResponseReader::new(self.id.clone(), self.empty_reply.clone())
    }
}

impl<R: DeserializeOwned> ClientRequest<R> {
    /// The result, after the whole response was read.
    ///
    /// # Errors
    /// [`ResponseError`].
    pub fn finish(&self, reader: ResponseReader) -> Result<R, ResponseError> {
        Ok(reader.finish()?.into_result()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::CallError;
    use serde_json::json;

    fn session(version: ProtocolVersion) -> Session {
        Session::new(version, Implementation::new("c", "1")).with_capability("elicitation", json!({}))
    }

    fn body<R>(request: &ClientRequest<R>) -> Value {
        serde_json::from_slice(&request.http.body).unwrap()
    }

    fn has<R>(request: &ClientRequest<R>, name: &str, value: &str) -> bool {
        request.http.headers.contains(&(name.to_owned(), value.to_owned()))
    }

    /// Reads a response of the type JSON.
    fn read<R: DeserializeOwned>(request: &ClientRequest<R>, body: &[u8]) -> Result<R, ResponseError> {
        let mut reader = request.reader();
        reader.start(200, |name| (name == "content-type").then_some("application/json"));
        assert!(reader.push(body).is_continue());
        request.finish(reader)
    }

    #[test]
    fn a_legacy_session_sends_its_revision_after_initialize() {
        let mut session = session(ProtocolVersion::V2025_11_25);
        let opening = session.initialize().unwrap();
        assert_eq!(body(&opening)["params"]["capabilities"], json!({"elicitation": {}}));
        assert!(opening.http.headers.iter().all(|(name, _)| name != headers::PROTOCOL_VERSION));
        session.set_version(ProtocolVersion::V2025_06_18);
        let list = session.list_tools(&ListToolsParams::default()).unwrap();
        assert_eq!(body(&list), json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
        assert!(has(&list, headers::PROTOCOL_VERSION, "2025-06-18"));
        assert_eq!(body(&session.initialized().unwrap())["method"], methods::INITIALIZED);
    }

    #[test]
    fn a_modern_request_describes_itself_in_meta_and_headers() {
        let mut session = session(ProtocolVersion::V2026_07_28);
        let read = session.read_resource("ui://größe").unwrap();
        let sent = body(&read);
        assert_eq!(sent["params"]["uri"], "ui://größe");
        assert_eq!(sent["params"]["_meta"][request_meta::PROTOCOL_VERSION], "2026-07-28");
        assert_eq!(sent["params"]["_meta"][request_meta::CLIENT_CAPABILITIES], json!({"elicitation": {}}));
        for (name, value) in [
            (headers::PROTOCOL_VERSION, "2026-07-28"),
            (headers::METHOD, "resources/read"),
            (headers::NAME, &headers::encode("ui://größe")),
        ] {
            assert!(has(&read, name, value), "{name}");
        }
    }

    #[test]
    fn a_session_id_is_sent_until_the_session_is_closed() {
        let mut session = session(ProtocolVersion::V2025_11_25);
        session.set_session_id(Some("s1".to_owned()));
        assert!(has(&session.list_resources().unwrap(), headers::SESSION_ID, "s1"));
        assert!(has(&session.initialized().unwrap(), headers::SESSION_ID, "s1"));
        let close = session.close().unwrap();
        assert_eq!(close.method, "DELETE");
        assert!(close.headers.contains(&(headers::SESSION_ID.to_owned(), "s1".to_owned())));
        assert_eq!((session.close(), session.session_id()), (None, None));
    }

    #[test]
    fn arguments_are_repeated_in_the_headers_that_tools_declare() {
        let tool = |name: &str, header: &str| {
            let region = json!({"type": "string", "x-mcp-header": header});
            Tool::new(name, "", json!({"type": "object", "properties": {"region": region}}))
        };
        for (version, names, sent) in [
            (ProtocolVersion::V2026_07_28, &["t"][..], true),
            (ProtocolVersion::V2025_11_25, &["t", "invalid"], false),
        ] {
            let mut session = session(version);
            let mut tools = vec![tool("t", "Region"), tool("invalid", "two words")];
            session.keep_header_parameters(&mut tools);
            assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), names);
            let call = CallToolParams::new("t").with_argument("region", json!("us"));
            assert_eq!(has(&session.call_tool(&call).unwrap(), "mcp-param-region", "us"), sent);
        }
    }

    #[test]
    fn an_input_required_result_is_recognised() {
        let mut session = session(ProtocolVersion::V2026_07_28);
        let call = session.call_tool(&CallToolParams::new("t")).unwrap();
        let answered = |result: Value| {
            let response = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
            read(&call, response.as_bytes()).unwrap()
        };
        let asked = json!({"resultType": "input_required", "inputRequests": {"q": {"method": "roots/list"}}});
        let ToolOutcome::InputRequired(asked) = answered(asked) else { panic!("it requires input") };
        assert_eq!(asked.input_requests.unwrap()["q"]["method"], "roots/list");
        let result = answered(json!({"content": [{"type": "text", "text": "a"}]})).result().unwrap();
        assert_eq!(result.first_text(), Some("a"));
    }

    #[test]
    fn a_response_to_another_request_is_refused() {
        let mut session = session(ProtocolVersion::V2026_07_28);
        let list = session.list_tools(&ListToolsParams::default()).unwrap();
        let answered = |id: Value, member: &str, value: Value| {
            read(&list, json!({"jsonrpc": "2.0", "id": id, member: value}).to_string().as_bytes())
        };
        assert_eq!(answered(json!(1), "result", json!({"tools": []})).unwrap(), ListToolsResult::default());
        assert!(matches!(
            answered(json!(2), "result", json!({"tools": []})),
            Err(ResponseError::OtherRequest)
        ));
        let refused = json!({"code": -32601, "message": "m"});
        for id in [json!(1), json!(null)] {
            assert!(matches!(
                answered(id, "error", refused.clone()),
                Err(ResponseError::Call(CallError::Refused(_)))
            ));
        }
        assert!(matches!(read(&list, b"<html>"), Err(ResponseError::NotAResponse(_))));
    }
}
