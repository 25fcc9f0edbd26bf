//! What is in progress on one connection, shared by its stream, its requests and its task.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, sleep_until};

use super::{
    connections::{NoSlot, Slot},
    http2::Delivery,
};
use crate::body::{BodyError, ResponseBody};

/// The state of a connection.
pub(super) struct Activity {
    pub(super) slot: Slot,
    /// Number of responses of HTTP/1.1 that the HTTP library has completely. They are sent once the library has flushed the
    /// stream.
    unflushed: AtomicU32,
    /// When the client last accepted bytes, or a response of HTTP/2 ended.
    last_active: Mutex<Instant>,
}

impl Activity {
    pub(super) fn new(slot: Slot) -> Arc<Self> {
        Arc::new(Self { slot, unflushed: AtomicU32::new(0), last_active: Mutex::new(Instant::now()) })
    }

    /// Records that the client has accepted bytes.
    pub(super) fn bytes_accepted(&self, now: Instant) {
        *self.last_active.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Records that everything written was sent. Returns whether a response ended.
    pub(super) fn flushed(&self) -> bool {
        let ended = self.unflushed.swap(0, Ordering::SeqCst);
        (0..ended).for_each(|_| self.slot.end_request());
        ended > 0
    }

    /// Waits until no request was in progress, and no byte was accepted, for this long.
    pub(super) async fn idle_for(&self, limit: Duration) {
        loop {
            let now = Instant::now();
            let last_active = *self.last_active.lock().unwrap_or_else(PoisonError::into_inner);
            let idle_since = if self.slot.is_idle() { last_active } else { now };
            if idle_since + limit <= now {
                return;
            }
            sleep_until(idle_since + limit).await;
        }
    }
}

/// A request in progress, for whoever reads its body.
pub(crate) struct RequestActivity {
    connection: Arc<Activity>,
    body_received: AtomicBool,
}

impl RequestActivity {
    /// Records that the whole body of the request has arrived; `false` if the connection was closed for a new one.
    pub(crate) fn body_received(&self) -> bool {
        self.body_received.swap(true, Ordering::SeqCst) || self.connection.slot.body_received().is_ok()
    }
}

/// A request in progress. Dropping it records its end.
pub(super) struct InProgress {
    pub(super) request: Arc<RequestActivity>,
    /// How far an HTTP/2 stream has delivered the response; `None` for HTTP/1.1.
    delivery: Option<Arc<Delivery>>,
}

impl InProgress {
    /// # Errors
    /// There is no slot for a request.
    pub(super) fn begin(
        connection: &Arc<Activity>,
        has_body: bool,
        delivery: Option<Arc<Delivery>>,
    ) -> Result<Self, NoSlot> {
        connection.slot.begin_request(has_body)?;
        let body_received = AtomicBool::new(!has_body);
        let request = RequestActivity { connection: connection.clone(), body_received };
        Ok(Self { request: Arc::new(request), delivery })
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        // If the body has not arrived, nobody reads it.
        self.request.body_received();
        let connection = &self.request.connection;
        match self.delivery {
            None => {
                connection.unflushed.fetch_add(1, Ordering::SeqCst);
            }
            Some(_) => {
                connection.bytes_accepted(Instant::now());
                connection.slot.end_request();
            }
        }
    }
}

/// The body of a response, dropped when the HTTP library has all of it.
pub(super) struct TrackedBody {
    body: ResponseBody,
    /// The part of the last chunk that an HTTP/2 stream has not taken.
    rest: Bytes,
    /// `None` for a reply without a slot.
    in_progress: Option<InProgress>,
}

impl TrackedBody {
    pub(super) fn new(body: ResponseBody, in_progress: Option<InProgress>) -> Self {
        Self { body, rest: Bytes::new(), in_progress }
    }
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(delivery) = self.in_progress.as_ref().and_then(|request| request.delivery.clone()) else {
            return Pin::new(&mut self.body).poll_frame(cx);
        };
        delivery.delivered();
        if self.rest.is_empty() {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                other => return other,
            }
        }
        Poll::Ready(Some(Ok(Frame::data(delivery.take(&mut self.rest)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let rest = u64::try_from(self.rest.len()).unwrap_or_default();
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}
