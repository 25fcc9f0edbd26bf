//! A client's requests and their responses. The caller sends them with an HTTP client of its own: each is one POST to
//! the server's URL, and the response is one JSON body.
//!
//! For servers without sessions that respond with JSON, such as this crate's own. Event streams and `Mcp-Session-Id`
//! are not supported.
//!
//! To connect, send [`Session::discover`] in the newest revision. If the server returns a result, use
//! [`DiscoverResult::best_version`](crate::lifecycle::DiscoverResult::best_version). If it returns an error, it is a legacy
//! server: send [`Session::initialize`] with [`ProtocolVersion::LATEST_LEGACY`], switch to the returned revision, and
//! send [`Session::initialized`]. See `examples/client.rs`.

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

/// A client's revision, description and capabilities, and the id of its next request.
#[derive(Debug, Clone)]
pub struct Session {
    version: ProtocolVersion,
    info: Implementation,
    capabilities: Map<String, Value>,
    next_id: i64,
}

/// A request to send; its result is an `R`.
#[derive(Debug, Clone)]
pub struct ClientRequest<R> {
    /// The headers to send besides `Authorization`: `content-type`, `accept` and those of the revision.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    id: RequestId,
    result: PhantomData<fn() -> R>,
}

/// Why a response has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// It is not a JSON-RPC response.
    #[error("the body is not a response: {0}")]
    NotAResponse(#[from] ParseFailure),
    /// It has the id of another request.
    #[error("the response has the id of another request")]
    OtherRequest,
    /// It is an error, or the result has an unexpected type.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl Session {
    /// A client of this revision without capabilities.
    pub fn new(version: ProtocolVersion, info: Implementation) -> Self {
        Self { version, info, capabilities: Map::new(), next_id: 1 }
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
        let headers = self.headers(methods::INITIALIZED, None);
        Ok(ClientRequest { headers, body, id: RequestId::Integer(0), result: PhantomData })
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

    /// Calls a tool. The tool may require input from a client that declares the capability.
    ///
    /// # Errors
    /// If the message cannot be serialised as JSON.
    pub fn call_tool(&mut self, call: &CallToolParams) -> serde_json::Result<ClientRequest<ToolOutcome>> {
        self.request(methods::TOOLS_CALL, Some(&call.name), call)
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
        Ok(ClientRequest { headers: self.headers(method, name), body, id, result: PhantomData })
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
            all.extend(name.map(|name| (headers::NAME, headers::encode(name).into_owned())));
        }
        all
    }
}

impl<R: DeserializeOwned> ClientRequest<R> {
    /// Reads the body of the response, whatever its HTTP status.
    ///
    /// # Errors
    /// [`ResponseError`].
    pub fn read(&self, body: &[u8]) -> Result<R, ResponseError> {
        let response = Response::parse(body)?;
        let is_ours = match &response {
            // The server could not read the id.
            Response::Failure { id: None, .. } => true,
            response => response.id() == Some(&self.id),
        };
        if !is_ours {
            return Err(ResponseError::OtherRequest);
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

    fn body<R>(request: &ClientRequest<R>) -> Value {
        serde_json::from_slice(&request.body).unwrap()
    }

    #[test]
    fn a_legacy_session_sends_its_revision_after_initialize() {
        let mut session = session(ProtocolVersion::V2025_11_25);
        let opening = session.initialize().unwrap();
        assert_eq!(body(&opening)["params"]["capabilities"], json!({"elicitation": {}}));
        assert!(opening.headers.iter().all(|(name, _)| *name != headers::PROTOCOL_VERSION));
        session.set_version(ProtocolVersion::V2025_06_18);
        let list = session.list_tools(&ListToolsParams::default()).unwrap();
        assert_eq!(body(&list), json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
        assert!(list.headers.contains(&(headers::PROTOCOL_VERSION, "2025-06-18".into())));
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
        for header in [
            (headers::PROTOCOL_VERSION, "2026-07-28".to_owned()),
            (headers::METHOD, "resources/read".to_owned()),
            (headers::NAME, headers::encode("ui://größe").into_owned()),
        ] {
            assert!(read.headers.contains(&header), "{header:?}");
        }
    }

    #[test]
    fn an_input_required_result_is_recognised() {
        let mut session = session(ProtocolVersion::V2026_07_28);
        let call = session.call_tool(&CallToolParams::new("t")).unwrap();
        let answered = |result: Value| {
            let response = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
            call.read(response.as_bytes()).unwrap()
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
            list.read(json!({"jsonrpc": "2.0", "id": id, member: value}).to_string().as_bytes())
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
        assert!(matches!(list.read(b"<html>"), Err(ResponseError::NotAResponse(_))));
    }
}
