//! The stream of one connection: it ends when the client takes its response too slowly, and it notices when a response
//! was sent.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};

use super::connections::Place;
use crate::{HttpLimits, body::{BodyError, ResponseBody}};

/// How many bytes the system may buffer for a client, so that what it buffered is soon known to have been taken.
pub(super) const SEND_BUFFER_BYTES: usize = 256 * 1024;

/// What a connection does, as its stream and its service know it together.
pub struct Activity {
    pub(super) place: Place,
    /// The whole response is in the hands of the HTTP library. It is sent once that has flushed the stream.
    is_answered: AtomicBool,
}

impl Activity {
    pub(super) fn new(place: Place) -> Arc<Self> {
        Arc::new(Self { place, is_answered: AtomicBool::new(false) })
    }

    /// The whole body of the request has arrived; `false` when the connection was closed to make room for another.
    pub fn body_received(&self) -> bool {
        self.place.body_received()
    }
}

/// The body of a response. Dropping it tells that the response is complete.
pub(super) struct AnsweredBody {
    body: ResponseBody,
    activity: Arc<Activity>,
}

impl AnsweredBody {
    pub(super) fn new(body: ResponseBody, activity: Arc<Activity>) -> Self {
        Self { body, activity }
    }
}

impl Drop for AnsweredBody {
    fn drop(&mut self) {
        self.activity.is_answered.store(true, Ordering::SeqCst);
    }
}

impl Body for AnsweredBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// How long a client may keep the service waiting until it takes more of a response. Waiting uses the allowance up, and
/// every byte that the client takes adds to it, so that a client that takes the minimum rate is never cut off.
#[derive(Debug)]
struct Pace {
    allowance: Duration,
    waiting_since: Option<Instant>,
    /// What every response begins with.
    initial: Duration,
    /// The most that bytes taken early can add up to.
    max: Duration,
    bytes_per_s: u32,
}

impl Pace {
    fn new(limits: &HttpLimits) -> Self {
        let bytes_per_s = limits.min_response_bytes_per_s.max(1);
        let initial = limits.write_timeout;
        let max = initial + time_for(SEND_BUFFER_BYTES, bytes_per_s);
        Self { allowance: initial, waiting_since: None, initial, max, bytes_per_s }
    }

    /// The client takes nothing now; gives until when that is allowed.
    fn waits(&mut self, now: Instant) -> Instant {
        *self.waiting_since.get_or_insert(now) + self.allowance
    }

    /// The client has taken so many bytes.
    fn took(&mut self, now: Instant, bytes: usize) {
        if let Some(since) = self.waiting_since.take() {
            self.allowance = self.allowance.saturating_sub(now.saturating_duration_since(since));
        }
        self.allowance = (self.allowance + time_for(bytes, self.bytes_per_s)).min(self.max);
    }

    fn response_ended(&mut self) {
        self.allowance = self.allowance.max(self.initial);
    }
}

/// How long so many bytes take at a rate.
fn time_for(bytes: usize, bytes_per_s: u32) -> Duration {
    let micros =
        u128::try_from(bytes).unwrap_or(u128::MAX).saturating_mul(1_000_000) / u128::from(bytes_per_s);
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}

pub(super) struct ClientStream<S> {
    stream: S,
    activity: Arc<Activity>,
    pace: Pace,
    deadline: Pin<Box<Sleep>>,
}

impl<S> ClientStream<S> {
    pub(super) fn new(stream: S, activity: Arc<Activity>, limits: &HttpLimits) -> Self {
        Self { stream, activity, pace: Pace::new(limits), deadline: Box::pin(sleep(Duration::ZERO)) }
    }

    /// Holds the outcome of a write against the pace.
    fn paced(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => self.pace.took(Instant::now(), bytes),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                let deadline = self.pace.waits(Instant::now());
                if self.deadline.deadline() != deadline {
                    self.deadline.as_mut().reset(deadline);
                }
                if self.deadline.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
            }
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.paced(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.paced(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// The HTTP library flushes the stream after it has written everything that it holds.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if matches!(flushed, Poll::Ready(Ok(()))) && self.activity.is_answered.swap(false, Ordering::SeqCst) {
            self.pace.response_ended();
            self.activity.place.end_request();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// How long a client is served that takes `chunk` bytes every `pause`, of a long response whose first bytes go into
    /// the system's buffer; `None` when it is served to the end.
    fn served(chunk: usize, pause: Duration) -> Option<Duration> {
        let mut pace = Pace::new(&HttpLimits::default());
        let start = Instant::now();
        pace.took(start, SEND_BUFFER_BYTES);
        let (mut now, mut left) = (start, 10_000_000_usize);
        while left > 0 {
            let deadline = pace.waits(now);
            now += pause;
            if deadline < now {
                return Some(deadline - start);
            }
            pace.took(now, chunk);
            left = left.saturating_sub(chunk);
        }
        None
    }

    #[test]
    fn a_slow_client_gets_a_whole_image_and_one_that_hardly_reads_is_cut_off() {
        assert_eq!(served(1_024, SECOND), None);
        assert_eq!(served(2_048, SECOND), None);
        // The system reports in large steps what the client has taken.
        assert_eq!(served(128 * 1024, 128 * SECOND), None);
        for (chunk, pause) in [(1, 60 * SECOND), (1, SECOND), (100, SECOND), (usize::MAX, 3_600 * SECOND)] {
            let cut_off = served(chunk, pause).expect("it is cut off");
            assert!(cut_off <= 15 * 60 * SECOND, "{chunk} bytes every {pause:?}: {cut_off:?}");
        }
    }

    #[test]
    fn every_response_begins_with_the_same_allowance() {
        let limits = HttpLimits::default();
        let mut pace = Pace::new(&limits);
        let start = Instant::now();
        assert_eq!(pace.waits(start), start + limits.write_timeout);
        let later = start + limits.write_timeout;
        assert_eq!(pace.waits(later), later);
        pace.took(later, 0);
        assert_eq!(pace.waits(later), later);
        pace.took(later, 0);
        pace.response_ended();
        assert_eq!(pace.waits(later), later + limits.write_timeout);
    }
}
