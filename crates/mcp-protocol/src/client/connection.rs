//! A connection to a server of any revision.

use std::error::Error;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{ClientRequest, HttpRequest, ResponseError, ResponseReader, Session};
use crate::jsonrpc::{
    CallError, ErrorObject, HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION,
};
use crate::lifecycle::{DiscoverResult, Implementation, ServerCapabilities};
use crate::prompts::{GetPromptParams, ListPromptsResult, PromptOutcome};
use crate::resources::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams, ReadResourceResult,
};
use crate::tools::ToolOutcome;
use crate::{
    CallToolParams, ListToolsResult, Prompt, ProtocolVersion, Resource, ResourceTemplate, Tool, methods,
    request_meta,
};

/// Upper bound on the pages of a list, against a server whose cursors never end.
const MAX_PAGES: usize = 1000;

/// Any error of a transport.
pub type TransportError = Box<dyn Error + Send + Sync>;

/// Sends requests to a server's URL with an HTTP library of the caller's choice. With the feature `reqwest`,
/// `ReqwestTransport` implements it. For any other HTTP library, implement one method, which passes on each chunk of
/// the body as it arrives:
///
/// ```
/// use mcp_wire::client::{HttpRequest, ResponseReader, Transport, TransportError};
///
/// /// A response of your HTTP library.
/// # #[derive(Default)]
/// struct Response {
///     status: u16,
///     headers: Vec<(String, String)>,
///     chunks: Vec<Vec<u8>>,
/// }
///
/// /// Sends a request with your HTTP library.
/// async fn send(method: &str, headers: &[(String, String)], body: &[u8]) -> Result<Response, TransportError> {
/// #   let _ = (method, headers, body);
///     // …
/// #   Ok(Response::default())
/// }
///
/// struct Http;
///
/// impl Transport for Http {
///     async fn send(&self, request: &HttpRequest, reader: &mut ResponseReader) -> Result<(), TransportError> {
///         let response = send(request.method, &request.headers, &request.body).await?;
///         reader.start(response.status, |name| {
///             response.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
///         });
///         for chunk in &response.chunks {
///             if reader.push(chunk).is_break() {
///                 break;
///             }
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait Transport {
    /// Sends a request with the headers in it and, if needed, `Authorization`. Passes status and headers to
    /// [`ResponseReader::start`], then each chunk of the body to [`ResponseReader::push`] until that returns `Break`.
    ///
    /// An event stream can be open for long and silent in between. So limit the time of connecting and of pauses, not
    /// of the whole response. Do not follow redirects.
    ///
    /// The future is `Send`, except on WebAssembly, so that a client of any transport can run in a task of its own.
    ///
    /// # Errors
    /// If there is no response, or it breaks off. A status is never an error.
    fn send(
        &self,
        request: &HttpRequest,
        reader: &mut ResponseReader,
    ) -> impl Future<Output = Result<(), TransportError>> + MaybeSend;
}

/// The same as `Send`, except on WebAssembly: there every type implements it, because the objects of a browser belong
/// to one thread.
#[cfg(not(target_family = "wasm"))]
pub trait MaybeSend: Send {}
#[cfg(not(target_family = "wasm"))]
impl<T: Send> MaybeSend for T {}

/// The same as `Send`, except on WebAssembly: there every type implements it, because the objects of a browser belong
/// to one thread.
#[cfg(target_family = "wasm")]
pub trait MaybeSend {}
#[cfg(target_family = "wasm")]
impl<T> MaybeSend for T {}

/// Why a request to a server failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The transport failed.
    #[error("the server cannot be reached: {0}")]
    Transport(#[source] TransportError),
    /// The response has no result.
    #[error(transparent)]
    Response(#[from] ResponseError),
    /// The parameters cannot be serialised as JSON.
    #[error("the request cannot be serialised: {0}")]
    NotJson(#[from] serde_json::Error),
    /// The server supports other revisions only.
    #[error("the server supports only the protocol revisions {}", supported.join(", "))]
    NoCommonRevision {
        /// The names of the revisions.
        supported: Vec<String>,
    },
    /// The server ended the session, and also the new session that replaced it.
    #[error("the server ended the session")]
    SessionEnded,
    /// A list has more than 1000 pages.
    #[error("the list has more than {MAX_PAGES} pages")]
    TooManyPages,
}

impl ClientError {
    /// The JSON-RPC error of the server, if it returned one.
    pub fn error_object(&self) -> Option<&ErrorObject> {
        match self {
            Self::Response(ResponseError::Call(CallError::Refused(error))) => Some(error),
            _ => None,
        }
    }
}

/// A connection to a server of any revision, which [`connect`](Self::connect) finds out. It keeps the session of an
/// older server, opens a new session when the server ends it, reads event streams, and answers the server's pings in them.
///
/// ```
/// use mcp_wire::client::{Client, ClientError, Transport};
/// use mcp_wire::lifecycle::Implementation;
/// use mcp_wire::CallToolParams;
/// use serde_json::json;
///
/// async fn greet(transport: impl Transport) -> Result<Option<String>, ClientError> {
///     let mut client = Client::connect(transport, Implementation::new("greeter-app", "1.0")).await?;
///     for tool in client.list_tools().await? {
///         println!("{}", tool.name);
///     }
///     let call = CallToolParams::new("greet").with_argument("name", json!("Ada"));
///     let result = client.call_tool(&call).await?.result();
///     Ok(result.and_then(|result| result.first_text().map(str::to_owned)))
/// }
/// ```
#[derive(Debug)]
pub struct Client<T> {
    transport: T,
    session: Session,
    server_info: Option<Implementation>,
    capabilities: ServerCapabilities,
    instructions: Option<String>,
}

impl<T: Transport> Client<T> {
    /// Connects as a client without capabilities: by `server/discover` of the newest revision, or by `initialize` if the
    /// server does not know it.
    ///
    /// # Errors
    /// [`ClientError`]. If the server requires a token, it is [`ResponseError::Status`] with the header that says how to get
    /// one.
    pub async fn connect(transport: T, info: Implementation) -> Result<Self, ClientError> {
        Self::connect_session(transport, Session::new(ProtocolVersion::V2026_07_28, info)).await
    }

    /// Connects with the capabilities of a session. The revision of the connection is at most that of the session.
    ///
    /// # Errors
    /// See [`connect`](Self::connect).
    pub async fn connect_session(transport: T, session: Session) -> Result<Self, ClientError> {
        let mut client = Self {
            transport,
            session,
            server_info: None,
            capabilities: ServerCapabilities::default(),
            instructions: None,
        };
        if client.version().is_legacy() || !client.discover().await? {
            client.initialize().await?;
        }
        Ok(client)
    }

    /// The revision that both sides use.
    pub fn version(&self) -> ProtocolVersion {
        self.session.version()
    }

    /// The server program, as it describes itself.
    pub fn server_info(&self) -> Option<&Implementation> {
        self.server_info.as_ref()
    }

    /// The server's capabilities.
    pub fn capabilities(&self) -> &ServerCapabilities {
        &self.capabilities
    }

    /// The server's instructions for the model.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Lists the tools of all pages. Leaves out a tool whose schema declares headers for arguments wrongly.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn list_tools(&mut self) -> Result<Vec<Tool>, ClientError> {
        let page = |page: ListToolsResult| (page.tools, page.next_cursor);
        let mut tools = self.all_pages(methods::TOOLS_LIST, page).await?;
        self.session.keep_header_parameters(&mut tools);
        Ok(tools)
    }

    /// Lists the prompts of all pages.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn list_prompts(&mut self) -> Result<Vec<Prompt>, ClientError> {
        let page = |page: ListPromptsResult| (page.prompts, page.next_cursor);
        self.all_pages(methods::PROMPTS_LIST, page).await
    }

    /// Gets the messages of a prompt.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn get_prompt(&mut self, params: &GetPromptParams) -> Result<PromptOutcome, ClientError> {
        self.request(methods::PROMPTS_GET, Some(&params.name), params).await
    }

    /// Lists the resources of all pages.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn list_resources(&mut self) -> Result<Vec<Resource>, ClientError> {
        let page = |page: ListResourcesResult| (page.resources, page.next_cursor);
        self.all_pages(methods::RESOURCES_LIST, page).await
    }

    /// Lists the resource templates of all pages.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn list_resource_templates(&mut self) -> Result<Vec<ResourceTemplate>, ClientError> {
        let page = |page: ListResourceTemplatesResult| (page.resource_templates, page.next_cursor);
        self.all_pages(methods::RESOURCE_TEMPLATES_LIST, page).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn read_resource(&mut self, uri: &str) -> Result<ReadResourceResult, ClientError> {
        self.request(methods::RESOURCES_READ, Some(uri), &ReadResourceParams::new(uri)).await
    }

    /// Calls a tool. If the server rejects the call because headers that repeat arguments are missing or wrong, the
    /// client lists the tools to learn these headers, and calls again.
    ///
    /// # Errors
    /// [`ClientError`]. A tool that ran and failed is a result.
    pub async fn call_tool(&mut self, call: &CallToolParams) -> Result<ToolOutcome, ClientError> {
        match self.repeatable(|session| session.call_tool(call)).await {
            Err(error) if error.error_object().is_some_and(|error| error.code == HEADER_MISMATCH) => {
                self.list_tools().await?;
                self.repeatable(|session| session.call_tool(call)).await
            }
            outcome => outcome,
        }
    }

    /// Sends any other request; `name` is the value of the header `Mcp-Name`, for methods that need it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn request<P: Serialize, R: DeserializeOwned>(
        &mut self,
        method: &str,
        name: Option<&str>,
        params: &P,
    ) -> Result<R, ClientError> {
        self.repeatable(|session| session.request(method, name, params)).await
    }

    /// Ends the session of an older server, and returns the transport.
    ///
    /// # Errors
    /// [`ClientError::Transport`].
    pub async fn close(mut self) -> Result<T, ClientError> {
        if let Some(request) = self.session.close() {
            self.discard_response(&request).await.map_err(ClientError::Transport)?;
        }
        Ok(self.transport)
    }

    /// Describes the server in the newest revision; false if it may be an older server.
    async fn discover(&mut self) -> Result<bool, ClientError> {
        let request = self.session.discover()?;
        let found = match self.exchange(&request).await {
            Ok(found) => found,
            Err(ClientError::Response(error)) if may_be_legacy(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some(version) = found.best_version() else {
            return Err(ClientError::NoCommonRevision { supported: found.supported_versions });
        };
        if version.is_legacy() {
            return Ok(false);
        }
        self.session.set_version(version);
        let DiscoverResult { capabilities, instructions, meta, .. } = found;
        let info = meta.and_then(|mut meta| meta.remove(request_meta::SERVER_INFO));
        self.server_info = info.and_then(|info| serde_json::from_value(info).ok());
        (self.capabilities, self.instructions) = (capabilities, instructions);
        Ok(true)
    }

    /// Opens a session of an older revision.
    async fn initialize(&mut self) -> Result<(), ClientError> {
        self.session.set_session_id(None);
        if !self.version().is_legacy() {
            self.session.set_version(ProtocolVersion::LATEST_LEGACY);
        }
        let request = self.session.initialize()?;
        let reader = self.send(&request).await?;
        let session_id = reader.session_id().map(str::to_owned);
        let opened = request.finish(reader)?;
        self.session.set_version(opened.protocol_version);
        self.session.set_session_id(session_id);
        self.server_info = Some(opened.server_info);
        (self.capabilities, self.instructions) = (opened.capabilities, opened.instructions);
        let initialized = self.session.initialized()?;
        Ok(self.send(&initialized).await?.accepted()?)
    }

    /// All pages of a list. `split` separates a page into its items and the cursor of the next page.
    async fn all_pages<R: DeserializeOwned, I>(
        &mut self,
        method: &str,
        split: impl Fn(R) -> (Vec<I>, Option<String>),
    ) -> Result<Vec<I>, ClientError> {
        let (mut all, mut params) = (Vec::new(), Map::new());
        for _ in 0..MAX_PAGES {
            let (items, next_cursor) = split(self.request(method, None, &params).await?);
            all.extend(items);
            match next_cursor {
                None => return Ok(all),
                Some(cursor) => params.insert("cursor".to_owned(), Value::String(cursor)),
            };
        }
        Err(ClientError::TooManyPages)
    }

    /// Sends a request, and again in a new session if the server has ended the current one.
    async fn repeatable<R: DeserializeOwned>(
        &mut self,
        request: impl Fn(&mut Session) -> serde_json::Result<ClientRequest<R>>,
    ) -> Result<R, ClientError> {
        let first = request(&mut self.session)?;
        match self.exchange(&first).await {
            Err(ClientError::SessionEnded) => {
                self.initialize().await?;
                let second = request(&mut self.session)?;
                self.exchange(&second).await
            }
            outcome => outcome,
        }
    }

    async fn exchange<R: DeserializeOwned>(&self, request: &ClientRequest<R>) -> Result<R, ClientError> {
        let reader = self.send(request).await?;
        if reader.status() == 404 && self.session.session_id().is_some() {
            return Err(ClientError::SessionEnded);
        }
        Ok(request.finish(reader)?)
    }

    async fn send<R>(&self, request: &ClientRequest<R>) -> Result<ResponseReader, ClientError> {
        let mut reader = request.reader();
        self.transfer(&request.http, &mut reader).await.map_err(ClientError::Transport)?;
        Ok(reader)
    }

    /// Sends a request. The response may contain requests of the server; the replies to them are sent while the
    /// response arrives. Ends after the last reply, because the server may send a ping together with its result.
    async fn transfer(
        &self,
        request: &HttpRequest,
        reader: &mut ResponseReader,
    ) -> Result<(), TransportError> {
        let replies = reader.replies();
        let mut response = pin!(self.transport.send(request, reader));
        let (mut is_complete, mut sending) = (false, None);
        poll_fn(|context| {
            loop {
                if !is_complete {
                    match response.as_mut().poll(context) {
                        Poll::Ready(Ok(())) => is_complete = true,
                        Poll::Ready(failure) => return Poll::Ready(failure),
                        Poll::Pending => {}
                    }
                }
                if sending.is_none() {
                    sending = replies.next().map(|reply| Box::pin(self.reply(reply)));
                }
                let Some(reply) = &mut sending else {
                    return if is_complete { Poll::Ready(Ok(())) } else { Poll::Pending };
                };
                if reply.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                sending = None;
            }
        })
        .await
    }

    /// Sends a reply. A failure is ignored, because the server then ends its response.
    async fn reply(&self, reply: HttpRequest) {
        let _ = self.discard_response(&reply).await;
    }

    async fn discard_response(&self, request: &HttpRequest) -> Result<(), TransportError> {
        let mut reader = ResponseReader::new(0.into(), request.clone());
        self.transport.send(request, &mut reader).await
    }
}

/// Whether an error may be an older server's response to `server/discover`. Only a few errors certainly come from a
/// newer server, or from a server that refuses access.
fn may_be_legacy(error: &ResponseError) -> bool {
    match error {
        ResponseError::Status { status, .. } => !matches!(status, 401 | 403 | 407 | 429),
        ResponseError::Call(CallError::Refused(error)) => match error.code {
            HEADER_MISMATCH | MISSING_REQUIRED_CLIENT_CAPABILITY => false,
            UNSUPPORTED_PROTOCOL_VERSION => names_legacy_revision(error.data.as_ref()),
            _ => true,
        },
        _ => true,
    }
}

/// Whether the `supported` of an error names an older revision.
fn names_legacy_revision(data: Option<&Value>) -> bool {
    let supported = data.and_then(|data| data.get("supported")).and_then(Value::as_array);
    let mut names = supported.into_iter().flatten().filter_map(Value::as_str);
    names.any(|name| name.parse().is_ok_and(ProtocolVersion::is_legacy))
}

#[cfg(test)]
mod tests;
