//! What is in progress on one connection, shared by its stream, its requests and its task.

use std::{
    mem,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll, ready},
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
    http2::{Delivery, PART_BYTES},
};
use crate::response_body::{BodyError, ResponseBody};

/// The state of a connection.
pub(super) struct Activity {
    pub(super) slot: Slot,
    /// Number of responses that the HTTP library has received completely, but may not have sent.
    unsent: AtomicU32,
    /// Notified when a response of HTTP/2 was counted in `unsent`.
    completed: Notify,
    /// Whether a response has ended since the stream last asked. Only the connection's task uses it.
    response_ended: AtomicBool,
    /// When the last request ended, or the connection began.
    idle_since: Mutex<Instant>,
}

impl Activity {
    pub(super) fn new(slot: Slot) -> Arc<Self> {
        Arc::new(Self {
            slot,
            unsent: AtomicU32::new(0),
            completed: Notify::new(),
            response_ended: AtomicBool::new(false),
            idle_since: Mutex::new(Instant::now()),
        })
    }

    /// Polls a connection, and records which responses it has sent. The responses that the library had completely before the poll
    /// have been written after it, unless the client accepts no bytes. With HTTP/1.1 the poll itself completes responses, so these
    /// count, too.
    pub(super) fn poll<C: Future>(
        &self,
        connection: Pin<&mut C>,
        is_http2: bool,
        cx: &mut Context<'_>,
    ) -> Poll<C::Output> {
        let before = self.unsent.load(Ordering::SeqCst);
        let polled = connection.poll(cx);
        if polled.is_pending() && !self.slot.is_blocked() {
            self.end_requests(if is_http2 { before } else { self.unsent.load(Ordering::SeqCst) });
        }
        polled
    }

    fn end_requests(&self, count: u32) {
        if count == 0 {
            return;
        }
        self.unsent.fetch_sub(count, Ordering::SeqCst);
        self.response_ended.store(true, Ordering::Relaxed);
        *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        (0..count).for_each(|_| self.slot.end_request());
    }

    /// Waits until another response of HTTP/2 was counted as complete. The library may have sent it before that, on another thread,
    /// so the connection must be polled once more.
    pub(super) async fn completed(&self) {
        self.completed.notified().await;
    }

    /// Whether a response has ended since the last call.
    pub(super) fn take_response_ended(&self) -> bool {
        self.response_ended.swap(false, Ordering::Relaxed)
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

/// A request in progress, for the reader of its body.
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
    /// Begins a request: of HTTP/2 if it has a `stream`.
    ///
    /// # Errors
    /// There is no slot for a request.
    pub(super) fn begin(
        connection: &Arc<Activity>,
        has_body: bool,
        stream: Option<&Arc<Delivery>>,
    ) -> Result<Self, NoSlot> {
        connection.slot.begin_request(has_body, stream)?;
        let body_received = AtomicBool::new(!has_body);
        let request = RequestActivity { connection: connection.clone(), body_received };
        Ok(Self { request: Arc::new(request), is_multiplexed: stream.is_some() })
    }

    /// The request, for the reader of its body.
    pub(super) fn request(&self) -> Arc<RequestActivity> {
        self.request.clone()
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        // If the body has not arrived, nobody reads it.
        self.request.body_received();
        let connection = &self.request.connection;
        connection.unsent.fetch_add(1, Ordering::SeqCst);
        if self.is_multiplexed {
            connection.completed.notify_one();
        }
    }
}

/// The body of a response, dropped when the HTTP library has all of it.
pub(super) struct TrackedBody {
    body: ResponseBody,
    /// How far an HTTP/2 stream has delivered the body; `None` for HTTP/1.1.
    delivery: Option<Arc<Delivery>>,
    /// The part of the last chunk that an HTTP/2 stream has not taken.
    rest: Bytes,
    /// The body has ended; `rest` may be left.
    has_ended: bool,
    /// `None` for a reply without a slot.
    _in_progress: Option<InProgress>,
}

impl TrackedBody {
    pub(super) fn new(
        body: ResponseBody,
        delivery: Option<Arc<Delivery>>,
        in_progress: Option<InProgress>,
    ) -> Self {
        Self { body, delivery, rest: Bytes::new(), has_ended: false, _in_progress: in_progress }
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
        // A stream takes a part as soon as its window has room for one byte of the part. So the last byte is a part of its own: the
        // stream takes it only when everything before it fits. Until then the stream waits for its client and can be ended.
        while self.rest.len() < 2 && !self.has_ended {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                None => self.has_ended = true,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if data.is_empty() => {}
                    Ok(data) if self.rest.is_empty() => self.rest = data,
                    Ok(data) => {
                        let last = mem::replace(&mut self.rest, data);
                        return Poll::Ready(Some(Ok(Frame::data(delivery.give(last)))));
                    }
                    // No response has trailers.
                    Err(_) => {}
                },
            }
        }
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.rest.len().saturating_sub(1).clamp(1, PART_BYTES);
        let part = self.rest.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(delivery.give(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && (self.has_ended || self.body.is_end_stream())
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

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::{
        HttpLimits,
        response_body::{full, streamed, try_streamed},
    };

    /// The parts that an HTTP/2 stream takes of a body, and whether the last one was known to be the last.
    async fn parts(body: ResponseBody) -> (Vec<Bytes>, bool) {
        let mut body = TrackedBody::new(body, Some(Delivery::new(&HttpLimits::default())), None);
        let (mut parts, mut has_ended) = (Vec::new(), false);
        while let Some(frame) = body.frame().await {
            parts.push(frame.unwrap().into_data().unwrap());
            has_ended = body.is_end_stream();
        }
        (parts, has_ended)
    }

    #[tokio::test]
    async fn the_last_byte_of_every_body_is_a_part_of_its_own() {
        let long: Vec<u8> = (0..=u8::MAX).cycle().take(3 * PART_BYTES).collect();
        let chunks = |chunks: &[&'static str]| {
            streamed(stream::iter(chunks.iter().map(|chunk| Bytes::from(*chunk)).collect::<Vec<_>>()))
        };
        for (body, expect) in [
            (full(long.clone()), long),
            (full("ab"), b"ab".to_vec()),
            (full("a"), b"a".to_vec()),
            (chunks(&["", "abc", "d", "", "ef", ""]), b"abcdef".to_vec()),
        ] {
            let (parts, has_ended) = parts(body).await;
            assert_eq!(parts.concat(), expect);
            assert!(parts.iter().all(|part| (1..=PART_BYTES).contains(&part.len())));
            assert_eq!((parts.last().map(Bytes::len), has_ended), (Some(1), true));
        }
        for empty in [full(""), chunks(&[]), chunks(&["", ""])] {
            assert_eq!(parts(empty).await.0, [""; 0]);
        }
    }

    #[tokio::test]
    async fn an_error_ends_a_body() {
        let chunks = [Ok(Bytes::from("abc")), Err("broken")];
        let body = try_streamed(stream::iter(chunks));
        let mut body = TrackedBody::new(body, Some(Delivery::new(&HttpLimits::default())), None);
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "ab");
        assert!(body.frame().await.unwrap().is_err());
    }
}
