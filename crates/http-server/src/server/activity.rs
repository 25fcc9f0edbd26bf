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
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{
    connections::{NoSlot, Slot},
    http2::Delivery,
};
use crate::body::{BodyError, ResponseBody};

/// The state of a connection.
pub(super) struct Activity {
    pub(super) slot: Slot,
    /// Number of responses that the HTTP library has completely. They are sent once the library has flushed the stream.
    unflushed: AtomicU32,
    /// Notified when a response of HTTP/2 was counted in `unflushed`.
    completed: Notify,
    /// When the last request ended, or the connection began.
    idle_since: Mutex<Instant>,
}

impl Activity {
    pub(super) fn new(slot: Slot) -> Arc<Self> {
        Arc::new(Self {
            slot,
            unflushed: AtomicU32::new(0),
            completed: Notify::new(),
            idle_since: Mutex::new(Instant::now()),
        })
    }

    /// Waits until another response of HTTP/2 was counted as complete. The library may have sent it before that, on another thread,
    /// so it must be polled to flush the stream once more.
    pub(super) async fn completed(&self) {
        self.completed.notified().await;
    }

    /// Records that everything written was sent. Returns whether a response ended.
    pub(super) fn flushed(&self) -> bool {
        let ended = self.unflushed.swap(0, Ordering::SeqCst);
        if ended > 0 {
            *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
        (0..ended).for_each(|_| self.slot.end_request());
        ended > 0
    }

    /// Waits until no request was in progress for this long.
    pub(super) async fn idle_for(&self, limit: Duration) {
        loop {
            let now = Instant::now();
            let ended = *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner);
            let idle_since = if self.slot.is_idle() { ended } else { now };
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

/// A request in progress. Dropping it records that the HTTP library has the whole response.
pub(super) struct InProgress {
    request: Arc<RequestActivity>,
    is_multiplexed: bool,
}

impl InProgress {
    /// # Errors
    /// There is no slot for a request.
    pub(super) fn begin(
        connection: &Arc<Activity>,
        has_body: bool,
        is_multiplexed: bool,
    ) -> Result<Self, NoSlot> {
        connection.slot.begin_request(has_body, is_multiplexed)?;
        let body_received = AtomicBool::new(!has_body);
        let request = RequestActivity { connection: connection.clone(), body_received };
        Ok(Self { request: Arc::new(request), is_multiplexed })
    }

    /// The request, for whoever reads its body.
    pub(super) fn request(&self) -> Arc<RequestActivity> {
        self.request.clone()
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        // If the body has not arrived, nobody reads it.
        self.request.body_received();
        let connection = &self.request.connection;
        connection.unflushed.fetch_add(1, Ordering::SeqCst);
        if self.is_multiplexed {
            connection.completed.notify_one();
        }
    }
}

/// The body of a response, dropped when the HTTP library has all of it.
pub(super) struct TrackedBody {
    body: ResponseBody,
    /// How far an HTTP/2 stream has delivered it; `None` for HTTP/1.1.
    delivery: Option<Arc<Delivery>>,
    /// What an HTTP/2 stream has not taken of the last chunk.
    rest: Bytes,
    /// `None` for a reply without a slot.
    _in_progress: Option<InProgress>,
}

impl TrackedBody {
    pub(super) fn new(
        body: ResponseBody,
        delivery: Option<Arc<Delivery>>,
        in_progress: Option<InProgress>,
    ) -> Self {
        Self { body, delivery, rest: Bytes::new(), _in_progress: in_progress }
    }
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(delivery) = self.delivery.clone() else {
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
        let is_last = self.body.is_end_stream();
        Poll::Ready(Some(Ok(Frame::data(delivery.take(&mut self.rest, is_last)))))
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
