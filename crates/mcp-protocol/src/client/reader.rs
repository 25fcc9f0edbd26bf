//! Reads the response to a request as it arrives: one JSON body, or an event stream with the response in one of its
//! messages.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use super::{EventParser, EventTooLong, HttpRequest};
use crate::headers::{SESSION_ID, essence};
use crate::jsonrpc::{CallError, ErrorObject, Incoming, ParseFailure, Request, RequestId, Response};
use crate::{EmptyResult, methods};

/// The greatest length of a message.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// Why a response has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// The status is an error and the body is not a JSON-RPC response, or the status is 401 or 403.
    #[error("the server returned the HTTP status {status}")]
    Status {
        /// The status.
        status: u16,
        /// The header `WWW-Authenticate`, which says how to get access.
        www_authenticate: Option<String>,
    },
    /// It is not a JSON-RPC response.
    #[error("the body is not a response: {0}")]
    NotAResponse(#[from] ParseFailure),
    /// It has the id of another request.
    #[error("the response has the id of another request")]
    OtherRequest,
    /// It ended before the result.
    #[error("the response ended before its result")]
    Incomplete,
    /// It is longer than 64 MiB.
    #[error("the response is too long")]
    TooLong,
    /// It is an error, or the result has an unexpected type.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl From<EventTooLong> for ResponseError {
    fn from(_: EventTooLong) -> Self {
        Self::TooLong
    }
}

/// Reads the response to one request. [`ClientRequest::reader`](super::ClientRequest::reader) makes one.
///
/// Messages that belong to no request, such as notifications of progress, are ignored.
#[derive(Debug)]
pub struct ResponseReader {
    id: RequestId,
    status: u16,
    session_id: Option<String>,
    www_authenticate: Option<String>,
    body: Body,
    outcome: Option<Result<Response, ResponseError>>,
    replies: Replies,
    /// A request without a body, for replies to the server.
    empty_reply: HttpRequest,
}

#[derive(Debug)]
enum Body {
    Whole(Vec<u8>),
    Stream(EventParser),
}

/// Replies to requests of the server, in the order of the requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Replies(Arc<Mutex<VecDeque<HttpRequest>>>);

impl Replies {
    pub(super) fn next(&self) -> Option<HttpRequest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn add(&self, reply: HttpRequest) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(reply);
    }
}

impl ResponseReader {
    pub(super) fn new(id: RequestId, empty_reply: HttpRequest) -> Self {
        Self {
            id,
            status: 0,
            session_id: None,
            www_authenticate: None,
            body: Body::Whole(Vec::new()),
            outcome: None,
            replies: Replies::default(),
            empty_reply,
        }
    }

    /// Reads the status and the headers; `look_up` gets names in lower case.
    pub fn start<V: Into<String>>(&mut self, status: u16, mut look_up: impl FnMut(&str) -> Option<V>) {
        let mut header = |name| look_up(name).map(Into::into);
        self.status = status;
        self.session_id = header(SESSION_ID);
        self.www_authenticate = header("www-authenticate");
        let content_type: Option<String> = header("content-type");
        let content_type = content_type.unwrap_or_default();
        self.body = if essence(&content_type).eq_ignore_ascii_case("text/event-stream") {
            Body::Stream(EventParser::new(MAX_MESSAGE_BYTES))
        } else {
            Body::Whole(Vec::new())
        };
    }

    /// Reads a chunk of the body. After [`ControlFlow::Break`] the rest is not needed, and the response can be dropped.
    pub fn push(&mut self, chunk: &[u8]) -> ControlFlow<()> {
        if self.outcome.is_none() {
            if let Err(error) = self.read(chunk) {
                self.outcome = Some(Err(error));
            }
        }
        if self.outcome.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn read(&mut self, chunk: &[u8]) -> Result<(), ResponseError> {
        let events = match &mut self.body {
            Body::Whole(body) if body.len() + chunk.len() > MAX_MESSAGE_BYTES => {
                return Err(ResponseError::TooLong);
            }
            Body::Whole(body) => {
                body.extend_from_slice(chunk);
                return Ok(());
            }
            Body::Stream(parser) => parser.push(chunk)?,
        };
        // The first event of a stream may have no data, only an id.
        for event in events.into_iter().filter(|event| event.kind == "message" && !event.data.is_empty()) {
            match Incoming::parse(event.data.as_bytes())? {
                Incoming::Response(response) if is_to(&response, &self.id) => {
                    self.outcome = Some(Ok(response));
                    return Ok(());
                }
                Incoming::Request(request) => self.reply_to(request),
                Incoming::Response(_) | Incoming::Notification(_) => {}
            }
        }
        Ok(())
    }

    /// Answers a ping. Other requests need a capability that this client cannot have.
    fn reply_to(&mut self, request: Request) {
        let reply = match request.method.as_str() {
            methods::PING => Response::success(request.id, EmptyResult::default()).to_json(),
            method => {
                let error = ErrorObject::method_not_found(method);
                Response::failure(Some(request.id), error).to_json()
            }
        };
        // A reply that consists only of values of this crate can always be serialised.
        let body = reply.unwrap_or_default();
        self.replies.add(HttpRequest { body, ..self.empty_reply.clone() });
    }

    /// The next reply to a request that the server sent in its stream, such as a ping. Send it at once: the server may
    /// wait for it. Its own response has no content.
    pub fn next_reply(&mut self) -> Option<HttpRequest> {
        self.replies.next()
    }

    pub(super) fn replies(&self) -> Replies {
        self.replies.clone()
    }

    /// The HTTP status; 0 before [`start`](Self::start).
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The header `Mcp-Session-Id`, for [`Session::set_session_id`](super::Session::set_session_id).
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// Whether the server accepted a notification.
    ///
    /// # Errors
    /// [`ResponseError::Status`] if not.
    pub(super) fn accepted(self) -> Result<(), ResponseError> {
        if (200..300).contains(&self.status) { Ok(()) } else { Err(self.status_error()) }
    }

    /// The response, after the whole body.
    ///
    /// # Errors
    /// If it is not the response to this request.
    pub fn finish(mut self) -> Result<Response, ResponseError> {
        if matches!(self.status, 401 | 403) {
            return Err(self.status_error());
        }
        match (self.outcome.take(), &self.body) {
            (Some(outcome), _) => outcome,
            (None, Body::Stream(_)) => Err(ResponseError::Incomplete),
            (None, Body::Whole(body)) => match Response::parse(body) {
                Ok(response) if is_to(&response, &self.id) => Ok(response),
                Ok(_) => Err(ResponseError::OtherRequest),
                Err(failure) if (200..300).contains(&self.status) => Err(failure.into()),
                Err(_) => Err(self.status_error()),
            },
        }
    }

    fn status_error(self) -> ResponseError {
        ResponseError::Status { status: self.status, www_authenticate: self.www_authenticate }
    }
}

/// Whether a response belongs to a request. An error without an id does, because the server could not read the id.
fn is_to(response: &Response, id: &RequestId) -> bool {
    match response {
        Response::Failure { id: None, .. } => true,
        response => response.id() == Some(id),
    }
}
