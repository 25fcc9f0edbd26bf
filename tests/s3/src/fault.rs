use std::sync::{Arc, Mutex, PoisonError};

use http::{Method, request::Parts};
use tokio::sync::Notify;

/// What happens to a request.
#[derive(Debug, Clone, Default)]
pub enum Fault {
    /// Nothing special.
    #[default]
    None,
    /// The response is this status, with a code in the body if there is one.
    Status(u16, Option<&'static str>),
    /// The connection is closed after this many bytes of the request's body.
    CutRequest(usize),
    /// The connection is closed after this many bytes of the response's body.
    CutResponse(usize),
    /// The first byte of the request's body is changed.
    CorruptRequest,
    /// The request is handled after a notification, and never if none comes.
    Hold(Arc<Notify>),
    /// The request is handled, but the connection is closed instead of a response.
    LoseResponse,
}

/// A request that the server received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRequest {
    pub method: Method,
    /// The path with the bucket.
    pub path: String,
    /// The query, or an empty text.
    pub query: String,
}

type Decide = Box<dyn Fn(&Parts) -> Fault + Send + Sync>;

#[derive(Default)]
pub(crate) struct Faults {
    decide: Mutex<Option<Decide>>,
    seen: Mutex<Vec<SeenRequest>>,
}

impl Faults {
    pub(crate) fn set(&self, decide: impl Fn(&Parts) -> Fault + Send + Sync + 'static) {
        *self.decide.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(decide));
    }

    pub(crate) fn of(&self, request: &Parts) -> Fault {
        let seen = SeenRequest {
            method: request.method.clone(),
            path: request.uri.path().to_owned(),
            query: request.uri.query().unwrap_or_default().to_owned(),
        };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        let decide = self.decide.lock().unwrap_or_else(PoisonError::into_inner);
        decide.as_ref().map(|decide| decide(request)).unwrap_or_default()
    }

    pub(crate) fn take_seen(&self) -> Vec<SeenRequest> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
